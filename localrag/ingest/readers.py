"""Reads files so that a hostile or broken one costs itself alone.

Small plain text and Markdown are read here: their readers are ours and take linear time. Everything
else goes to a process of its own, with a limit on time and on memory. The process is started when
the first such file comes, serves one file after the other, and is replaced when one kills it.

It is a plain process and not one of `multiprocessing`, which runs the program's main module a
second time: in an application without ``if __name__ == "__main__"`` that does not end.
"""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
import threading
from multiprocessing.spawn import get_executable
from typing import TYPE_CHECKING, Any, Final, Self

from localrag.errors import LocalragError, ReadError
from localrag.formats.known import BY_MEDIA_TYPE
from localrag.formats.registry import media_type_of, read_document, suffix_of
from localrag.ingest.worker import GOES_ON, REPLY, REQUEST, describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.config import Settings
    from localrag.records import Document

__all__ = ["COSTLY", "Readers"]

COSTLY: Final = ("timed out", "out of memory", "crashed")
"""Reasons to skip a file that are not worth the same attempt twice."""

IN_PROCESS: Final = frozenset({"text/plain", "text/markdown"})
IN_PROCESS_BYTES: Final = 65_536
"""Up to here the worst Markdown found (a heading on every line) takes half a second."""

START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from localrag.ingest.worker import main; main(int(sys.argv[2]))"
)

# Away from the terminal's process group: Ctrl-C is for the program, which ends its readers.
if sys.platform == "win32":
    AWAY: dict[str, Any] = {
        "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    }
else:
    AWAY: dict[str, Any] = {"start_new_session": True}


class Readers:
    """Turns bytes into documents, on any thread; as many processes as threads that ask.

    Use it as a context manager: the processes end with the block.
    """

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.reader_seconds
        self._memory_bytes = settings.reader_memory_bytes
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes, those that are reading too."""
        with self._lock:
            self._closed = True
            workers, self._all, self._idle = self._all, set(), []
        for worker in workers:
            worker.stop()

    def read(self, data: bytes, uri: str) -> Document:
        """Return the document that `data`, found at `uri`, holds.

        Raises:
            ReadError: it holds none, or its reader took too long, took too much memory or crashed.
            LocalragError: no process for readers can be started.
        """
        media_type = media_type_of(data, suffix_of(uri))
        small = len(data) <= IN_PROCESS_BYTES and media_type in IN_PROCESS
        # A frozen application has no interpreter that could be started with our code.
        if small or media_type not in BY_MEDIA_TYPE or getattr(sys, "frozen", False):
            return _read_here(data, uri)
        worker = self._worker()
        try:
            return worker.read(data, uri, self._seconds)
        finally:
            self._take_back(worker)

    def _worker(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise LocalragError("The readers are closed: open new ones to read on.")
            while self._idle:
                if (worker := self._idle.pop()).is_alive():
                    return worker
                self._all.discard(worker)
                worker.stop()
            worker = _Worker(self._memory_bytes)
            self._all.add(worker)
            return worker

    def _take_back(self, worker: _Worker) -> None:
        with self._lock:
            if worker.fit and not self._closed:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.stop()


_READING_HERE = threading.Lock()
"""Parsers keep state in themselves; taking turns costs nothing, since Python runs one at a time."""


def _read_here(data: bytes, uri: str) -> Document:
    try:
        with _READING_HERE:
            return read_document(data, uri)
    except ReadError:
        raise
    except Exception as error:  # whatever a broken file makes a library do
        raise ReadError("crashed", describe(error)) from error


class _TimeLimit:
    """Calls `late` when the block takes longer than some seconds; it can be given them again."""

    def __init__(self, seconds: int, late: Callable[[], None]) -> None:
        self.seconds = seconds
        self._late = late
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def start(self) -> None:
        """Let the time count from now on."""
        self._stop()
        self._timer = threading.Timer(self.seconds, self._late)
        self._timer.daemon = True
        self._timer.start()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()


class _Worker:
    """One process, and the pipes to it."""

    def __init__(self, memory_bytes: int) -> None:
        self.fit = True
        """Whether it can be given another file: it has answered for the last one, and goes on."""
        self._late = threading.Event()
        command = [get_executable(), "-c", START, json.dumps(sys.path), str(memory_bytes)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own code
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                **AWAY,
            )
            ready = self._receive(REPLY.size)
        except OSError as error:
            raise LocalragError(
                f"A process that reads files cannot be started ({error}). Check that "
                f"{command[0]} can be run."
            ) from error
        if not ready:
            code = self._process.wait()
            self.stop()
            raise LocalragError(
                f"A process that reads files ended at once (exit code {code}). Check the "
                "installation (localrag doctor), and that reader_memory_bytes is not too small."
            )

    def read(self, data: bytes, uri: str, seconds: int) -> Document:
        """Return what the process makes of a file. ReadError: as in `Readers.read`."""
        self.fit = False
        with _TimeLimit(seconds, self._end_late) as limit:
            reply = self._exchange(data, uri, limit)
        if reply is None or self._late.is_set():
            raise self._cause_of_death(seconds)
        kind, *values = pickle.loads(reply)  # noqa: S301 - from our own process
        self.fit = True
        if kind == "document":
            document: Document = values[0]
            return document
        reason, detail = values
        self.fit = reason != "out of memory"
        raise ReadError(reason, detail)

    def is_alive(self) -> bool:
        """Whether the process still runs: the system may have ended it between two files."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process and close the pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # what it had not taken yet
                    continue

    def _end_late(self) -> None:
        self._late.set()
        self._process.kill()

    def _exchange(self, data: bytes, uri: str, limit: _TimeLimit) -> bytes | None:
        """Return the reply; None where the process died over it."""
        requests = self._process.stdin
        assert requests is not None  # noqa: S101 - it was asked for above
        name = uri.encode("utf-8", "surrogatepass")
        try:
            requests.write(REQUEST.pack(limit.seconds, len(name), len(data)))
            requests.write(name)
            requests.write(data)
            requests.flush()
        except OSError:
            return None
        while header := self._receive(REPLY.size):
            (size,) = REPLY.unpack(header)
            if size != GOES_ON:
                return self._receive(size)
            limit.start()
        return None

    def _receive(self, size: int) -> bytes | None:
        replies = self._process.stdout
        assert replies is not None  # noqa: S101 - it was asked for above
        data = replies.read(size)
        return data if len(data) == size else None

    def _cause_of_death(self, seconds: int) -> ReadError:
        code = self._process.wait()
        if self._late.is_set():
            detail = (
                f"reading it took longer than {seconds} s; split it, or give it more time "
                "(--reader-seconds, the setting reader_seconds)"
            )
            return ReadError("timed out", detail)
        if code < 0:
            return ReadError("crashed", f"its reader died of {signal.Signals(-code).name}")
        return ReadError("crashed", f"its reader ended with exit code {code}")
