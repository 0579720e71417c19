"""Which files a run looks at."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.ingest.patterns import Ignored, Wanted, relative
from localrag.records import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Root", "Source", "discover", "path_of", "uri_of"]


@dataclass(frozen=True, slots=True)
class Root:
    """A file or a folder that was given, and what of it is wanted."""

    path: Path
    max_bytes: int
    """Larger files are skipped, with a message."""
    wanted: Wanted = field(default_factory=Wanted)

    @property
    def uri(self) -> str:
        """The name under which the root itself is known."""
        return uri_of(self.path)


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


def path_of(uri: str) -> Path:
    """Return the path that `uri_of` made a name of."""
    if os.path.lexists(uri):
        return Path(uri)
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda byte: bytes.fromhex(byte[1].decode()), uri.encode())
    path = Path(os.fsdecode(raw))
    return path if os.path.lexists(path) else Path(uri)


def discover(roots: Iterable[Root]) -> Iterator[Source | Skipped]:
    """Yield every wanted file below `roots`, each once, in a stable order.

    Hidden files and folders are left out, and so is what ignore files and the root's own patterns
    say; a root itself is taken whatever its name. Links to folders are followed, but each real
    folder is entered once for each root, so a loop ends. What is not a regular readable file is
    yielded as skipped, with the reason.
    """
    seen: set[str] = set()
    for root in roots:
        for found in _walk(root):
            uri = uri_of(found)
            if uri not in seen:
                seen.add(uri)
                yield _source(found, uri, root.max_bytes)


def _walk(root: Root) -> Iterator[Path]:
    top = os.path.abspath(root.path)  # noqa: PTH100 - `resolve` would follow links
    if not root.path.is_dir():
        if root.wanted.takes(os.path.basename(top), folder=False):  # noqa: PTH119 - as above
            yield Path(top)
        return
    entered: set[tuple[int, int]] = set()
    pending = [(top, Ignored.above(top))]
    while pending:
        folder, ignored = pending.pop()
        try:
            identity = os.stat(folder)  # noqa: PTH116 - a text is what the patterns need
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            yield Path(folder)  # `_source` finds the same error and reports it
            continue
        if (identity.st_dev, identity.st_ino) in entered:
            continue
        entered.add((identity.st_dev, identity.st_ino))
        inside = ignored.entering(folder)
        folders = []
        for entry in entries:
            is_folder = _is_folder(entry)
            if not _is_taken(entry, top, root.wanted, inside, folder=is_folder):
                continue
            if is_folder:
                folders.append((entry.path, inside))
            else:
                yield Path(entry.path)
        pending.extend(reversed(folders))


def _is_taken(
    entry: os.DirEntry[str], top: str, wanted: Wanted, ignored: Ignored, *, folder: bool
) -> bool:
    return (
        not entry.name.startswith(".")
        and wanted.takes(relative(entry.path, top), folder=folder)
        and not ignored.hides(entry.path, folder=folder)
    )


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
        detail = f"{status.st_size:,} bytes; the limit is {max_bytes:,}: raise it with --max-mb"
        return Skipped(uri, "too large", detail)
    return Source(path, uri, status.st_size, status.st_mtime_ns)
