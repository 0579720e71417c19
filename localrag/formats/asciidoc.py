"""AsciiDoc by its lines: sections, delimited blocks, tables, lists, attributes, comments.

Attributes that the file defines are put in the place of their names. Conditional blocks are all
kept, whatever they ask for: what is meant for another output is still text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.formats.encoding import decode
from localrag.formats.line_document import Lines, titled
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_asciidoc"]

MEDIA_TYPE: Final = "text/asciidoc"

_HEADING = re.compile(r"^(?P<marks>={1,6}|#{1,6})\s+(?P<text>\S.*?)(?:\s+(?P=marks))?\s*$")
_UNDERLINES: Final = "=-~^+"
_COMMENT = re.compile(r"^//(?!//)")
_ATTRIBUTE = re.compile(r"^:(?P<name>!?[\w][\w-]*!?):(?:\s+(?P<value>.*))?$")
_CONDITION = re.compile(r"^(?:ifn?def|ifeval|endif)::\S*\[.*\]\s*$")
_SILENT = re.compile(r"^(?:include::\S*\[.*\]|toc::\[.*\]|'{3,}|<{3,}|\+|\[\[[^\]]*\]\])\s*$")
_BLOCK_ATTRIBUTES = re.compile(r"^\[(?!\[)[^\[\]]*\]\s*$")
_TITLE = re.compile(r"^\.(?![\s.])\S.*$")
_ITEM = re.compile(r"^\s*(?:\*{1,5}|-|\.{1,5}|\d+\.|<(?:\d+|\.)>)\s+\S|^\S.*(?:::|;;)(?:\s|$)")
_DELIMITER = re.compile(r"^(?:(?P<marks>[-.+_*=/])(?P=marks){3,}|--|`{3,}.*|[|,:!]={3,})\s*$")
_REFERENCE = re.compile(r"(?<!\\)\{([\w][\w-]*)\}")
_FORMATTED = re.compile(r"(?<![\w*_`])([*_`]{1,2})(?=\S)(.{1,200}?)(?<=\S)\1(?![\w*_`])")
_ANCHOR = re.compile(r"\[\[[^\]]*\]\]|\[#[^\]]*\](?=\S)")
_LINK = re.compile(r"(?:link:|https?://|xref:|<<)[^\s\[\]<>]*(?:\[([^\]]*)\]|,([^>]*)>>|>>)")

_CODE: Final = "-.`"
_QUOTE: Final = "_"
_DROPPED: Final = "/+"
_METADATA_WORDS: Final = """
    author email revdate revnumber description keywords lang
"""
_METADATA: Final = frozenset(_METADATA_WORDS.split())
_LONGEST_VALUE = 500
_MOST_EXPANDED = 1_000_000


def read_asciidoc(data: bytes, uri: str) -> Document:
    """Return the document in `data`.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    reader = _Reader(Lines(decode(data)))
    reader.read()
    stated = [reader.attributes.get("doctitle", ""), reader.attributes.get("title", "")]
    metadata = {key: value for key, value in reader.attributes.items() if key in _METADATA}
    title = titled(stated, reader.lines.spans, stem_of(uri))
    return reader.lines.document(title, MEDIA_TYPE, metadata)


