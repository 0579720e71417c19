"""Which files a run looks at."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.records import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Source", "discover", "uri_of"]


@dataclass(frozen=True, slots=True)
class Source:
    """One regular file."""

    path: Path
    uri: str
    size: int
    """Bytes."""
    modified_at: int
    """Nanoseconds since 1970."""


def uri_of(path: Path) -> str:
    """Return the name under which a file is known: its absolute path, links not followed.

    Names that are not valid text keep their bytes as visible escapes, since SQLite stores UTF-8.
    """
    return os.fsencode(os.path.abspath(path)).decode("utf-8", "backslashreplace")  # noqa: PTH100 - `resolve` would follow links


def discover(paths: Iterable[Path], *, max_bytes: int) -> Iterator[Source | Skipped]:
    """Yield every visible file below `paths`, each once, in a stable order.

    Hidden files and folders below a given path are left out; a path that is given is taken
    whatever its name. Links to folders are followed, but each real folder is entered once, so a
    loop ends. What is not a regular readable file is yielded as skipped, with the reason.
    """
    seen: set[str] = set()
    entered: set[tuple[int, int]] = set()
    for path in paths:
        for found in _walk(path, entered):
            uri = uri_of(found)
            if uri not in seen:
                seen.add(uri)
                yield _source(found, uri, max_bytes)


def _walk(path: Path, entered: set[tuple[int, int]]) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    pending = [path]
    while pending:
        folder = pending.pop()
        try:
            identity = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            yield folder  # `_source` finds the same error and reports it
            continue
        if (identity.st_dev, identity.st_ino) in entered:
            continue
        entered.add((identity.st_dev, identity.st_ino))
        visible = [entry for entry in entries if not entry.name.startswith(".")]
        folders = [Path(entry.path) for entry in visible if _is_folder(entry)]
        yield from (Path(entry.path) for entry in visible if not _is_folder(entry))
        pending.extend(reversed(folders))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself: `_source` finds the same error and reports it
        return False


def _source(path: Path, uri: str, max_bytes: int) -> Source | Skipped:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            os.scandir(path).close()
    except FileNotFoundError:
        reason = "a link to nothing" if path.is_symlink() else "it vanished during the run"
        return Skipped(uri, "missing", reason)
    except OSError as error:
        return Skipped(uri, "unreadable", f"{error.strerror}; check its permissions")
    if not stat.S_ISREG(status.st_mode):
        return Skipped(uri, "not a file", "a pipe, socket or device holds no document")
    if status.st_size > max_bytes:
        detail = f"{status.st_size:,} bytes; the limit is {max_bytes:,} (max_file_bytes)"
        return Skipped(uri, "too large", detail)
    return Source(path, uri, status.st_size, status.st_mtime_ns)
