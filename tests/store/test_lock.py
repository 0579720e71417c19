"""One process indexes at a time, wherever its temporary folder is, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from localrag.errors import BusyError, ReadOnlyError
from localrag.store import lock
from localrag.store.database import Database
from localrag.store.lock import lock_path, locked

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from localrag.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path: Path) -> None:
    with locked(path):
        pass


def start_holder(path: Path, temporary: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its input ends, with a TMPDIR of its own."""
    temporary.mkdir()
    return subprocess.Popen(  # noqa: S603 - this interpreter, our own script
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )


def test_processes_with_other_temporary_folders_exclude_each_other(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    with start_holder(path, tmp_path / "elsewhere") as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=r"Another localrag is writing to base\.db\. Wait"):
            hold(path)
        other.communicate("", timeout=30)
    hold(path)
    assert sorted(child.name for child in tmp_path.iterdir()) == ["elsewhere"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_process_holds_nobody_up_and_the_next_run_cleans_up(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    with start_holder(path, tmp_path / "elsewhere") as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        other.kill()
    assert lock_path(path).exists()
    hold(path)
    assert not lock_path(path).exists()


def test_the_lock_ends_with_the_block_however_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "base.db"

    def interrupted() -> None:
        with locked(path):
            with pytest.raises(BusyError):
                hold(path)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    hold(path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_locked_under_each_of_its_names(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    path.touch()
    (tmp_path / "link.db").symlink_to(path)
    with locked(path), pytest.raises(BusyError):
        hold(tmp_path / "link.db")


def test_a_lock_on_a_file_that_was_removed_meanwhile_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the last holder removes the file between its opening and its locking."""
    path = tmp_path / "base.db"
    opened = []
    real = lock._try_lock

    def slow(handle: int) -> bool:
        opened.append(handle)
        if len(opened) == 1:
            lock_path(path).unlink()
        return real(handle)

    monkeypatch.setattr(lock, "_try_lock", slow)
    with locked(path):
        assert len(opened) == 2
        assert lock_path(path).exists()


def test_an_interruption_while_locking_leaves_no_open_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handles: list[int] = []

    def interrupt(handle: int) -> bool:
        handles.append(handle)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lock, "_try_lock", interrupt)
        with pytest.raises(KeyboardInterrupt):
            hold(tmp_path / "base.db")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handles[0])
    hold(tmp_path / "base.db")


def test_threads_never_hold_it_together(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    inside = threading.Semaphore(1)
    held = []

    def work(_: int) -> None:
        for _ in range(200):
            try:
                with locked(path):
                    assert inside.acquire(blocking=False)
                    held.append(1)
                    inside.release()
            except BusyError:
                continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert held
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_was_removed_by_hand_is_released_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    with locked(path):
        lock_path(path).unlink()
    hold(path)


def test_a_folder_where_no_file_can_be_made_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ReadOnlyError, match="Indexing needs a folder where you may write"):
        hold(tmp_path / "nowhere" / "base.db")


def test_reading_takes_no_lock(tmp_path: Path) -> None:
    Database(tmp_path / "base.db").close()
    with locked(tmp_path / "base.db"):
        reader = Database(tmp_path / "base.db", read_only=True)
        assert reader.connection.execute("SELECT count(*) FROM chunks").get == 0
        with pytest.raises(ReadOnlyError), reader.sole_writer():
            pass
        reader.close()
