# ruff: noqa: RUF001, RUF002 - characters of many scripts are the subject
"""Where sentences begin and end, in prose and in the lines of Markdown, without a model.

* ``。！？`` end a sentence, except inside a short 「quotation」 and before the particle that
  continues one: 「行くよ。」と言った。
* ``. ! ?`` end a sentence before white space, unless a lower-case word follows or the full stop
  belongs to an abbreviation, an initial, a date, or the number of a list item. So do the marks of
  Greek, Arabic and Indic scripts.
* Thai has no mark: a space ends a sentence that is long enough, before one that is.
* A blank line ends a sentence, and so does the end of a heading, list item, table row or fence
  line. Any other line break is a space. A row begins with ``|``, or has a tab between two of its
  words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from localrag.text.abbreviations import (
    ABBREVIATIONS,
    BEFORE_NUMBER,
    MAY_END,
    ORDINAL_BEFORE,
    SENTENCE_STARTERS,
)
from localrag.text.scripts import HIRAGANA, THAI, UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["sentence_spans"]

_MARKED_LINE = r"[ \t]*+(?:[-*+•・‣][ \t]|\d{1,3}[.)][ \t]|[a-z]\)[ \t]|\#{1,6}[ \t]|\||>|```|~~~)"
_SPACED_MARKS = ".!?…।॥؟۔።။។"
_TABBED_ROW = r"[^\S\n]*[^\s][^\t\n]*\t[^\n]*\S[^\n]*"
_BOUNDARY = re.compile(
    rf"""
      (?P<always>\n[^\S\n]*\n\s*+                          # blank lines
        |\n(?={_MARKED_LINE})                              # before a marked line
        |(?<=\|)[ \t]*\n                                   # after a table row
        |(?:^|(?<=\n))[ \t]{{0,3}}(?:\#{{1,6}}[ \t]|```|~~~)[^\n]*(?:\n|$)  # a heading or fence
        |(?:^|(?<=\n)){_TABBED_ROW}(?:\n|$))                # a row whose cells tabs part
    | (?P<unspaced>(?:[。！？｡]|．(?!\d)|(?<=[{UNSPACED}])[!?](?=[!?"')]*[{UNSPACED}]))
        [。！？｡．!?]*[」』）】〉》”’"')]*)
    | (?P<spaced>(?:[{_SPACED_MARKS}]++|(?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e])
        (?:["'“”‘’»)\]*_`]|[ \u00a0\u202f]»)*(?=\s|$))
    | (?P<thai>(?<=[{THAI}])[ ](?=[{THAI}A-Za-z]))
    """,
    re.VERBOSE,
)
_QUOTATION = re.compile("「[^「」\n]{1,200}」|『[^『』\n]{1,200}』|（[^（）\n]{1,200}）")
_DATE = re.compile(r"\b\d{4}\.\s\d{1,2}\.(?:\s\d{1,2}\.)?")
"""A Korean date: 2020. 5. 3."""
_CONTINUES = re.compile(f"[{HIRAGANA}、,，]")
_SPEAKS = re.compile("[\u4e00-\u9fff]{0,4}(?:说|說|道|问|問|喊|叫|答)[^“「『]{0,6}(?:[。！？\n]|$)")
"""Who said it, after a Chinese quotation."""
_NEXT_WORD = re.compile(r"[\s—–]*[\"'“‘«(\[*_`]*(\w*)")
_LAST_WORD = re.compile(rf"[^\s\"'“‘«(\[*_`{UNSPACED}]*$")
_WORD_BEFORE = re.compile(r"(\w+)\s+$")
_LONGEST_WORD = 24
_WIDEST_INDENT = 40
_ORDINAL_DIGITS = 2
_THAI_JOINS = re.compile("และ|หรือ|ที่|ซึ่ง|แต่|เพราะ|โดย|เช่น|ได้แก่|กับ|ของ|จึง|ว่า|เมื่อ")
"""Thai words that go on with a sentence after a space."""
_THAI_SENTENCE = 14
_THAI_NEXT = 10
"""Thai writes a space between sentences, and within them: characters that the sentence must have,
and that must follow up to the next space, for a space to part the two."""


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
    begin = 0
    for match in _BOUNDARY.finditer(text):
        kind, position = match.lastgroup, match.start()
        if kind == "always":
            # Such a line is a sentence of its own: it ends what came before as well.
            yield from (position, match.end())
        elif kind == "spaced":
            if not _ends_spaced(text, match):
                continue
            yield match.end()
        elif kind == "thai":
            if not _ends_thai(text, begin, position):
                continue
            yield position
        else:
            index = bisect_right(starts, position) - 1
            quoted_to = quotations[index][1] if index >= 0 else 0
            if not _ends_unspaced(text, match, quoted_to):
                continue
            yield match.end()
        begin = match.end()


def _ends_unspaced(text: str, match: re.Match[str], quoted_to: int) -> bool:
    if match.end() < quoted_to:
        return False
    closes_quotation = match[0][-1] not in "。！？｡．!?"
    if not closes_quotation:
        return True
    return not (_CONTINUES.match(text, match.end()) or _SPEAKS.match(text, match.end()))


def _ends_thai(text: str, begin: int, position: int) -> bool:
    following = text[position + 1 : position + 1 + _THAI_NEXT]
    long = position - begin >= _THAI_SENTENCE and len(following) == _THAI_NEXT
    return long and " " not in following.rstrip() and not _THAI_JOINS.match(following)


def _ends_spaced(text: str, match: re.Match[str]) -> bool:
    following = _NEXT_WORD.match(text, match.end())
    word = following[1] if following else ""
    if word[:1].islower():
        return False
    marks = match[0].rstrip("\"'“”‘’»)]*_` \u00a0\u202f")
    return marks != "." or not _is_abbreviation(text, match.start(), word)


def _is_abbreviation(text: str, position: int, following: str) -> bool:
    """Whether the full stop at `position` belongs to the word before it."""
    earliest = max(0, position - _LONGEST_WORD)
    match = _LAST_WORD.search(text, earliest, position)
    word = match[0].lower() if match else ""
    if word.isdigit():
        return _is_number(text, position - len(word), position)
    is_new = following.lower() in SENTENCE_STARTERS or word in ("a.m", "p.m")
    letters = word.replace(".", "").replace("-", "")
    if len(word) == 1 or "." in word.strip("."):
        initials = letters.isalpha() and len(word) <= len("a.b.c.d.e")
        return initials and not (is_new and following[:1].isupper())
    if word in BEFORE_NUMBER and following[:1].isdigit():
        return True
    if word in MAY_END and following[:1].isupper():
        return False
    if word in ("jr", "sr"):
        return not is_new
    return word in ABBREVIATIONS or word.endswith("str")


def _is_number(text: str, start: int, position: int) -> bool:
    """Whether the full stop after a number belongs to it: of a list, an ordinal or a date."""
    if _is_list_number(text, start):
        return True
    before = text[max(0, start - _WIDEST_INDENT) : position + 1]
    if any(match.end() == len(before) for match in _DATE.finditer(before)):
        return True
    word = _WORD_BEFORE.search(text, max(0, start - _LONGEST_WORD), start)
    is_ordinal = word is not None and word[1].lower() in ORDINAL_BEFORE
    return is_ordinal and position - start <= _ORDINAL_DIGITS


def _is_list_number(text: str, position: int) -> bool:
    before = text[max(0, position - _WIDEST_INDENT) : position]
    begins_line = "\n" in before or position <= _WIDEST_INDENT
    return begins_line and not before.rpartition("\n")[2].strip(" \t>*-+")
