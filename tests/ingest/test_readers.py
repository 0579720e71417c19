"""A file that hangs, hoards memory or kills its reader costs itself alone."""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import open_base, write_files

from localrag.config import Settings, make_settings
from localrag.errors import Cancelled, LocalragError, ReadError
from localrag.formats.plain_text import read_plain_text
from localrag.formats.progress import goes_on, hearing
from localrag.ingest import readers as readers_module
from localrag.ingest import worker
from localrag.ingest.readers import Readers
from localrag.ingest.worker import GOES_ON, REPLY, REQUEST, alarm, answer, describe, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.records import Document

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits of POSIX")

HOSTILE = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import hostile; "
    + readers_module.START.replace(
        "; main(",
        "; from localrag.ingest import worker; worker.read_document = hostile.read; main(",
    )
)


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send every text to a process whose reader does what the text says."""
    monkeypatch.setattr(readers_module, "START", HOSTILE)
    monkeypatch.setattr(readers_module, "IN_PROCESS", frozenset())


@pytest.fixture
def readers(hostile: None) -> Iterator[Readers]:
    """Return readers with narrow limits."""
    del hostile
    with Readers(make_settings(reader_seconds=2, reader_memory_bytes=400_000_000)) as opened:
        yield opened


def reason(readers: Readers, text: str) -> ReadError:
    with pytest.raises(ReadError) as caught:
        readers.read(text.encode(), "/a.txt")
    return caught.value


def pid(readers: Readers) -> int:
    """Return the process that reads the next file."""
    return int(readers.read(b"pid", "/a.txt").text)


def test_a_document_comes_back_as_it_would_be_read_here(readers: Readers) -> None:
    text = "Keys.\n\n鍵は毎月交換します。\n".encode()
    assert readers.read(text, "/鍵\udcff.txt") == read_plain_text(text, "/鍵\udcff.txt")


def test_one_process_reads_one_file_after_the_other(readers: Readers) -> None:
    first = pid(readers)
    assert first != os.getpid()
    assert reason(readers, "refuse").reason == "encrypted"
    assert reason(readers, "fail").reason == "crashed"
    assert pid(readers) == first


@POSIX
@pytest.mark.parametrize(
    ("text", "expected", "detail"),
    [
        ("hang", "timed out", "reading it took longer than 2 s; split it, or give it more time"),
        ("hog", "out of memory", "reading it takes more than reader_memory_bytes"),
        ("die", "crashed", "its reader died of SIGSEGV"),
        ("exit", "crashed", "its reader ended with exit code 7"),
    ],
)
def test_what_costs_a_process_its_life_is_told_and_the_process_is_replaced(
    readers: Readers, text: str, expected: str, detail: str
) -> None:
    first = pid(readers)
    error = reason(readers, text)
    assert (error.reason, error.detail[: len(detail)]) == (expected, detail)
    second = pid(readers)
    assert second != first
    assert pid(readers) == second


def test_a_reader_that_says_that_it_gets_on_has_the_whole_time_again(readers: Readers) -> None:
    first = pid(readers)
    started = time.monotonic()
    assert readers.read(b"slow 3", "/a.txt").text == "slow 3"
    assert time.monotonic() - started > 2  # which is its limit
    assert pid(readers) == first


def test_a_reader_that_fails_is_told_by_its_error(readers: Readers) -> None:
    error = reason(readers, "fail")
    assert error.detail == "reading it failed: ValueError: this file makes no sense"


def test_a_library_that_prints_breaks_no_reply(readers: Readers) -> None:
    assert readers.read(b"print this", "/a.txt").text == "print this"


@POSIX
def test_a_process_that_ended_between_two_files_is_replaced(readers: Readers) -> None:
    os.kill(first := pid(readers), signal.SIGKILL)
    for _ in range(100):
        if not readers._idle[0].is_alive():
            break
        time.sleep(0.02)
    assert pid(readers) != first


@POSIX
def test_closing_ends_the_processes(hostile: None) -> None:
    del hostile
    with Readers(Settings()) as opened:
        running = pid(opened)
        os.kill(running, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(running, 0)
    with pytest.raises(LocalragError, match="The readers are closed"):
        opened.read(b"x", "/a.txt")


@POSIX
def test_a_process_whose_parent_is_gone_ends(hostile: None) -> None:
    """The pipe ends with the parent; here it is closed instead."""
    del hostile
    with Readers(Settings()) as opened:
        pid(opened)
        [idle] = opened._idle
        assert idle._process.stdin is not None
        idle._process.stdin.close()
        assert idle._process.wait(timeout=30) == 0


@pytest.mark.parametrize(
    ("data", "uri", "frozen"),
    [
        (b"small text", "/a.txt", False),
        (b"# small", "/a.md", False),
        (b"x" * 70_000, "/a.txt", True),
    ],
)
def test_what_is_harmless_is_read_without_a_process(
    data: bytes, uri: str, *, frozen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    monkeypatch.setattr(readers_module, "_Worker", None)
    with Readers(Settings()) as opened:
        assert opened.read(data, uri).text == data.decode()


def test_what_has_no_reader_is_refused_without_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers_module, "_Worker", None)
    with Readers(Settings()) as opened, pytest.raises(ReadError) as caught:
        opened.read(b"\x89PNG\r\n\x1a\n", "/a.txt")
    assert caught.value.reason == "unsupported"


def test_a_large_text_is_read_in_a_process() -> None:
    data = b"# A heading\n\nand a paragraph.\n\n" * 3_000
    with Readers(Settings()) as opened:
        assert len(opened.read(data, "/a.md").blocks) == 6_000
        assert len(opened._idle) == 1


def test_a_reader_of_ours_that_fails_here_costs_the_file_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_data: bytes, _uri: str) -> Document:
        raise RecursionError

    monkeypatch.setattr(readers_module, "read_document", fail)
    with Readers(Settings()) as opened, pytest.raises(ReadError) as caught:
        opened.read(b"x", "/a.txt")
    assert (caught.value.reason, caught.value.detail) == (
        "crashed",
        "reading it failed: RecursionError",
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("START", "import nothing_like_it", "ended at once"),
        ("get_executable", lambda: "/nowhere/python", "cannot be started"),
    ],
)
def test_a_process_that_cannot_be_started_stops_the_run_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, message: str
) -> None:
    monkeypatch.setattr(readers_module, "IN_PROCESS", frozenset())
    monkeypatch.setattr(readers_module, name, value)
    with Readers(Settings()) as opened, pytest.raises(LocalragError, match=message) as caught:
        opened.read(b"x", "/a.txt")
    assert not isinstance(caught.value, ReadError)


# The process, seen from inside


def request(text: str) -> bytes:
    return REQUEST.pack(60, 6, len(text)) + b"/a.txt" + text.encode()


def replies(stream: io.BytesIO) -> list[tuple[object, ...]]:
    stream.seek(0)
    found = []
    while header := stream.read(REPLY.size):
        found.append(pickle.loads(stream.read(*REPLY.unpack(header))))  # noqa: S301 - our own
    return found


def test_requests_are_answered_in_order_until_memory_runs_out() -> None:
    def read(data: bytes, uri: str) -> Document:
        if data == b"hog":
            raise MemoryError
        if data == b"no":
            raise ReadError("empty", "nothing in it")
        return read_plain_text(data, uri)

    out = io.BytesIO()
    texts = ("one", "no", "hog", "never read")
    serve(io.BytesIO(b"".join(map(request, texts))), out, read)
    first, second, third = replies(out)
    assert first == ("document", read_plain_text(b"one", "/a.txt"))
    assert second == ("error", "empty", "nothing in it")
    assert third[:2] == ("error", "out of memory")


def test_any_error_of_a_reader_is_an_answer() -> None:
    def fail(_data: bytes, _uri: str) -> Document:
        raise KeyError("x" * 1_000)

    reply, goes_on = answer(fail, b"", "/a")
    assert goes_on
    kind, why, detail = pickle.loads(reply)  # noqa: S301 - our own
    assert (kind, why, len(detail)) == ("error", "crashed", len(describe(KeyError("x" * 298))))


def test_the_alarm_is_off_after_the_block() -> None:
    with alarm(60):
        if hasattr(signal, "getitimer"):
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    if hasattr(signal, "getitimer"):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_reader_that_gets_on_says_so_and_its_alarm_starts_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[int] = []
    monkeypatch.setattr(alarm, "start", lambda self: started.append(self.seconds))

    def read(data: bytes, uri: str) -> Document:
        goes_on()
        goes_on()
        return read_plain_text(data, uri)

    out = io.BytesIO()
    serve(io.BytesIO(request("text")), out, read)
    assert started == [65, 65, 65]
    progress, reply = out.getvalue()[: 2 * REPLY.size], out.getvalue()[2 * REPLY.size :]
    assert progress == 2 * REPLY.pack(GOES_ON)
    assert replies(io.BytesIO(reply)) == [("document", read_plain_text(b"text", "/a.txt"))]


def test_progress_is_told_to_nobody_after_the_block() -> None:
    told: list[str] = []
    with hearing(lambda: told.append("on")):
        goes_on()
    goes_on()
    assert told == ["on"]


def test_without_the_kernels_timer_a_thread_keeps_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "setitimer")
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    with alarm(0):
        for _ in range(100):
            if ended:
                break
            time.sleep(0.02)
    assert ended == [1]
    with alarm(60):
        pass
    assert ended == [1]


@POSIX
@pytest.mark.parametrize(
    ("platform", "kind"), [("linux", "RLIMIT_DATA"), ("darwin", "RLIMIT_AS"), ("win32", None)]
)
def test_memory_is_limited_where_the_system_can(
    monkeypatch: pytest.MonkeyPatch, platform: str, kind: str | None
) -> None:
    import resource  # noqa: PLC0415 - POSIX only

    limited: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(resource, "setrlimit", lambda *call: limited.append(call))
    for hard, most in ((resource.RLIM_INFINITY, 5_000), (3_000, 3_000)):
        limited.clear()
        monkeypatch.setattr(resource, "getrlimit", lambda _, hard=hard: (0, hard))
        worker.limit_memory(5_000)
        assert limited == ([(getattr(resource, kind), (most, hard))] if kind else [])


# A whole run


@POSIX
@pytest.mark.usefixtures("hostile")
def test_a_run_goes_on_over_hostile_files_and_does_not_try_them_twice(tmp_path: Path) -> None:
    texts = {"a.txt": "good", "hang.txt": "hang", "hog.txt": "hog", "die.txt": "die", "z.txt": "ok"}
    folder = write_files(tmp_path / "docs", texts)
    for path in folder.iterdir():
        os.utime(path, ns=(10**18, 10**18))
    limits = make_settings(reader_seconds=2, reader_memory_bytes=400_000_000)
    with open_base(tmp_path / "base.db", limits) as kb:
        report = kb.sync(folder)
        assert [Path(uri).name for uri in report.added] == ["a.txt", "z.txt"]
        expected = {"hang.txt": "timed out", "hog.txt": "out of memory", "die.txt": "crashed"}
        assert {Path(one.uri).name: one.reason for one in report.skipped} == expected
        again = kb.sync(folder)
        assert again.skipped == report.skipped
        assert again.seconds < 1.9  # the file that hangs takes two by itself
        os.utime(folder / "die.txt", ns=(10**18, 10**18 + 1))
        (folder / "hang.txt").write_text("good now", encoding="utf-8")
        third = kb.sync(folder)
        assert [Path(uri).name for uri in third.added] == ["hang.txt"]
    wider = make_settings(reader_seconds=3, reader_memory_bytes=400_000_000)
    with open_base(tmp_path / "base.db", wider) as kb:
        (folder / "hog.txt").write_text("good now too", encoding="utf-8")
        os.utime(folder / "hog.txt", ns=(10**18, 10**18))
        report = kb.sync(folder)
        assert [Path(uri).name for uri in report.added] == ["hog.txt"]
        assert [one.reason for one in report.skipped] == ["crashed"]


@POSIX
@pytest.mark.usefixtures("hostile")
def test_other_limits_are_a_reason_to_try_again(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "docs", {"a.txt": "die"})
    os.utime(folder / "a.txt", ns=(10**18, 10**18))
    with open_base(tmp_path / "base.db") as kb:
        assert [one.reason for one in kb.sync(folder).skipped] == ["crashed"]
    (folder / "a.txt").write_text("out", encoding="utf-8")  # nobody could tell from size and date
    os.utime(folder / "a.txt", ns=(10**18, 10**18))
    with open_base(tmp_path / "base.db") as kb:
        assert [one.reason for one in kb.sync(folder).skipped] == ["crashed"]
    with open_base(tmp_path / "base.db", make_settings(reader_seconds=60)) as kb:
        assert len(kb.sync(folder).added) == 1


@POSIX
@pytest.mark.usefixtures("hostile")
def test_whoever_stops_a_run_does_not_wait_for_a_file_that_hangs(tmp_path: Path) -> None:
    texts = {"a.txt": "good", "hang.txt": "hang", "z.txt": "good too"}
    folder = write_files(tmp_path / "docs", texts)
    with open_base(tmp_path / "base.db", make_settings(reader_seconds=60)) as kb:
        started = time.perf_counter()
        with pytest.raises(Cancelled):
            kb.sync(folder, cancelled=lambda: True)
        assert time.perf_counter() - started < 30
        assert kb.verify() == []
