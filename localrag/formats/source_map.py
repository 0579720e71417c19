"""Text with parts cut out, which still knows where each of its characters came from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Cut", "Excerpt", "LineIndex", "excerpt"]


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """A span of the source that is left out."""

    start: int
    end: int
    replacement: str = ""
    """What stands in its place: a space where words would run together."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is left of a source, piece by piece."""

    text: str
    _sources: tuple[int, ...]
    """Where each kept piece starts in the source, ascending from 0."""
    _starts: tuple[int, ...]
    """Where the same piece starts in `text`."""

    def position(self, source: int) -> int:
        """Return where a source position lies in the text; inside a cut, where the cut is."""
        piece = bisect_right(self._sources, source) - 1
        following = self._starts[piece + 1] if piece + 1 < len(self._starts) else len(self.text)
        return min(self._starts[piece] + source - self._sources[piece], following)

    def lines(self, index: LineIndex) -> tuple[tuple[int, int], ...]:
        """Return (position, line of the source) at the start and wherever a count would be off."""
        jumps: list[tuple[int, int]] = []
        # Of pieces that start at the same place all but the last are empty.
        pieces = dict(zip(self._starts, self._sources, strict=True))
        for start, source in pieces.items():
            line = index.number(source)
            if not jumps or jumps[-1][1] + self.text.count("\n", jumps[-1][0], start) != line:
                jumps.append((start, line))
        return tuple(jumps)

    def source(self, position: int) -> int:
        """Return the source position of a character of the text."""
        piece = bisect_right(self._starts, position) - 1
        return self._sources[piece] + position - self._starts[piece]


class LineIndex:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._starts[-1] = len(text)

    def start(self, line: int) -> int:
        """Return the first character of a line, counted from 0; past the last line, the end."""
        return self._starts[min(line, len(self._starts) - 1)]

    def number(self, position: int) -> int:
        """Return the line of a character, counted from 1."""
        return min(bisect_right(self._starts, position), len(self._starts) - 1)


def excerpt(source: str, cuts: Iterable[Cut]) -> Excerpt:
    """Return `source` without `cuts`, which may come in any order and overlap."""
    pieces: list[str] = []
    sources, starts, length, done = [0], [0], 0, 0
    for cut in sorted(cuts, key=lambda one: (one.start, one.end)):
        if cut.end <= done:
            continue
        kept = source[done : max(cut.start, done)] + cut.replacement
        pieces.append(kept)
        length, done = length + len(kept), cut.end
        sources.append(done)
        starts.append(length)
    pieces.append(source[done:])
    return Excerpt("".join(pieces), tuple(sources), tuple(starts))
