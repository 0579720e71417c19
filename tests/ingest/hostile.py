"""A reader for the tests that does what the worst files make readers do: the text says which."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from localrag.errors import ReadError
from localrag.formats.plain_text import read_plain_text
from localrag.formats.progress import goes_on

if TYPE_CHECKING:
    from localrag.records import Document


def read(data: bytes, uri: str) -> Document:  # noqa: C901 - one case for each kind of misery
    """Do what `data` says, or read it as plain text."""
    match data.decode().split():
        case ["hang", *_]:
            while True:
                pass
        case ["slow", pieces, *_]:
            _work(int(pieces))
        case ["hog", *_]:
            bytearray(10_000_000_000)
        case ["die", *_]:
            os.kill(os.getpid(), signal.SIGSEGV)
        case ["exit", *_]:
            os._exit(7)
        case ["fail", *_]:
            raise ValueError("this file\nmakes no sense")
        case ["refuse", *_]:
            raise ReadError("encrypted", "it needs a password")
        case ["print", *_]:
            os.write(1, b"a library that talks")
        case ["pid", *_]:
            return read_plain_text(str(os.getpid()).encode(), uri)
    return read_plain_text(data, uri)


def _work(pieces: int) -> None:
    """Take a while for each piece, and say when one is done."""
    for _ in range(pieces):
        time.sleep(1.2)
        goes_on()
