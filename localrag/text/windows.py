"""Cuts a text into a few parts of about the same length, between sentences or lines."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["even_parts"]


def even_parts(text: str, wanted: int, *, by_lines: bool = False) -> list[str]:
    """Return consecutive parts of `text`, which together are all of it.

    They end where a sentence does. A sentence that is longer than a part ends at the end of a line,
    too, as all do with `by_lines`, which suits code. There are `wanted` parts, or fewer where the
    text cannot be cut as often; a single part where `wanted` is one.
    """
    if wanted <= 1:
        return [text]
    length = len(text) / wanted
    places = _line_starts(text, 0, len(text)) if by_lines else _starts(text, length)
    cuts = _nearest(places, (length * part for part in range(1, wanted)))
    return [text[start:end] for start, end in pairwise((0, *cuts, len(text)))]


def _starts(text: str, length: float) -> list[int]:
    """Return where a part may start, ascending, the start of the text not among them."""
    spans = sentence_spans(text)
    places: list[int] = []
    for start, end in spans:
        places.append(start)
        if end - start > length:
            places += _line_starts(text, start, end)
    return [place for place in places if place > spans[0][0]]


def _line_starts(text: str, start: int, end: int) -> list[int]:
    return [place + 1 for place in range(start, end - 1) if text[place] == "\n"]


def _nearest(places: Sequence[int], ideals: Iterable[float]) -> list[int]:
    """Return the place nearest to each ideal, ascending, no place twice."""
    chosen: set[int] = set()
    for ideal in ideals:
        after = bisect_left(places, ideal)
        around = places[max(0, after - 1) : after + 1]
        chosen.update(sorted(around, key=lambda place: abs(place - ideal))[:1])
    return sorted(chosen)
