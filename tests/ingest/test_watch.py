"""Changes on the disk are followed, each once, and nothing of our own is taken for one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import write_files

from localrag.errors import BusyError, LocalragError
from localrag.ingest import watch as watch_module
from localrag.ingest.watch import ticks, watched
from localrag.records import SyncReport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.knowledge_base import KnowledgeBase

TESTS = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notice changes at once."""
    monkeypatch.setattr(watch_module, "QUIET_MILLISECONDS", 50)
    monkeypatch.setattr(watch_module, "TICK_MILLISECONDS", 50)


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    """Return an event that ends a watch that a failed test would leave running."""
    event = threading.Event()
    timer = threading.Timer(60, event.set)
    timer.start()
    yield event
    timer.cancel()
    event.set()


def test_each_change_is_followed_by_a_run(
    kb: KnowledgeBase, folder: Path, stop: threading.Event
) -> None:
    kb.sync(folder, exclude=["*.log"])
    reports = kb.watch(stop=stop)
    assert len(next(reports).unchanged) == 3
    write_files(folder, {"new.md": "New text.\n"})
    assert next(reports).added == (str(folder / "new.md"),)
    (folder / "new.md").rename(folder / "sub" / "newer.md")
    assert [move.new for move in next(reports).moved] == [str(folder / "sub" / "newer.md")]
    (folder / "sub" / "newer.md").unlink()
    assert next(reports).removed == (str(folder / "sub" / "newer.md"),)
    write_files(folder, {".localragignore": "keys.md\n"})
    assert next(reports).removed == (str(folder / "keys.md"),)
    stop.set()
    assert list(reports) == []


def test_a_single_file_is_followed_also_when_it_is_replaced(
    kb: KnowledgeBase, folder: Path, stop: threading.Event
) -> None:
    kb.sync(folder / "keys.md")
    reports = kb.watch(folder / "keys.md", stop=stop)
    next(reports)
    for text in ("Another text.\n", "A third text.\n"):
        write_files(folder, {"editor.tmp": text})
        (folder / "editor.tmp").replace(folder / "keys.md")
        assert next(reports).updated == (str(folder / "keys.md"),)
    (folder / "keys.md").unlink()
    assert [one.reason for one in next(reports).skipped] == ["missing"]


def test_what_is_hidden_elsewhere_or_our_own_is_no_change(
    tmp_path: Path, stop: threading.Event
) -> None:
    folder = write_files(tmp_path / "docs", {"a.md": "x", "sub/a.md": "x", ".git/a": "x"})
    found = ticks([folder], {str(folder / "base.db-wal")}, stop)
    assert next(found) is True
    write_files(folder, {"base.db-wal": "x", ".git/index": "x", "sub/.hidden": "x"})
    assert [next(found) for _ in range(8)] == [False] * 8
    write_files(folder, {"sub/b.md": "x"})
    assert any(next(found) for _ in range(20))


def test_while_another_process_writes_it_is_tried_again(
    tmp_path: Path, stop: threading.Event
) -> None:
    tries: list[int] = []

    def refresh() -> SyncReport:
        tries.append(1)
        if len(tries) < 3:
            raise BusyError("busy")
        return SyncReport(added=("/a",))

    assert next(watched([tmp_path], set(), stop, refresh)).added == ("/a",)
    assert len(tries) == 3


def test_without_the_extra_it_says_what_to_install(
    kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.sync(folder)
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(LocalragError, match=r"pip install 'localrag\[watch\]'"):
        next(kb.watch())


def test_what_was_not_indexed_cannot_be_watched(kb: KnowledgeBase) -> None:
    with pytest.raises(LocalragError, match="Nothing was indexed"):
        kb.watch()


FOLLOW = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
sys.path.insert(0, sys.argv[1])
from localrag import opening
from localrag.inference.fake import FakeEmbedder, FakeReranker
opening.load_embedder = FakeEmbedder
opening.load_reranker = FakeReranker
sys.argv[1:] = sys.argv[2:]
from localrag.cli.main import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_on_the_command_line_ctrl_c_ends_it_cleanly(tmp_path: Path, options: list[str]) -> None:
    folder = write_files(tmp_path / "docs", {"a.md": "# A\n\nText.\n"})
    call = ["index", str(folder), "--db", str(folder / "base.db"), "--watch", *options]
    with subprocess.Popen(  # noqa: S603 - this interpreter, our own script
        [sys.executable, "-c", FOLLOW, str(TESTS), *call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        first = run.stdout.readline()
        assert first == "1 added\n" if not options else '"added": ["' in first
        if not options:
            assert run.stdout.readline().startswith("1 chunks, 3 tokens")
        assert run.stderr.readline() == "Watching for changes; Ctrl-C ends it.\n"
        write_files(folder, {"b.md": "# B\n\nMore.\n"})
        second = run.stdout.readline()
        assert second == "1 added, 1 unchanged\n" if not options else "b.md" in second
        run.send_signal(signal.SIGINT)
        try:
            _, errors = run.communicate(timeout=30)
        finally:
            run.kill()  # or leaving the block would wait for it
    assert run.returncode == 0
    assert errors == "Stopped watching. What was indexed is kept.\n"
    assert sorted(path.name for path in folder.iterdir()) == ["a.md", "b.md", "base.db"]
