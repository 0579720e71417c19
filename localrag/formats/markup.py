"""What in a Markdown source is not text: comments, HTML tags, rules, endless link targets.

HTML elements are layout, but what their ``alt``, ``title``, ``caption`` and ``aria-label`` say is
text. Tags with names that HTML does not know stay as written: they may be type parameters
(``Vec<T>``), placeholders (``<your-name>``) or components whose attributes say something.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it.common.html_blocks import block_names

from localrag.formats.source_map import Cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

__all__ = ["html_cuts", "inline_html_cuts", "long_target_cuts"]

_INLINE_ELEMENTS = """
    a abbr audio b bdi bdo big br button canvas cite code data del dfn em embed font i iframe img
    input ins kbd label map mark meter noscript object output path picture pre progress q rp rt ruby
    s samp script select small span strike strong style sub sup svg template textarea time tt u var
    video wbr
"""
_ELEMENTS = frozenset((*_INLINE_ELEMENTS.split(), *block_names))
# Elements that part words: without a space "a<br>b" would become "ab".
_PARTING = frozenset(("br", "img", "hr", "input")) | (frozenset(block_names) - {"summary"})

_OPENING = re.compile(r"<!--|<(?:script|style)\b|<\?|<!(?=[a-z])|</?(?=[a-z])", re.IGNORECASE)
# What is silent from its opening to its end, whatever stands between.
_SILENT_UNTIL = {
    "<!--": re.compile(r"-->"),
    "<script": re.compile(r"</script\s*>", re.IGNORECASE),
    "<style": re.compile(r"</style\s*>", re.IGNORECASE),
    "<?": re.compile(r"\?>"),
    "<!": re.compile(r">"),
}
_TAG = re.compile(
    r"""<(?P<closing>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*+)
        (?P<attributes>(?:\s++[^\s"'=<>`/]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?)*)
        \s*+/?>""",
    re.VERBOSE,
)
_PROSE = re.compile(
    r"""\s(?:alt|title|caption|summary|aria-label)\s*=\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)""",
    re.IGNORECASE | re.DOTALL,
)
# The first characters say where a link goes; the rest of a playground link or of an image written
# as text would fill the index with noise.
_LONG_TARGET = re.compile(r"(?:https?://|data:|\]\()[^\s()<>]{80}(?P<rest>[^\s()<>]{40,})")


def html_cuts(source: str, start: int, end: int) -> Iterator[Cut]:
    """Yield what is not text in an HTML block, `source[start:end]`."""
    # An end that is missing once is missing for all later openings: do not search again.
    unclosed: set[str] = set()
    position = start
    while opening := _OPENING.search(source, position, end):
        position = opening.end()
        kind = opening[0].lower()
        if kind in _SILENT_UNTIL and kind not in unclosed:
            if closing := _SILENT_UNTIL[kind].search(source, position, end):
                position = closing.end()
                yield Cut(opening.start(), position)
                continue
            unclosed.add(kind)
        if tag := _TAG.match(source, opening.start(), end):
            yield from _tag_cuts(source, tag)
            position = tag.end()


def inline_html_cuts(source: str, start: int, end: int, children: Sequence[Token]) -> Iterator[Cut]:
    """Yield what is not text in a paragraph, `source[start:end]`, given its parsed `children`."""
    position = start
    for child in children:
        if child.type not in ("html_inline", "code_inline"):
            continue
        # A comment over several lines of a block quote is not found as parsed, and stays.
        found = source.find(child.content, position, end)
        if found < 0:
            continue
        position = found + len(child.content)
        if child.type == "html_inline":
            yield from html_cuts(source, found, position)


def long_target_cuts(source: str, start: int, end: int) -> Iterator[Cut]:
    """Yield the tails of endless link targets in `source[start:end]`."""
    for match in _LONG_TARGET.finditer(source, start, end):
        yield Cut(*match.span("rest"))


def _tag_cuts(source: str, tag: re.Match[str]) -> Iterator[Cut]:
    name = tag["name"].lower()
    if name not in _ELEMENTS and not tag["closing"]:
        return
    parted = " " if name in _PARTING and _between_words(source, tag) else ""
    position = tag.start()
    for attribute in _PROSE.finditer(source, tag.start("attributes"), tag.end("attributes")):
        yield Cut(position, attribute.start("value"), " ")
        position = attribute.end("value")
    yield Cut(position, tag.end(), parted if position == tag.start() else " ")


def _between_words(source: str, tag: re.Match[str]) -> bool:
    before = source[max(tag.start() - 1, 0) : tag.start()]
    after = source[tag.end() : tag.end() + 1]
    return not (before.isspace() or after.isspace())
