"""Markdown files: CommonMark with tables and front matter.

The text of the document is the source as written, code, links and tables included, without its
comments, HTML layout, rules and front matter.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin

from localrag.formats.encoding import decode
from localrag.formats.front_matter import read_front_matter
from localrag.formats.markdown_blocks import Span, block_spans
from localrag.formats.markup import html_cuts, inline_html_cuts, long_target_cuts
from localrag.formats.source_map import Cut, Excerpt, LineIndex, excerpt
from localrag.formats.spans import stem_of, trimmed
from localrag.records import Block, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

__all__ = ["MEDIA_TYPE", "read_markdown"]

MEDIA_TYPE = "text/markdown"

_ATTRIBUTES = re.compile(r"\s*\{\s*[#.:][^{}]*\}\s*$")
_SECOND, _DEEPEST = 2, 6
_MOST_INLINE = 50_000


def read_markdown(data: bytes, uri: str) -> Document:
    """Return the document in `data`.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    source = decode(data)
    tokens, references, metadata = _parse(source)
    lines = LineIndex(source)
    spans = _with_repeated_below(block_spans(tokens, source.split("\n")))
    kept = excerpt(source, _cuts(source, tokens, lines, references))
    blocks = tuple(_blocks(kept, lines, spans, references))
    title = _title(metadata, blocks) or stem_of(uri)
    return Document(kept.text, blocks, title, MEDIA_TYPE, metadata, kept.lines(lines))


def _parse(source: str) -> tuple[list[Token], dict[str, object], dict[str, object]]:
    """Return block tokens, link references and metadata."""
    references: dict[str, object] = {}
    tokens = _block_parser(front_matter=True).parse(source, references)
    if not tokens or tokens[0].type != "front_matter":
        return tokens, references, {}
    metadata: dict[str, object] = {}
    try:
        properties = read_front_matter(tokens[0].content)
    except ValueError as error:
        properties, metadata = None, {"front_matter_error": str(error)}
    if properties is not None:
        return tokens, references, properties
    # Not front matter after all, or broken: what it says is found as text.
    references = {}
    return _block_parser(front_matter=False).parse(source, references), references, metadata


@lru_cache(maxsize=2)
def _block_parser(*, front_matter: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    # Inline content is parsed only where it matters: nested brackets and stars take long.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.use(front_matter_plugin) if front_matter else parser


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _inline(content: str, references: dict[str, object]) -> list[Token]:
    if len(content) > _MOST_INLINE:
        return []
    return _inline_parser().parseInline(content, references)[0].children or []


def _cuts(
    source: str, tokens: Sequence[Token], lines: LineIndex, references: dict[str, object]
) -> Iterator[Cut]:
    for token in tokens:
        if not token.map:
            continue
        start, end = lines.start(token.map[0]), lines.start(token.map[1])
        match token.type:
            case "front_matter" | "hr":
                yield from _swallowing_lines(source, iter((Cut(start, end),)))
            case "html_block":
                yield from _swallowing_lines(source, html_cuts(source, start, end))
            case "inline":
                yield from long_target_cuts(source, start, end)
                if "<" in token.content:
                    children = _inline(token.content, references)
                    yield from inline_html_cuts(source, start, end, children)


def _swallowing_lines(source: str, cuts: Iterator[Cut]) -> Iterator[Cut]:
    """Widen cuts of whole lines by the blank lines that follow: comments leave no holes."""
    for cut in cuts:
        yield cut
        line_start = source.rfind("\n", 0, cut.start) + 1
        if source[line_start : cut.start].isspace() or line_start == cut.start:
            end = cut.end
            while source[end : end + 1].isspace():
                end += 1
            last_break = source.rfind("\n", cut.end, end)
            if last_break >= 0:
                yield Cut(line_start, last_break + 1)


def _with_repeated_below(spans: list[Span]) -> list[Span]:
    """Put ``##`` headings below underlined ones where the same come again under each of these.

    Release notes are written so: the version is underlined, and ``## Bug fixes`` below it has the
    same level by the letter, which would cut each change off from its version.
    """
    underlined = any(_is_underlined(span) for span in spans)
    names = Counter(
        span.heading.content for span in spans if span.heading and span.level == _SECOND
    )
    if not underlined or max(names.values()) == 1:
        return spans
    return [
        replace(span, level=min(span.level + 1, _DEEPEST))
        if span.level >= _SECOND and not _is_underlined(span)
        else span
        for span in spans
    ]


def _is_underlined(span: Span) -> bool:
    """Whether a heading of the second level stands above a line of dashes."""
    return span.level == _SECOND and span.end - span.first > 1


def _blocks(
    kept: Excerpt, lines: LineIndex, spans: Sequence[Span], references: dict[str, object]
) -> Iterator[Block]:
    for span in spans:
        start, end = trimmed(
            kept.text,
            kept.position(lines.start(span.first)),
            kept.position(lines.start(span.end)),
        )
        if start == end:
            continue
        heading = _plain(_inline(span.heading.content, references)) if span.heading else ""
        yield Block(
            span.kind,
            start,
            end,
            heading=_ATTRIBUTES.sub("", heading).strip(),
            level=span.level,
            header_rows=span.header_rows,
        )


def _plain(children: Sequence[Token]) -> str:
    """Return inline content without its markup; code keeps its backticks."""
    pieces = []
    for child in children:
        if child.type in ("text", "text_special"):
            pieces.append(child.content)
        elif child.type == "code_inline":
            pieces.append(f"{child.markup}{child.content}{child.markup}")
        elif child.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif child.type == "image":
            pieces.append(_plain(child.children or []))
    return " ".join("".join(pieces).split())


def _title(metadata: dict[str, object], blocks: Sequence[Block]) -> str:
    """Return the title that is stated, the first top heading, or a heading that begins the text."""
    stated = metadata.get("title")
    if isinstance(stated, (str, int, float)) and str(stated).strip():
        return str(stated).strip()
    headings = [block for block in blocks if block.kind == "heading" and block.heading]
    top = next((block.heading for block in headings if block.level == 1), "")
    begins = blocks[0].heading if blocks else ""
    return top or begins
