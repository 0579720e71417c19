"""DOCX files: body, lists, tables, notes and text boxes in reading order.

Kept is what a reader of the printed document sees with all tracked changes accepted, and the
descriptions of pictures. Left out: headers and footers, tables of contents, comments, hidden text.
A note follows the paragraph that refers to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localrag.formats.builder import DocumentBuilder, one_line
from localrag.formats.containers import DOCX
from localrag.formats.docx_styles import (
    DEEPEST_LIST,
    heading_level,
    read_numbering,
    read_styles,
    value_of,
)
from localrag.formats.grids import names_columns
from localrag.formats.omml import math_text
from localrag.formats.ooxml import core_properties, open_package
from localrag.formats.spans import whole_number
from localrag.formats.tables import add_rows
from localrag.formats.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from localrag.formats.docx_styles import Numbering, Styles
    from localrag.formats.ooxml import Element, Package
    from localrag.records import Document

__all__ = ["read_docx"]

_TRANSPARENT_NAMES = """
    w_sdt w_sdtContent w_customXml w_smartTag w_ins w_moveTo w_hyperlink w_fldSimple w_dir w_bdo
    mc_Choice w_ruby w_rubyBase
"""
_TRANSPARENT = frozenset(_TRANSPARENT_NAMES.split())
"""What only wraps text. All else is left out: deletions, field codes, readings of ideographs."""
_CHARACTERS = {"w_tab": " ", "w_br": "\n", "w_cr": "\n", "w_noBreakHyphen": "-", "w_ptab": " "}
_NOTES = {"w_footnoteReference": "footnotes", "w_endnoteReference": "endnotes"}
_EQUATIONS = frozenset(("m_oMath", "m_oMathPara"))
_DRAWINGS = frozenset(("w_drawing", "w_pict", "w_object"))
_MOST_SPAN = 100


def read_docx(data: bytes, uri: str) -> Document:
    """Return the document in `data`.

    Raises:
        ReadError: ``"damaged"``, ``"encrypted"`` or ``"too large"``.
    """
    package = open_package(data)
    main = package.main_part()
    reader = _Reader(
        read_styles(package, main), read_numbering(package, main), _notes(package, main)
    )
    body = package.part(main).find("w_body")
    reader.blocks(() if body is None else body)
    reader.flush_code()
    metadata = core_properties(package)
    title = title_of(metadata, reader.builder.blocks, uri)
    return reader.builder.build(title, DOCX, metadata)


def _notes(package: Package, main: str) -> dict[tuple[str, str], Element]:
    found: dict[tuple[str, str], Element] = {}
    for kind in _NOTES.values():
        for name in package.related(main, kind):
            for note in package.part(name):
                if note.get("w_type") in (None, "normal"):
                    found[kind, note.get("w_id", "")] = note
    return found


@dataclass(slots=True)
class _Inline:
    """What the runs of a paragraph hold."""

    pieces: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    """Text boxes that are anchored in the paragraph."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class _Reader:
    """Adds the blocks of a body to a builder."""

    styles: Styles
    numbering: Numbering
    notes: dict[tuple[str, str], Element]
    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    """Numbers of the notes in the order of their first reference."""
    _code: list[str] = field(default_factory=list)
    """Lines of code that follow each other: one block."""
    _joined: str = ""
    """Text before a paragraph mark that was deleted: it belongs to the next paragraph."""

    def blocks(self, elements: Iterable[Element]) -> None:
        for element in elements:
            if element.tag == "w_p":
                self._paragraph(element)
            elif element.tag == "w_tbl":
                self.flush_code()
                self._table(element)
            elif element.tag == "mc_AlternateContent":
                self.blocks(element[:1])
            elif element.tag in _TRANSPARENT:
                self.blocks(element)

    def _paragraph(self, paragraph: Element) -> None:
        properties = paragraph.find("w_pPr")
        style = value_of(properties, "w_pStyle")
        if self.styles.is_contents(style):
            return
        inline = self._inline(paragraph)
        text, self._joined = self._joined + inline.text, ""
        if properties is not None and properties.find("w_rPr/w_del") is not None:
            self._joined = text
            return
        if self.styles.is_code(style):
            self._code.append(text)
        else:
            self.flush_code()
            self._add(text, style, properties)
        for box in inline.boxes:
            self.blocks(box)
        self._add_notes(inline.notes)

    def flush_code(self) -> None:
        self.builder.code("\n".join(self._code))
        self._code.clear()

    def _add(self, text: str, style: str | None, properties: Element | None) -> None:
        if not text.strip():
            return
        stated = value_of(properties, "w_outlineLvl")
        level = self.styles.level(style) if stated is None else heading_level(stated)
        marker, depth = self._marker(style, properties)
        if level:
            self.builder.heading(f"{marker} {text}" if marker not in (None, "-") else text, level)
        elif self.styles.is_quote(style):
            self.builder.paragraph(text, "quote")
        elif self.styles.is_caption(style):
            self.builder.paragraph(text, "caption")
        elif marker is not None:
            self.builder.list_item(text, marker=marker or "-", depth=depth)
        else:
            self.builder.paragraph(text)

    def _marker(self, style: str | None, properties: Element | None) -> tuple[str | None, int]:
        own = None if properties is None else properties.find("w_numPr")
        inherited = self.styles.numbering(style)
        list_id = value_of(own, "w_numId") or value_of(inherited, "w_numId")
        stated = value_of(own, "w_ilvl") or value_of(inherited, "w_ilvl")
        depth = whole_number(stated, 0, DEEPEST_LIST)
        return self.numbering.marker(list_id or "", depth), depth

    def _inline(self, element: Element) -> _Inline:
        inline = _Inline()
        self._collect(element, inline)
        return inline

    def _collect(self, element: Iterable[Element], inline: _Inline) -> None:
        for child in element:
            tag = child.tag
            if tag == "w_t":
                inline.pieces.append(child.text or "")
            elif tag in _CHARACTERS:
                inline.pieces.append(_CHARACTERS[tag])
            elif tag in _NOTES:
                self._refer(child, inline)
            elif tag in _EQUATIONS:
                inline.pieces.append(math_text(child))
            elif tag in _DRAWINGS:
                self._drawing(child, inline)
            elif tag in _TRANSPARENT or _is_shown_run(child):
                self._collect(child, inline)
            elif tag == "mc_AlternateContent":
                self._collect(child[:1], inline)

    def _refer(self, reference: Element, inline: _Inline) -> None:
        key = (_NOTES[reference.tag], reference.get("w_id", ""))
        if key in self.notes:
            number = self._numbers.setdefault(key, len(self._numbers) + 1)
            inline.pieces.append(f"[^{number}]")
            inline.notes.append(key)

    @staticmethod
    def _drawing(drawing: Element, inline: _Inline) -> None:
        for properties in drawing.iter("wp_docPr"):
            if description := one_line(properties.get("descr", "")):
                inline.pieces.append(f" [{description}] ")
        for shape in drawing.iter("w_txbxContent"):
            inline.boxes.append(shape)

    def _add_notes(self, keys: Sequence[tuple[str, str]]) -> None:
        for key in keys:
            # A second reference to the same note repeats nothing.
            if (note := self.notes.pop(key, None)) is not None:
                text = " ".join(self._inline(one).text for one in note.iter("w_p"))
                self.builder.paragraph(f"[^{self._numbers[key]}]: {text}")

    def _table(self, table: Element) -> None:
        rows = [(row, list(_cells(row))) for row in _children(table, "w_tr") if not _deleted(row)]
        if max((len(cells) for _, cells in rows), default=0) <= 1:
            # A frame around text is no table.
            for _, cells in rows:
                for cell in cells:
                    self.blocks(cell)
            self.flush_code()
            return
        notes: list[tuple[str, str]] = []
        texts = [self._row(cells, notes) for _, cells in rows]
        stated = rows[0][0].find("w_trPr/w_tblHeader") is not None
        header = len(texts) > 1 and (stated or names_columns(texts))
        add_rows(self.builder, texts, header=header)
        self._add_notes(notes)

    def _row(self, cells: Sequence[Element], notes: list[tuple[str, str]]) -> list[str]:
        row: list[str] = []
        for cell in cells:
            properties = cell.find("w_tcPr")
            merge = None if properties is None else properties.find("w_vMerge")
            continued = merge is not None and merge.get("w_val", "continue") == "continue"
            row.append("" if continued else self._cell(cell, notes))
            row += [""] * (whole_number(value_of(properties, "w_gridSpan"), 1, _MOST_SPAN) - 1)
        return row

    def _cell(self, cell: Element, notes: list[tuple[str, str]]) -> str:
        """Return the text of a cell; a table inside it becomes ``a, b; c, d``."""
        pieces: list[str] = []
        for child in _children(cell, "w_p", "w_tbl"):
            if child.tag == "w_p":
                inline = self._inline(child)
                notes += inline.notes
                boxes = (self._inline(one).text for box in inline.boxes for one in box.iter("w_p"))
                pieces += [inline.text, *boxes]
            else:
                rows = ([self._cell(one, notes) for one in _cells(row)] for row in _rows(child))
                pieces.append("; ".join(", ".join(filter(None, row)) for row in rows))
        return "\n".join(piece for piece in pieces if piece.strip())


def _is_shown_run(element: Element) -> bool:
    return element.tag == "w_r" and element.find("w_rPr/w_vanish") is None


def _children(element: Element, *tags: str) -> Iterator[Element]:
    """Yield the children with one of the tags, through what only wraps them."""
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag in _TRANSPARENT:
            yield from _children(child, *tags)


def _rows(table: Element) -> Iterator[Element]:
    return (row for row in _children(table, "w_tr") if not _deleted(row))


def _cells(row: Element) -> Iterator[Element]:
    return _children(row, "w_tc")


def _deleted(row: Element) -> bool:
    return row.find("w_trPr/w_del") is not None
