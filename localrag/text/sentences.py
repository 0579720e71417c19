# ruff: noqa: RUF001, RUF002 - characters of many scripts are the subject
"""Where sentences begin and end, in prose and in the lines of Markdown, without a model.

* ``。！？`` end a sentence, except inside a short 「quotation」 and before the particle that
  continues one: 「行くよ。」と言った。
* ``. ! ?`` end a sentence before white space, unless a lower-case word follows or the full stop
  belongs to an abbreviation, an initial, or the number of a list item.
* A blank line ends a sentence, and so does the end of a heading, list item, table row or fence
  line. Any other line break is a space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from localrag.text.scripts import HIRAGANA, UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["sentence_spans"]

_MARKED_LINE = r"[ \t]*+(?:[-*+•・‣][ \t]|\d{1,3}[.)][ \t]|\#{1,6}[ \t]|\||>|```|~~~)"
_BOUNDARY = re.compile(
    rf"""
      (?P<always>\n[^\S\n]*\n\s*+                          # blank lines
        |\n(?={_MARKED_LINE})                              # before a marked line
        |(?<=\|)[ \t]*\n                                   # after a table row
        |(?:^|(?<=\n))[ \t]{{0,3}}(?:\#{{1,6}}[ \t]|```|~~~)[^\n]*(?:\n|$))  # a heading or fence
    | (?P<unspaced>(?:[。！？｡]|．(?!\d)|(?<=[{UNSPACED}])[!?](?=[!?"')]*[{UNSPACED}]))
        [。！？｡．!?]*[」』）】〉》”’"')]*)
    | (?P<spaced>[.!?…]+["'”’»)\]*_`]*(?=\s|$))
    """,
    re.VERBOSE,
)
_QUOTATION = re.compile("「[^「」\n]{1,200}」|『[^『』\n]{1,200}』|（[^（）\n]{1,200}）")
_CONTINUES = re.compile(f"[{HIRAGANA}、,，]")
_NEXT_WORD = re.compile(r"\s*[\"'“‘«(\[*_`]*(.?)")
_LAST_WORD = re.compile(r"[^\s\"'“‘«(\[*_`]*$")
_LONGEST_WORD = 24
_WIDEST_INDENT = 40

_ABBREVIATION_LIST = """
    al approx apr aug bzw ca cap capt cf ch chap col corp dec dept dr ed eds eq eqs esp est etc
    evtl exp ff fig figs gen ggf hon inc incl jan jr jul jun lt ltd mar max min mr mrs ms mt mt nov
    nr oct op p pp prof rev resp s sec sep sept sgt sr st str tab tel usw vgl vol vols vs
    др им гг стр рис
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
# These end a sentence as well as a phrase: a capital letter decides.
_MAY_END = frozenset(("etc", "usw", "inc", "ltd", "corp", "jr", "sr", "др"))
_BEFORE_NUMBER = frozenset(("no", "nos", "art", "par"))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of every sentence, in order, disjoint and without blank edges.

    Together the spans cover every character that is not white space.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*_boundaries(text), len(text)):
        sentence = text[start:end]
        if stripped := sentence.strip():
            first = start + len(sentence) - len(sentence.lstrip())
            spans.append((first, first + len(stripped)))
        start = end
    return spans


def _boundaries(text: str) -> Iterator[int]:
    quotations = [match.span() for match in _QUOTATION.finditer(text)]
    starts = [start for start, _ in quotations]
    for match in _BOUNDARY.finditer(text):
        kind, position = match.lastgroup, match.start()
        if kind == "always":
            # A heading or a fence is a sentence of its own: it ends what came before as well.
            yield from (position, match.end())
        elif kind == "spaced":
            if _ends_spaced(text, position, match.end()):
                yield match.end()
        else:
            index = bisect_right(starts, position) - 1
            quoted_to = quotations[index][1] if index >= 0 else 0
            if _ends_unspaced(text, match, quoted_to):
                yield match.end()


def _ends_unspaced(text: str, match: re.Match[str], quoted_to: int) -> bool:
    if match.end() < quoted_to:
        return False
    closes_quotation = match[0][-1] not in "。！？｡．!?"
    return not (closes_quotation and _CONTINUES.match(text, match.end()))


def _ends_spaced(text: str, position: int, end: int) -> bool:
    following = _following(text, end)
    if following.islower():
        return False
    if text[position] != "." or text[position : position + 2] == "..":
        return True
    return not _is_abbreviation(text, position, following)


def _following(text: str, end: int) -> str:
    match = _NEXT_WORD.match(text, end)
    return match[1] if match else ""


def _is_abbreviation(text: str, position: int, following: str) -> bool:
    """Whether the full stop at `position` belongs to the word before it."""
    earliest = max(0, position - _LONGEST_WORD)
    match = _LAST_WORD.search(text, earliest, position)
    word = match[0].lower() if match else ""
    if word.isdigit():
        return _is_list_number(text, position - len(word))
    if len(word) == 1 or "." in word.strip("."):
        return word.replace(".", "").isalpha() and len(word) <= len("a.b.c.d.e")
    if word in _BEFORE_NUMBER:
        return following.isdigit()
    return word in _ABBREVIATIONS and not (word in _MAY_END and following.isupper())


def _is_list_number(text: str, position: int) -> bool:
    before = text[max(0, position - _WIDEST_INDENT) : position]
    begins_line = "\n" in before or position <= _WIDEST_INDENT
    return begins_line and not before.rpartition("\n")[2].strip(" \t>*-+")
