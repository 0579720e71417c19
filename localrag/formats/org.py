"""Org mode by its lines: headlines, blocks, drawers, tables, lists, comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from localrag.formats.encoding import decode
from localrag.formats.line_document import Lines, titled
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_org"]

MEDIA_TYPE: Final = "text/org"

_HEADLINE = re.compile(r"^(?P<stars>\*+)\s+(?P<text>\S.*)$")
_TODO = re.compile(r"^(?:TODO|DONE|NEXT|WAITING|CANCELLED|CANCELED|HOLD|COMMENT)\s+(?=\S)")
_PRIORITY = re.compile(r"^\[#\w\]\s*")
_TAGS = re.compile(r"\s+(?P<tags>:(?:[\w@#%]+:)+)\s*$")
_KEYWORD = re.compile(r"^\s*#\+(?P<name>[\w-]+)(?:\[.*?\])?:\s*(?P<value>.*)$")
_COMMENT = re.compile(r"^\s*#(?:\s|$)")
_BEGIN = re.compile(r"^\s*#\+begin_?(?P<name>\w+)", re.IGNORECASE)
_BLOCK_END = re.compile(r"^\s*#\+end_?(?P<name>\w+)\s*$", re.IGNORECASE)
_DRAWER = re.compile(r"^\s*:(?!END:)[\w-]+:\s*$", re.IGNORECASE)
_END = re.compile(r"^\s*:END:\s*$", re.IGNORECASE)
_FIXED = re.compile(r"^\s*:(?:\s|$)")
_TABLE = re.compile(r"^\s*\|")
_RULE = re.compile(r"^\s*\|[-+]+\|?\s*$")
_ITEM = re.compile(r"^(?:\s*[-+]|\s+\*|\s*(?:\d+|[A-Za-z])[.)])\s+\S")
_LINK = re.compile(r"\[\[[^\]]*\](?:\[(?P<text>[^\]]*)\])?\]")
_EMPHASIS = re.compile(r"(?<![\w*/_+=~])([*/_+=~])(?=\S)(.{1,200}?)(?<=\S)\1(?![\w*/_+=~])")

_CODE: Final = frozenset(("src", "example"))
_QUOTE: Final = frozenset(("quote", "verse"))
_DROPPED: Final = frozenset(("comment", "export"))
_LONGEST_DRAWER = 1000
_METADATA_WORDS: Final = """
    author date email description keywords language filetags
"""
_METADATA: Final = frozenset(_METADATA_WORDS.split())


def read_org(data: bytes, uri: str) -> Document:
    """Return the document in `data`.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    reader = _Reader(Lines(decode(data)))
    reader.read()
    title = titled([reader.title], reader.lines.spans, stem_of(uri))
    return reader.lines.document(title, MEDIA_TYPE, reader.metadata)


class _Reader:
    """Goes down the lines once. Each step takes what begins at a line, or leaves it."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.title = ""
        self.metadata: dict[str, object] = {}
        self.ends: dict[str, list[int]] = {}
        """The lines on which each kind of block ends."""
        for number, line in enumerate(lines.lines):
            if end := _BLOCK_END.match(line):
                self.ends.setdefault(end["name"].lower(), []).append(number)
        self.endless = 0
        """No drawer ends before this line."""

    def read(self) -> None:
        steps = (self.headline, self.block, self.keyword, self.drawer, self.run, self.item)
        number = 0
        while number < len(self.lines):
            if self.lines.is_blank(number):
                number += 1
                continue
            number = next((end for step in steps if (end := step(number))), 0) or number + 1

    def headline(self, number: int) -> int:
        """Take a headline; keyword, priority and tags are no part of its name."""
        match = _HEADLINE.match(self.lines.line(number))
        if not match:
            return 0
        text = _PRIORITY.sub("", _TODO.sub("", match["text"]))
        text = _plain(_TAGS.sub("", text))
        marker = match.start("text")
        self.lines.heading(number, number + 1, text, len(match["stars"]), marker)
        return number + 1

    def block(self, number: int) -> int:
        """Take ``#+begin_... #+end_...``."""
        begin = _BEGIN.match(self.lines.line(number))
        if not begin:
            return 0
        name = begin["name"].lower()
        ends = self.ends.get(name, [])
        following = bisect_right(ends, number)
        if following == len(ends):
            return 0
        end = ends[following]
        if name in _DROPPED:
            self.lines.cut(number, end + 1)
        elif name in _CODE:
            self.lines.add("code", number, end + 1)
        else:
            for row in (number, end):
                self.lines.lines[row] = ""
                self.lines.cut_span(self.lines.index.start(row), self.lines.index.start(row + 1))
            if name not in _QUOTE:
                return number + 1
            self.lines.add("quote", number + 1, end)
        return end + 1

    def keyword(self, number: int) -> int:
        """Drop comments and keywords; what they say of the document becomes metadata."""
        line = self.lines.line(number)
        match = _KEYWORD.match(line)
        if not match and not _COMMENT.match(line):
            return 0
        name, value = (match["name"].lower(), match["value"].strip()) if match else ("", "")
        if name == "caption":
            start = self.lines.index.start(number)
            self.lines.cut_span(start, start + line.index(":") + 1)
            self.lines.add("caption", number, number + 1)
            return number + 1
        if name == "title" and value:
            self.title = f"{self.title} {value}".strip()
        elif name in _METADATA and value:
            self.metadata[name] = value
        self.lines.cut(number, number + 1)
        return number + 1

    def drawer(self, number: int) -> int:
        """Drop a drawer: properties, logs of the clock."""
        if number < self.endless or not _DRAWER.match(self.lines.line(number)):
            return 0
        for row in range(number + 1, min(number + _LONGEST_DRAWER, len(self.lines))):
            line = self.lines.line(row)
            if _END.match(line):
                self.lines.cut(number, row + 1)
                return row + 1
            self.endless = row
            if _HEADLINE.match(line):
                break
        return 0

    def run(self, number: int) -> int:
        """Take the lines of a table, or fixed-width lines that begin with a colon."""
        pattern = next(
            (one for one in (_TABLE, _FIXED) if one.match(self.lines.line(number))), None
        )
        if pattern is None:
            return 0
        end = number
        while pattern.match(self.lines.line(end)):
            end += 1
        if pattern is _FIXED:
            self.lines.add("code", number, end)
            return end
        rules = [row for row in range(number, end) if _RULE.match(self.lines.line(row))]
        inner = [row for row in rules if number < row < end - 1]
        self.lines.add("table", number, end, header_rows=inner[0] + 1 - number if inner else 0)
        return end

    def item(self, number: int) -> int:
        """Take an item of the outermost list, with what is indented below it."""
        if not _ITEM.match(self.lines.line(number)):
            return 0
        end = self.lines.indented_end(number + 1, self.lines.indent(number))
        blank = next((row for row in range(number, end) if self._is_block(row)), end)
        self.lines.add("list_item", number, max(blank, number + 1))
        return max(blank, number + 1)

    def _is_block(self, number: int) -> bool:
        line = self.lines.line(number)
        return any(pattern.match(line) for pattern in (_BEGIN, _TABLE, _DRAWER))


def _plain(text: str) -> str:
    """Return a headline without links and emphasis; code keeps a pair of backticks."""
    text = _LINK.sub(lambda found: found["text"] or found[0].strip("[]"), text)
    return _EMPHASIS.sub(lambda f: f"`{f[2]}`" if f[1] in "=~" else f[2], text).strip()
