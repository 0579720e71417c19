"""The block structure of a Markdown source, as spans of its lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from localrag.records import BlockKind

__all__ = ["Span", "block_spans"]

_LEAVES: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
}
_CONTAINERS: dict[str, BlockKind] = {"blockquote_open": "quote", "list_item_open": "list_item"}
_WHOLE = ("code", "table")
_HEADER_ROWS = 2


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of the source that have one structural role."""

    kind: BlockKind
    first: int
    """First line, from 0."""
    end: int
    """One past the last line."""
    container: int = -1
    """Line on which the outermost list item or quote around it begins; -1 outside of them."""
    heading: Token | None = None
    """Token with the inline content of a heading."""
    level: int = 0
    header_rows: int = 0


def block_spans(tokens: Sequence[Token], lines: Sequence[str]) -> list[Span]:
    """Return the blocks of a parsed source: in order, disjoint, and over every line with text.

    A list item of the outermost list is one block, and so is each paragraph of a block quote; code
    and tables are blocks of their own wherever they stand.
    """
    return list(_without_gaps(_merged(_leaves(tokens)), lines))


def _leaves(tokens: Sequence[Token]) -> Iterator[Span]:
    container: Token | None = None
    for index, token in enumerate(tokens):
        if container is None and token.type in _CONTAINERS:
            container = token
        elif container and token.nesting < 0 and token.level == container.level:
            container = None
        elif token.map and token.type in _LEAVES:
            yield _leaf(token, tokens[index + 1 : index + 2], container)


def _leaf(token: Token, following: Sequence[Token], container: Token | None) -> Span:
    first, end = token.map or (0, 0)
    kind = _LEAVES[token.type]
    span = Span(kind, first, end, header_rows=_HEADER_ROWS if kind == "table" else 0)
    if container and container.map:
        kind = kind if kind in _WHOLE else _CONTAINERS[container.type]
        return replace(span, kind=kind, container=container.map[0])
    if kind == "heading":
        return replace(span, heading=following[0], level=int(token.tag[1:]))
    return span


def _merged(spans: Iterator[Span]) -> Iterator[Span]:
    """Join the paragraphs of one list item; code and tables inside it part them."""
    last: Span | None = None
    for span in spans:
        same_item = last and last.kind == span.kind == "list_item"
        if last and same_item and last.container == span.container:
            last = replace(last, end=span.end)
            continue
        if last:
            yield last
        last = span
    if last:
        yield last


def _without_gaps(spans: Iterator[Span], lines: Sequence[str]) -> Iterator[Span]:
    """Give the lines that are no block, such as link definitions, a block of their own."""
    position = 0
    last: Span | None = None
    for span in spans:
        first = max(span.first, position)
        gap = _gap(lines, position, first)
        if last and gap and last.container == span.container >= 0:
            # Empty lines of a block quote, and what a list item holds beside its text.
            last, gap = replace(last, end=gap.end), None
        if last:
            yield last
        if gap:
            yield gap
        last = replace(span, first=first) if first < span.end else None
        position = max(position, span.end)
    if last:
        yield last
    if gap := _gap(lines, position, len(lines)):
        yield gap


def _gap(lines: Sequence[str], first: int, end: int) -> Span | None:
    filled = [line for line in range(first, end) if lines[line].strip()]
    return Span("paragraph", filled[0], filled[-1] + 1) if filled else None
