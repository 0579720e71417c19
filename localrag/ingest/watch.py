"""Notices changes below folders, through watchfiles, which asks the operating system."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from localrag.errors import BusyError, LocalragError
from localrag.ingest.discover import uri_of
from localrag.ingest.patterns import IGNORE_FILES
from localrag.ingest.sources import below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from threading import Event

    from localrag.records import SyncReport

__all__ = ["watched"]

QUIET_MILLISECONDS: Final = 1_000
"""Changes that follow each other without such a pause are one: a program that saves, a download."""
LONGEST_MILLISECONDS: Final = 60_000
"""Changes that never pause are dealt with after this time."""
TICK_MILLISECONDS: Final = 500
"""How often single files are looked at, and whether to stop."""


def watched(
    paths: Sequence[Path], own: set[str], stop: Event, refresh: Callable[[], SyncReport]
) -> Iterator[SyncReport]:
    """Yield what `refresh` returns: once at the start, and again after every change.

    What changes while it runs is noticed afterwards. Where another process is writing it is tried
    again until that has ended.

    Args:
        paths: files and folders; a folder that is not there is not watched.
        own: URIs whose changes are the caller's own.
        stop: set it to end.
        refresh: brings the file in line with `paths`.

    Raises:
        LocalragError: watchfiles is not installed.
    """
    due = False
    for changed in ticks(paths, own, stop):
        due = due or changed
        if due:
            with suppress(BusyError):
                report = refresh()
                due = False
                yield report


def ticks(paths: Sequence[Path], own: set[str], stop: Event) -> Iterator[bool]:
    """Yield every half second whether something has changed; first, when all is set up, true."""
    try:
        from watchfiles import watch  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise LocalragError(
            "Watching needs the package watchfiles: pip install 'localrag[watch]'"
        ) from error
    folders = [path for path in paths if path.is_dir()]
    # Editors put a new file in the place of the old one: a system's watch stays with the old one.
    files = [path for path in paths if not path.is_dir()]
    noticed = watch(
        *folders,
        watch_filter=_filter([uri_of(folder) for folder in folders], own),
        debounce=LONGEST_MILLISECONDS,
        step=QUIET_MILLISECONDS,
        stop_event=stop,
        rust_timeout=TICK_MILLISECONDS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    known: dict[Path, tuple[int, int, int] | None] = {}
    for number, found in enumerate(noticed):
        states = {path: _state(path) for path in files}
        yield bool(found) or states != known or not number
        known = states


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _filter(roots: Sequence[str], own: set[str]) -> Callable[[object, str], bool]:
    """Return which paths matter: visible ones below `roots`, and ignore files."""

    def matters(_change: object, path: str) -> bool:
        if path in own or not below(path, roots):
            return False
        root = max((root for root in roots if below(path, [root])), key=len)
        parts = path[len(root) :].replace("\\", "/").split("/")
        return parts[-1] in IGNORE_FILES or not any(part.startswith(".") for part in parts)

    return matters