class _Reader:
    """Goes down the lines once. Each step takes what begins at a line, or leaves it."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.attributes: dict[str, str] = {}
        self.left = len(lines.source) + _MOST_EXPANDED
        """Characters that attributes may still add."""

    def read(self) -> None:
        steps = (self.silent, self.attribute, self.delimited, self.heading, self.marked)
        number = 0
        while number < len(self.lines):
            if self.lines.is_blank(number):
                number += 1
                continue
            end = next((end for step in steps if (end := step(number))), 0) or number + 1
            number = end

    def silent(self, number: int) -> int:
        """Drop comments, conditions, includes, rules, anchors and the attributes of blocks."""
        line = self.lines.line(number)
        patterns = (_COMMENT, _CONDITION, _SILENT, _BLOCK_ATTRIBUTES)
        if not any(pattern.match(line) for pattern in patterns):
            return 0
        self.lines.cut(number, number + 1)
        return number + 1

    def attribute(self, number: int) -> int:
        """Remember what an attribute stands for."""
        match = _ATTRIBUTE.match(self.lines.line(number))
        if not match:
            return 0
        value, end = match["value"] or "", number + 1
        while value.endswith("\\") and end < len(self.lines):
            value = f"{value[:-1].rstrip()} {self.lines.line(end).strip()}"
            end += 1
        if len(value) <= _LONGEST_VALUE:
            self.attributes[match["name"]] = self.resolved(value.strip())
        self.lines.cut(number, end)
        return end

    def resolved(self, text: str) -> str:
        """Return `text` with what its attributes stand for; unknown ones stay."""
        replaced = _REFERENCE.sub(lambda found: self.attributes.get(found[1], found[0]), text)
        return replaced if len(replaced) <= _LONGEST_VALUE else text

    def delimited(self, number: int) -> int:
        """Take a block between two equal lines; the content of most is parsed as usual."""
        delimiter = self.lines.line(number).rstrip()
        if not _DELIMITER.match(delimiter) or self._is_underline(number):
            return 0
        closing = "```" if delimiter.startswith("```") else delimiter
        end = self._closing(number + 1, closing)
        if end is None:
            return 0
        mark = delimiter[0] if delimiter != "--" else ""
        if mark and mark in _DROPPED:
            self.lines.cut(number, end + 1)
        elif mark and mark in _CODE:
            self.lines.add("code", number, end + 1)
        elif mark in ("|", ",", ":", "!") and mark:
            self.lines.add("table", number, end + 1, header_rows=self._header_rows(number))
            self._replace(number, end)
        elif mark == _QUOTE:
            self._drop_delimiters(number, end)
            self.lines.add("quote", number + 1, end)
            self._replace(number + 1, end)
        else:
            self._drop_delimiters(number, end)
            return number + 1
        return end + 1

    def _closing(self, number: int, delimiter: str) -> int | None:
        rows = range(number, len(self.lines))
        return next((row for row in rows if self.lines.line(row).rstrip() == delimiter), None)

    def _drop_delimiters(self, number: int, end: int) -> None:
        for row in (number, end):
            self.lines.lines[row] = ""
            self.lines.cut_span(self.lines.index.start(row), self.lines.index.start(row + 1))

    def _header_rows(self, number: int) -> int:
        """Return the lines of a table up to its first row, where that is the header."""
        options = self.lines.line(number - 1) if number else ""
        stated = "header" in options or re.search(r"%header|options=.?header", options)
        implied = not self.lines.is_blank(number + 1) and self.lines.is_blank(number + 2)
        return 2 if stated or implied else 0

    def heading(self, number: int) -> int:
        """Take a section title of either style."""
        line = self.lines.line(number)
        if match := _HEADING.match(line):
            level = len(match["marks"])
            # The text begins after one blank: the rest of the marker is what becomes "##".
            marker = match.start("text")
            end = number + 1
        elif self._is_underline(number + 1) and not line[:1].isspace():
            level, marker, end = (
                _UNDERLINES.index(self.lines.line(number + 1)[0]) + 1,
                0,
                number + 2,
            )
            self.lines.cut(number + 1, end)
        else:
            return 0
        text = _plain(self.resolved(match["text"] if match else line))
        self.lines.heading(number, number + 1, text, level, marker)
        self._replace(number, number + 1)
        return end

    def _is_underline(self, number: int) -> bool:
        """Whether a line underlines the one before, as wide as it within a character or two."""
        rule, title = self.lines.line(number).rstrip(), self.lines.line(number - 1).rstrip()
        if number == 0 or not title or not rule or rule[0] not in _UNDERLINES or len(set(rule)) > 1:
            return False
        return abs(len(rule) - len(title)) <= len("==") < len(rule) and any(map(str.isalnum, title))

    def marked(self, number: int) -> int:
        """Take list items, titles of blocks, and the lines of a paragraph."""
        line, end = self.lines.line(number), number + 1
        is_item = _ITEM.match(line)
        while end < len(self.lines) and not self._ends_paragraph(end):
            end += 1
        if is_item:
            self.lines.add("list_item", number, end)
        elif line[:1].isspace():
            self.lines.add("code", number, end)
        elif _TITLE.match(line):
            end = number + 1
            self.lines.add("caption", number, end)
            start = self.lines.index.start(number)
            self.lines.cut_span(start, start + 1)
        self._replace(number, end)
        return end

    def _ends_paragraph(self, number: int) -> bool:
        line = self.lines.line(number)
        patterns = (_ITEM, _ATTRIBUTE, _DELIMITER, _COMMENT, _CONDITION, _SILENT, _BLOCK_ATTRIBUTES)
        return self.lines.is_blank(number) or any(pattern.match(line) for pattern in patterns)

    def _replace(self, first: int, end: int) -> None:
        start, stop = self.lines.index.start(first), self.lines.index.start(end)
        for match in _REFERENCE.finditer(self.lines.source, start, stop):
            value = self.attributes.get(match[1])
            if value is not None and len(value) <= self.left:
                self.left -= len(value)
                self.lines.cut_span(*match.span(), value)


def _plain(text: str) -> str:
    """Return a title without anchors, links and emphasis; code keeps its backticks."""
    text = _LINK.sub(lambda found: found[1] or found[2] or "", _ANCHOR.sub("", text))
    return _FORMATTED.sub(lambda f: f[0] if "`" in f[1] else f[2], text).strip()
