"""reStructuredText by its lines: sections, literal blocks, directives, tables, lists, comments.

docutils knows the format better but not where in the source its nodes begin, and it runs
directives that read other files.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from localrag.formats.encoding import decode
from localrag.formats.line_document import Lines, titled
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_rst"]

MEDIA_TYPE: Final = "text/x-rst"

_RULE = re.compile(r"""^([!-/:-@\[-`{-~])\1+\s*$""")
_SHORTEST_RULE = 3
_DIRECTIVE = re.compile(r"^\s*\.\. (?:\|[^|]+\| )?(?P<name>[\w:+.-]+?)::(?:\s|$)")
_EXPLICIT = re.compile(r"^\s*\.\.(?:\s|$)")
_LABEL = re.compile(r"^\s*\.\. _[^:]*:\s*$|^\s*__\s*$")
_NOT_COMMENT = re.compile(r"^\s*\.\. (?:_|\[|__ |\|)")
_OPTION = re.compile(r"^\s+:[\w-]+:(?:\s|$)")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\(?(?:\d{1,4}|[A-Za-z]|[ivxl]{1,6}|#)[.)])\s+\S")
_FIELD = re.compile(r"^:?(?P<name>[A-Za-z][\w-]*(?: [\w-]+)?):\s+(?P<value>.*)")
_ROLE = re.compile(r":[\w:+.-]+:`~?([^`<]*?)(?:\s*<[^`]*>)?`")
_GRID = re.compile(r"^\s*\+(?:-+\+)+\s*$")
_SIMPLE = re.compile(r"^\s*=+(?: +=+)+\s*$")

_CODE_WORDS: Final = """
    code code-block sourcecode highlight-block parsed-literal math literalinclude doctest testcode
    testoutput productionlist prompt ipython
"""
_CODE: Final = frozenset(_CODE_WORDS.split())
_TABLES: Final = frozenset(("list-table", "csv-table"))
_CAPTIONS: Final = frozenset(("figure", "image"))
_SILENT_WORDS: Final = """
    contents toctree highlight index role default-role meta raw include sectnum currentmodule
    py:currentmodule tabularcolumns title header footer target-notes automodule autosummary
"""
_SILENT: Final = frozenset(_SILENT_WORDS.split())
_KEPT_FIELDS_WORDS: Final = """
    title author authors date created version status topic organization copyright python-version
    pep type
"""
_KEPT_FIELDS: Final = frozenset(_KEPT_FIELDS_WORDS.split())


def read_rst(data: bytes, uri: str) -> Document:
    """Return the document in `data`.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    lines = Lines(decode(data))
    metadata = _Reader(lines).read()
    title = titled([str(metadata.get("title", ""))], lines.spans, stem_of(uri))
    return lines.document(title, MEDIA_TYPE, metadata)


class _Reader:
    """Goes down the lines once. Each step takes what begins at a line, or leaves it."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.styles: list[str] = []
        """Underlines in order of appearance, ``"=="`` for one with an overline: their levels."""
        self.sections = 0
        self.literal = False
        """Whether the paragraph before ended in ``::``."""

    def read(self) -> dict[str, object]:
        metadata: dict[str, object] = {}
        number = 0
        steps = (self.section, self.explicit, self.literal_block, self.table, self.item)
        while number < len(self.lines):
            if self.lines.is_blank(number):
                number += 1
                continue
            if self.sections <= 1:
                metadata.update(self.docinfo(number))
            number = next((end for step in steps if (end := step(number))), None) or (
                self.paragraph(number)
            )
        return metadata

    def section(self, number: int) -> int:
        """Take a title with its underline, and the overline where there is one."""
        first, title, under = (self.lines.line(number + offset) for offset in range(3))
        if _is_rule(first):
            if not (title.strip() and under.strip() == first.strip() and not _is_rule(title)):
                return self.transition(number)
            return self.heading(number, number + 1, number + 3, first[0] * 2)
        if first[:1].isspace() or not _underlines(title, first):
            return 0
        return self.heading(number, number, number + 2, title[0])

    def heading(self, first: int, text: int, end: int, style: str) -> int:
        if style not in self.styles:
            self.styles.append(style)
        for rule in range(first, end):
            if rule != text:
                start = self.lines.index.start(rule)
                self.lines.cut_span(start, self.lines.index.start(rule + 1))
        self.sections += 1
        title = _plain(self.lines.line(text))
        self.lines.heading(text, text + 1, title, self.styles.index(style) + 1, 0)
        self.literal = False
        return end

    def transition(self, number: int) -> int:
        """Drop a rule between blank lines."""
        if self.lines.is_blank(number + 1) and (number == 0 or self.lines.is_blank(number - 1)):
            self.lines.cut(number, number + 1)
            return number + 1
        return 0

    def explicit(self, number: int) -> int:
        """Take what begins with two dots: directives, targets, footnotes, comments."""
        line = self.lines.line(number)
        if not _EXPLICIT.match(line):
            return 0
        indent = self.lines.indent(number)
        end = self.lines.indented_end(number + 1, indent)
        if directive := _DIRECTIVE.match(line):
            return self.directive(directive["name"].lower(), number, end)
        if _LABEL.match(line) or not _NOT_COMMENT.match(line):
            self.lines.cut(number, end)
            return end
        self.lines.add("paragraph", number, end)
        return end

    def directive(self, name: str, number: int, end: int) -> int:
        """Take a directive: its content is text, unless it is code, a table or a picture."""
        if name in _SILENT:
            self.lines.cut(number, end)
            return end
        options = number + 1
        while options < end and _OPTION.match(self.lines.line(options)):
            options += 1
        if name in _CODE or name in _TABLES:
            self.lines.add("code" if name in _CODE else "table", number, end)
            return end
        if name in _CAPTIONS:
            self.lines.add("caption", number, end)
            return end
        if options > number + 1:
            start = self.lines.index.start(number + 1)
            self.lines.cut_span(start, self.lines.index.start(options))
        return max(options, number + 1)

    def literal_block(self, number: int) -> int:
        """Take indented lines after a paragraph that ends in two colons, and doctests."""
        if self.lines.line(number).lstrip().startswith(">>> "):
            end = number
            while not self.lines.is_blank(end):
                end += 1
            self.lines.add("code", number, end)
            return end
        literal, self.literal = self.literal, False
        if not literal or not self.lines.indent(number):
            return 0
        end = self.lines.indented_end(number, self.lines.indent(number) - 1)
        self.lines.add("code", number, end)
        return end

    def table(self, number: int) -> int:
        """Take a grid of ``+--+`` or a simple table between rules of ``==``."""
        line = self.lines.line(number)
        if _GRID.match(line):
            end = number
            while not self.lines.is_blank(end):
                end += 1
            rows = [row for row in range(number, end) if set(self.lines.line(row)) <= set("+= ")]
            header = rows[0] + 1 - number if rows else 0
            self.lines.add("table", number, end, header_rows=header)
            return end
        if not _SIMPLE.match(line):
            return 0
        rules = [number]
        while (rule := self.next_rule(rules[-1] + 1)) and len(rules) < len("==="):
            rules.append(rule)
            if self.lines.is_blank(rule + 1):
                break
        end = rules[-1] + 1
        header = rules[1] + 1 - number if len(rules) == len("===") else 0
        self.lines.add("table", number, end, header_rows=header)
        return end

    def next_rule(self, number: int) -> int:
        for row in range(number, len(self.lines)):
            if _SIMPLE.match(self.lines.line(row)):
                return row
        return 0

    def item(self, number: int) -> int:
        """Take an item of the outermost list, with what is indented below it."""
        if not _ITEM.match(self.lines.line(number)):
            return 0
        end = number + 1
        indent = self.lines.indent(number)
        end = max(end, self.lines.indented_end(end, indent))
        for row in range(number, end - 1):
            if self.lines.is_blank(row + 1) and self.lines.line(row).rstrip().endswith("::"):
                end, self.literal = row + 1, True
                break
        self.lines.add("list_item", number, end)
        return end

    def paragraph(self, number: int) -> int:
        """Pass over a paragraph; whether it announces a literal block is remembered."""
        while not self.lines.is_blank(number):
            number += 1
        self.literal = self.lines.line(number - 1).rstrip().endswith("::")
        return number

    def docinfo(self, number: int) -> dict[str, object]:
        """Return the fields in front of the first section: ``:Author: ...``, or those of a PEP."""
        found: dict[str, object] = {}
        while match := _FIELD.match(self.lines.line(number)):
            if match["name"].lower() in _KEPT_FIELDS:
                found[match["name"].lower()] = match["value"].strip()
            number += 1
        return found


def _is_rule(line: str) -> bool:
    return len(line.rstrip()) >= _SHORTEST_RULE and _RULE.match(line) is not None


def _underlines(rule: str, title: str) -> bool:
    """Whether `rule` underlines `title`; people are less careful of its length than docutils."""
    wide = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in title.rstrip())
    return (
        bool(title.strip())
        and _RULE.match(rule) is not None
        and len(rule.rstrip()) >= min(wide, max(_SHORTEST_RULE, len(title.rstrip()) - 2))
        and not _RULE.match(title)
    )


def _plain(text: str) -> str:
    """Return a title without its markup; code keeps its backticks."""
    text = _ROLE.sub(r"\1", text).replace("``", "`")
    return re.sub(
        r"(?<!\*)\*{1,2}(\S(?:[^*]*\S)?)\*{1,2}|`([^`<]+?)\s*<[^`]*>`_+", r"\1\2", text
    ).strip()
