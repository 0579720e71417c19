# ruff: noqa: RUF001 - the punctuation of many scripts is the subject
"""Which paragraphs of a PDF are headings: its outline says so, or their size does."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from localrag.formats.builder import one_line
from localrag.formats.pdf_paragraphs import Paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pypdfium2 import PdfDocument

    from localrag.formats.pdf_layout import Table

__all__ = ["Bookmark", "Heading", "find_headings", "read_outline"]

_LARGER = 1.12
"""Size of a heading to that of the text."""
_LONGEST = 160
_LONGEST_BOLD = 100
_MOST_LINES = 3
_MOST_LEVELS = 5
_MOST_SHARE = 0.4
"""Of the paragraphs: where more are larger than the text, size says nothing."""
_MOST_BOOKMARKS = 5_000
_DEEPEST = 6
_LEAST_MATCHED = 0.4
_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|appendix)\s+)?[\divxlc]+(?:\.\d+)*[.):]?\s+", re.IGNORECASE
)
_NO_HEADING_END = re.compile(r"[.,;。、，]$")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline."""

    title: str
    level: int
    """From 1."""
    page: int
    """From 0."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a paragraph heads."""

    name: str
    level: int


def read_outline(document: PdfDocument) -> list[Bookmark]:
    """Return the entries of the outline that point to a page."""
    found: list[Bookmark] = []
    for bookmark in document.get_toc(max_depth=_DEEPEST):
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        title = one_line(bookmark.get_title() or "")
        if title and page is not None:
            found.append(Bookmark(title, bookmark.level + 1, page))
        if len(found) >= _MOST_BOOKMARKS:
            break
    return found


def find_headings(
    pages: Sequence[Sequence[Paragraph | Table]], outline: Sequence[Bookmark]
) -> dict[tuple[int, int], Heading]:
    """Return the headings by page and position among its paragraphs.

    The outline decides where most of its entries are found in the text.
    """
    stated = _stated(pages, outline)
    if outline and len(stated) >= _LEAST_MATCHED * len(outline):
        return stated
    return _by_size(pages) | stated


def _stated(
    pages: Sequence[Sequence[Paragraph | Table]], outline: Sequence[Bookmark]
) -> dict[tuple[int, int], Heading]:
    found: dict[tuple[int, int], Heading] = {}
    for bookmark in outline:
        wanted = _squeezed(bookmark.title)
        page = pages[bookmark.page] if bookmark.page < len(pages) else ()
        for at, item in enumerate(page):
            if (bookmark.page, at) in found or not isinstance(item, Paragraph):
                continue
            shown = item.text if item.marker in (None, "-") else f"{item.marker} {item.text}"
            if wanted in (
                _squeezed(shown),
                _squeezed(_NUMBER.sub("", shown)),
                _squeezed(item.text),
            ):
                found[bookmark.page, at] = Heading(bookmark.title, bookmark.level)
                break
    return found


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


def _by_size(pages: Sequence[Sequence[Paragraph | Table]]) -> dict[tuple[int, int], Heading]:
    places = [
        ((page, at), item)
        for page, items in enumerate(pages)
        for at, item in enumerate(items)
        if isinstance(item, Paragraph)
    ]
    body = _body_size([item for _, item in places])
    large = {place: item for place, item in places if _is_large(item, body)}
    if len(large) > _MOST_SHARE * len(places):
        large = {}
    bold = dict(_bold(places, body, large))
    if len(bold) > _MOST_SHARE * len(places):
        bold = {}
    levels = _levels(large)
    lowest = min(max(levels.values(), default=0) + 1, _MOST_LEVELS + 1)
    return {
        place: Heading(item.text, levels[_rounded(item.size)]) for place, item in large.items()
    } | {place: Heading(item.text, lowest) for place, item in bold.items()}


def _body_size(paragraphs: Sequence[Paragraph]) -> float:
    characters: dict[float, int] = defaultdict(int)
    for paragraph in paragraphs:
        characters[_rounded(paragraph.size)] += len(paragraph.text)
    return max(characters, key=lambda size: characters[size], default=0.0)


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _is_large(paragraph: Paragraph, body: float) -> bool:
    return (
        _rounded(paragraph.size) >= _LARGER * body
        and len(paragraph.text) <= _LONGEST
        and paragraph.lines <= _MOST_LINES
        and any(character.isalpha() for character in paragraph.text)
    )


def _bold(
    places: Sequence[tuple[tuple[int, int], Paragraph]],
    body: float,
    large: Mapping[tuple[int, int], Paragraph],
) -> Iterator[tuple[tuple[int, int], Paragraph]]:
    for (place, item), (_, below) in pairwise(places):
        heads = item.bold and not below.bold and item.size >= _rounded(body) - 0.5
        short = len(item.text) <= _LONGEST_BOLD and item.lines <= _MOST_LINES
        words = any(character.isalpha() for character in item.text)
        ends_so = not _NO_HEADING_END.search(item.text)
        if heads and short and words and ends_so and place not in large:
            yield place, item


def _levels(large: Mapping[tuple[int, int], Paragraph]) -> dict[float, int]:
    sizes = Counter(_rounded(item.size) for item in large.values())
    return {
        size: min(level, _MOST_LEVELS) for level, size in enumerate(sorted(sizes, reverse=True), 1)
    }
