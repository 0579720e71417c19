"""The process that reads files of risky formats, started by `localrag.ingest.readers`.

Requests come one after the other on standard input, and each has one reply on standard output.
A request is ``>IIQ`` (seconds, bytes of the URI, bytes of the file), then both. A reply is ``>Q``
(bytes), then a pickled tuple: ``("document", Document)`` or ``("error", reason, detail)``. A reply
of 0 bytes may come before it, any number of times: the reader gets on, and its time counts anew.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO, Final, Self

from localrag.errors import ReadError
from localrag.formats.progress import hearing
from localrag.formats.registry import read_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.records import Document

__all__ = ["GOES_ON", "REPLY", "REQUEST", "main", "serve"]

REQUEST: Final = struct.Struct(">IIQ")
REPLY: Final = struct.Struct(">Q")

GOES_ON: Final = 0
"""Bytes of a reply that says no more than that the reader gets on."""
GRACE_SECONDS: Final = 5
"""How much later than its parent this process ends itself: only where the parent is gone."""
LONGEST_DETAIL: Final = 300
"""Characters of an error's text that are kept."""


def main(memory_bytes: int) -> None:
    """Serve requests until standard input ends or memory runs out."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - a library that prints must not break a reply
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    limit_memory(memory_bytes)
    replies.write(REPLY.pack(GOES_ON))  # ready: the time of the first file starts now
    replies.flush()
    serve(requests, replies, read_document)


def limit_memory(memory_bytes: int) -> None:
    """Make an allocation beyond `memory_bytes` fail, on systems that can."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - POSIX only

    # What is mapped and not written, such as a library or a model, costs no memory: on Linux the
    # data limit counts private memory only. Elsewhere it knows nothing of large allocations.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(kind, (most, hard))


def serve(requests: BinaryIO, replies: BinaryIO, read: Callable[[bytes, str], Document]) -> None:
    """Answer each request with what `read` returns or raises; end after memory ran out."""
    while header := requests.read(REQUEST.size):
        seconds, uri_bytes, data_bytes = REQUEST.unpack(header)
        uri = requests.read(uri_bytes).decode("utf-8", "surrogatepass")
        data = requests.read(data_bytes)
        with alarm(seconds + GRACE_SECONDS) as limit, hearing(lambda: _tell(replies, limit)):
            reply, goes_on = answer(read, data, uri)
            replies.write(REPLY.pack(len(reply)))
            replies.write(reply)
            replies.flush()
        if not goes_on:
            return


def _tell(replies: BinaryIO, limit: alarm) -> None:
    """Say that the reader gets on, and give it its whole time again."""
    limit.start()
    replies.write(REPLY.pack(GOES_ON))
    replies.flush()


def answer(read: Callable[[bytes, str], Document], data: bytes, uri: str) -> tuple[bytes, bool]:
    """Return the reply to one request, and whether this process is still fit for another."""
    try:
        return pickle.dumps(("document", read(data, uri))), True
    except ReadError as error:
        return pickle.dumps(("error", error.reason, error.detail)), True
    except MemoryError:
        detail = "reading it takes more than reader_memory_bytes; split it, or raise that setting"
        return pickle.dumps(("error", "out of memory", detail)), False
    except Exception as error:  # noqa: BLE001 - whatever a broken file makes a library do
        return pickle.dumps(("error", "crashed", describe(error))), True


def describe(error: Exception) -> str:
    """Return what reading a file failed with, for a person."""
    text = " ".join(str(error).split())[:LONGEST_DETAIL]
    return f"reading it failed: {type(error).__name__}" + (f": {text}" if text else "")


class alarm:  # noqa: N801 - reads as what it does: with alarm(5)
    """End this process after some seconds, unless the block is left before.

    The parent kills a reader that takes too long. When the parent itself was killed nobody would:
    the kernel's timer ends even a library that never returns to Python.
    """

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        self.start()
        return self

    def start(self) -> None:
        """Let the time count from now on."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(self.seconds, os._exit, (1,))
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        else:
            signal.setitimer(signal.ITIMER_REAL, 0)
