"""The lock of the one process that indexes: a file beside the knowledge base, gone afterwards.

It is the operating system's lock on an open file, so that it ends with the process, however that
dies. What a killed process leaves behind is one empty file, which the next run takes over.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from localrag.errors import BusyError, ReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["SUFFIX", "lock_path", "locked"]

SUFFIX = "-lock"
"""Beside SQLite's own ``-wal`` and ``-shm``."""


def lock_path(path: Path) -> Path:
    """Return the lock's place: that of the real file, whatever name it was opened by."""
    real = path.resolve()
    return real.with_name(real.name + SUFFIX)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of the knowledge base at `path` for the length of the block.

    Raises:
        BusyError: another process, or another run of this one, holds it.
        ReadOnlyError: the lock's file cannot be made.
    """
    place = lock_path(path)
    try:
        handle = _acquired(place)
    except OSError as error:
        raise ReadOnlyError(
            f"{place} cannot be made ({error.strerror}). Indexing needs a folder where you may "
            "write: change its permissions, or copy the knowledge base elsewhere."
        ) from error
    if handle is None:
        raise BusyError(
            f"Another localrag is writing to {path.name}. Wait until it has finished, or stop it, "
            "and run this again."
        )
    try:
        yield
    finally:
        _release(handle, place)


def _acquired(place: Path) -> int | None:
    """Return an open file that is locked, or None where another holds the lock."""
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not _try_lock(handle):
                os.close(handle)
                return None
            if _is_still_at(handle, place):
                return handle
        except BaseException:
            os.close(handle)
            raise
        # The last holder removed the file after it was opened here: a lock on it holds nobody up.
        os.close(handle)


def _is_still_at(handle: int, place: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), place.stat())
    return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(handle: int, place: Path) -> None:
        os.close(handle)
        with suppress(OSError):  # another has opened it meanwhile: it is theirs to remove
            place.unlink()

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(handle: int, place: Path) -> None:
        with suppress(OSError):  # somebody has removed it by hand
            place.unlink()  # before the lock ends: afterwards it may be another's
        os.close(handle)
