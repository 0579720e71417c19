"""What became of each file of a run: counted while it goes on, reported at its end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from localrag.records import Moved, Progress, Skipped, SyncReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.records import ProgressCallback

__all__ = ["Outcome", "Tally"]

Outcome = Literal["added", "updated", "moved", "unchanged", "removed"]


@dataclass(slots=True)
class Tally:
    """The outcomes so far. Every file counts once, in the order in which it was finished."""

    progress: ProgressCallback | None
    total: int = 0
    chunks: int = 0
    """Chunks written."""
    tokens: int = 0
    """Tokens embedded."""
    outcome: dict[str, Outcome] = field(default_factory=dict)
    moves: list[Moved] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    _done: int = 0

    def finish(self, uri: str, outcome: Outcome) -> None:
        """Count a file that is a document."""
        self.outcome[uri] = outcome
        self._tell(uri)

    def move(self, old: str, new: str) -> None:
        """Count a file that is a document under another name than before."""
        self.moves.append(Moved(old, new))
        self.finish(new, "moved")

    def skip(self, skipped: Skipped) -> None:
        """Count a file that is none."""
        self.skipped.append(skipped)
        self._tell(skipped.uri)

    def remove(self, uri: str) -> None:
        """Count a document whose file is gone: no file was looked at for it."""
        self.outcome[uri] = "removed"

    def report(self, found: Sequence[str], *, dry_run: bool) -> SyncReport:
        """Return the report, everything in the order in which it was found."""
        place = {uri: number for number, uri in enumerate(found)}
        ordered = sorted(self.outcome, key=lambda uri: (place.get(uri, -1), uri))

        def having(outcome: Outcome) -> tuple[str, ...]:
            return tuple(uri for uri in ordered if self.outcome[uri] == outcome)

        return SyncReport(
            added=having("added"),
            updated=having("updated"),
            moved=tuple(sorted(self.moves, key=lambda move: place.get(move.new, -1))),
            unchanged=having("unchanged"),
            removed=having("removed"),
            skipped=tuple(sorted(self.skipped, key=lambda one: place.get(one.uri, -1))),
            chunks=self.chunks,
            tokens=self.tokens,
            seconds=time.perf_counter() - self.started,
            dry_run=dry_run,
        )

    def _tell(self, uri: str) -> None:
        self._done += 1
        if self.progress is not None:
            self.progress(Progress(self._done, self.total, uri, self.chunks, self.tokens))
