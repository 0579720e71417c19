"""What the styles and lists of a DOCX file make of a paragraph: heading, code, list item."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localrag.formats.spans import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.formats.ooxml import Element, Package

__all__ = [
    "DEEPEST_LIST",
    "Numbering",
    "Styles",
    "heading_level",
    "read_numbering",
    "read_styles",
    "value_of",
]

DEEPEST_LIST = 8
"""The last of the nine levels that a list can have."""

_DEEPEST = 20
_MOST_NUMBER = 9_999
_BODY_LEVEL = 9
# Styles of publishers and templates that neither are named "heading 1" nor have an outline level.
_HEADING_NAME = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|見出し|标题|head|h)\s*[-_]?\s*(?P<level>[1-6a-f])"
    r"(?:\s*char)?",
    re.IGNORECASE,
)
_TITLE_NAME = re.compile(r"(?:chapter|book|document|doc|main)?\s*title", re.IGNORECASE)
_CODE_NAME = re.compile(
    r"(?:.*\b)?(?:code|source\s?code|program|html preformatted|preformatted(?: text)?|verbatim"
    r"|listing)(?!.*(?:caption|label|number|title|heading|inline|char$)).*",
    re.IGNORECASE,
)
_CONTENTS_NAME = re.compile(r"toc\s*\d|toc heading|table of figures|index\s*\d", re.IGNORECASE)


def heading_level(outline: str) -> int:
    """Return the level of a heading, from 1, by what the file calls its outline level, from 0."""
    level = whole_number(outline, _BODY_LEVEL, _BODY_LEVEL)
    return level + 1 if level < _BODY_LEVEL else 0


def value_of(element: Element | None, path: str) -> str | None:
    """Return the ``w_val`` of an element below another, if there is one."""
    found = None if element is None else element.find(path)
    return None if found is None else found.get("w_val", "")


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    based_on: str | None
    outline: str | None
    numbering: Element | None


@dataclass(frozen=True, slots=True)
class Styles:
    """The paragraph styles of a document."""

    _by_id: dict[str, _Style] = field(default_factory=dict)

    def _chain(self, style: str | None) -> Iterator[_Style]:
        for _ in range(_DEEPEST):
            found = self._by_id.get(style or "")
            if found is None:
                return
            yield found
            style = found.based_on

    def level(self, style: str | None) -> int:
        """Return the level of the headings that have a style, from 1; 0 where it is for text."""
        for one in self._chain(style):
            if one.outline is not None:
                return heading_level(one.outline)
            if match := _HEADING_NAME.fullmatch(one.name):
                level = match["level"].lower()
                # "Head A" stands under the title of the chapter.
                return whole_number(level, ord(level) - ord("a") + 2, _BODY_LEVEL)
            if _TITLE_NAME.fullmatch(one.name):
                return 1
        return 0

    def numbering(self, style: str | None) -> Element | None:
        """Return the list that a style belongs to."""
        return next(
            (one.numbering for one in self._chain(style) if one.numbering is not None), None
        )

    def _name(self, style: str | None) -> str:
        found = self._by_id.get(style or "")
        return found.name if found else style or ""

    def is_code(self, style: str | None) -> bool:
        """Whether a style is for program code."""
        return any(_CODE_NAME.fullmatch(one.name) for one in self._chain(style))

    def is_contents(self, style: str | None) -> bool:
        """Whether a style is for the table of contents."""
        return bool(_CONTENTS_NAME.fullmatch(self._name(style)))

    def is_quote(self, style: str | None) -> bool:
        """Whether a style is for quotations."""
        return "quot" in self._name(style).lower()

    def is_caption(self, style: str | None) -> bool:
        """Whether a style is for captions."""
        return "caption" in self._name(style).lower()


def read_styles(package: Package, main: str) -> Styles:
    """Return the styles of the document whose main part is `main`."""
    found: dict[str, _Style] = {}
    for name in package.related(main, "styles"):
        for style in package.part(name).iter("w_style"):
            found[style.get("w_styleId", "")] = _Style(
                name=value_of(style, "w_name") or style.get("w_styleId") or "",
                based_on=value_of(style, "w_basedOn"),
                outline=value_of(style, "w_pPr/w_outlineLvl"),
                numbering=style.find("w_pPr/w_numPr"),
            )
    return Styles(found)


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    number_format: str
    text: str
    """Such as ``"%1.%2)"``."""


@dataclass(slots=True)
class Numbering:
    """The lists of a document, and how far each has counted."""

    _levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    """By the id of the list, then by depth from 0."""
    _list_of: dict[str, str] = field(default_factory=dict)
    """The abstract list behind each id: lists that share it go on counting."""
    _counts: dict[str, list[int]] = field(default_factory=dict)

    def marker(self, list_id: str, depth: int) -> str | None:
        """Count one item and return its marker, ``"-"`` or ``"2.1"``; None: it is in no list."""
        levels = self._levels.get(list_id)
        if levels is None:
            return None
        level = levels.get(depth)
        if level is None or level.number_format == "bullet":
            return "-"
        counts = self._counts.setdefault(self._list_of[list_id], [])
        while len(counts) <= depth:
            counts.append(levels[len(counts)].start - 1 if len(counts) in levels else 0)
        del counts[depth + 1 :]
        counts[depth] += 1
        if level.number_format == "none":
            return ""
        return self._shown(level, levels, counts)

    @staticmethod
    def _shown(level: _Level, levels: dict[int, _Level], counts: list[int]) -> str:
        def number(match: re.Match[str]) -> str:
            depth = int(match[1]) - 1
            if depth >= len(counts):
                return ""
            number_format = levels[depth].number_format if depth in levels else "decimal"
            return _number(max(counts[depth], 1), number_format)

        return re.sub(r"%([1-9])", number, level.text).strip()


def _number(number: int, number_format: str) -> str:
    if number_format in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if number_format == "lowerLetter" else letter.upper()
    if number_format in ("lowerRoman", "upperRoman"):
        roman = _roman(number)
        return roman if number_format == "upperRoman" else roman.lower()
    return str(number)


_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)


def _roman(number: int) -> str:
    shown = ""
    for value, letters in _ROMAN:
        shown += letters * (number // value)
        number %= value
    return shown


def read_numbering(package: Package, main: str) -> Numbering:
    """Return the lists of the document whose main part is `main`."""
    numbering = Numbering()
    for name in package.related(main, "numbering"):
        root = package.part(name)
        abstract = {
            one.get("w_abstractNumId", ""): {
                _depth(level): _level(level) for level in one.findall("w_lvl")
            }
            for one in root.findall("w_abstractNum")
        }
        for one in root.findall("w_num"):
            target = value_of(one, "w_abstractNumId") or ""
            list_id = one.get("w_numId", "")
            levels = dict(abstract.get(target, {}))
            overrides = one.findall("w_lvlOverride")
            for override in overrides:
                depth = _depth(override)
                changed = override.find("w_lvl")
                start = value_of(override, "w_startOverride")
                if changed is not None:
                    levels[depth] = _level(changed)
                elif start is not None and depth in levels:
                    old = levels[depth]
                    number = whole_number(start, 1, _MOST_NUMBER)
                    levels[depth] = _Level(number, old.number_format, old.text)
            numbering._levels[list_id] = levels  # noqa: SLF001
            numbering._list_of[list_id] = list_id if overrides else target  # noqa: SLF001
    return numbering


def _depth(level: Element) -> int:
    return whole_number(level.get("w_ilvl"), 0, DEEPEST_LIST)


def _level(level: Element) -> _Level:
    return _Level(
        start=whole_number(value_of(level, "w_start"), 1, _MOST_NUMBER),
        number_format=value_of(level, "w_numFmt") or "decimal",
        text=value_of(level, "w_lvlText") or "",
    )
