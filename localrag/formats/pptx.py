"""PPTX files: each slide is a section under its title, with tables, charts, diagrams and notes.

`Block.page` is the number of the slide. Slide numbers, dates and footers are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localrag.errors import ReadError
from localrag.formats.builder import DocumentBuilder, one_line
from localrag.formats.containers import PPTX
from localrag.formats.grids import names_columns
from localrag.formats.omml import math_text
from localrag.formats.ooxml import core_properties, open_package
from localrag.formats.spans import whole_number
from localrag.formats.tables import add_rows
from localrag.formats.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from localrag.formats.ooxml import Element, Package, Relationship
    from localrag.records import Document

__all__ = ["read_pptx"]

_TITLES = frozenset(("title", "ctrTitle"))
_LEFT_OUT = frozenset(("dt", "ftr", "sldNum", "hdr", "sldImg"))
_OUTLINES = frozenset(("body", "obj", "tbl", ""))
"""Placeholders whose paragraphs are the points of a list."""
_MOST_POINTS = 1_000
_LAST_POINT = 999_999
_DEEPEST = 8


def read_pptx(data: bytes, uri: str) -> Document:
    """Return the presentation in `data`.

    Raises:
        ReadError: ``"damaged"``, ``"encrypted"`` or ``"too large"``.
    """
    package = open_package(data)
    builder = DocumentBuilder()
    hidden: list[int] = []
    for number, name in enumerate(_slide_names(package), 1):
        slide = package.part(name)
        if slide.get("show") == "0":
            hidden.append(number)
        _Slide(builder, package, name, number).add(slide)
    metadata = core_properties(package)
    if hidden:
        metadata["hidden_slides"] = hidden
    return builder.build(title_of(metadata, builder.blocks, uri), PPTX, metadata)


def _slide_names(package: Package) -> Iterator[str]:
    main = package.main_part()
    relationships = package.relationships(main)
    for slide in package.part(main).iter("p_sldId"):
        related = relationships.get(slide.get("r_id", ""))
        if related is None or not package.has(related.target):
            raise ReadError("damaged", "a slide is missing; open and save the presentation again")
        yield related.target


@dataclass(slots=True)
class _Slide:
    """Adds one slide to a builder."""

    builder: DocumentBuilder
    package: Package
    name: str
    number: int
    relationships: Mapping[str, Relationship] = field(init=False)

    def __post_init__(self) -> None:
        self.relationships = self.package.relationships(self.name)

    def add(self, slide: Element) -> None:
        tree = slide.find("p_cSld/p_spTree")
        shapes = [] if tree is None else list(_shapes(tree))
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
        title = " ".join(one_line(_text(shape)) for shape in titles).strip()
        # Without a heading of its own a slide would stand under that of the one before.
        self.builder.heading(title or f"Slide {self.number}", 1, page=self.number)
        before = len(self.builder.blocks)
        for shape in shapes:
            if shape not in titles:
                self._shape(shape)
        self._notes()
        if not title and len(self.builder.blocks) == before:
            self.builder.discard_heading()

    def _shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _LEFT_OUT:
            return
        if shape.tag == "p_graphicFrame":
            self._graphic(shape)
        elif shape.tag == "p_pic":
            self._describe(shape)
        elif (body := shape.find("p_txBody")) is not None:
            points = kind in _OUTLINES
            paragraphs = [one for one in body.findall("a_p") if _text(one).strip()]
            for paragraph in paragraphs:
                self._paragraph(paragraph, is_point=points and len(paragraphs) > 1)

    def _paragraph(self, paragraph: Element, *, is_point: bool) -> None:
        properties = paragraph.find("a_pPr")
        level = None if properties is None else properties.get("lvl")
        bullet = properties is not None and (
            properties.find("a_buChar") is not None or properties.find("a_buAutoNum") is not None
        )
        if is_point or bullet:
            depth = whole_number(level, 0, _DEEPEST)
            self.builder.list_item(_text(paragraph), depth=depth, page=self.number)
        else:
            self.builder.paragraph(_text(paragraph), page=self.number)

    def _graphic(self, frame: Element) -> None:
        for table in frame.iter("a_tbl"):
            rows = [[_cell(cell) for cell in row.findall("a_tc")] for row in table.iter("a_tr")]
            properties = table.find("a_tblPr")
            stated = properties is not None and properties.get("firstRow") in ("1", "true")
            header = len(rows) > 1 and (stated or names_columns(rows))
            add_rows(self.builder, rows, header=header, page=self.number)
        for chart in frame.iter("c_chart"):
            self._chart(chart.get("r_id", ""))
        for diagram in frame.iter("dgm_relIds"):
            self._diagram(diagram.get("r_dm", ""))
        if not any(True for _ in frame.iter("a_tbl")):
            self._describe(frame)

    def _describe(self, shape: Element) -> None:
        for properties in shape.iter("p_cNvPr"):
            if description := one_line(properties.get("descr", "")):
                self.builder.paragraph(f"[{description}]", page=self.number)

    def _related(self, key: str) -> Element | None:
        related = self.relationships.get(key)
        found = related is not None and self.package.has(related.target)
        return self.package.part(related.target) if related and found else None

    def _chart(self, key: str) -> None:
        chart = self._related(key)
        if chart is None:
            return
        title = chart.find("c_chart/c_title")
        if title is not None:
            text = "".join(one.text or "" for one in title.iter("a_t"))
            self.builder.paragraph(text, "caption", page=self.number)
        series = list(chart.iter("c_ser"))
        names = [" ".join(_points(one.find("c_tx")).values()) for one in series]
        columns = [_points(one.find("c_val")) or _points(one.find("c_yVal")) for one in series]
        labels = [_points(one.find("c_cat")) or _points(one.find("c_xVal")) for one in series]
        indexes = sorted({index for column in columns for index in column})[:_MOST_POINTS]
        first = labels[0] if labels else {}
        rows = [["", *names]]
        rows += [
            [first.get(index, ""), *(column.get(index, "") for column in columns)]
            for index in indexes
        ]
        if indexes:
            add_rows(self.builder, rows, header=True, page=self.number)

    def _diagram(self, key: str) -> None:
        data = self._related(key)
        for point in () if data is None else data.iter("dgm_pt"):
            for paragraph in point.iter("a_p"):
                if _text(paragraph).strip():
                    self.builder.list_item(_text(paragraph), page=self.number)

    def _notes(self) -> None:
        for name in self.package.related(self.name, "notesSlide"):
            for shape in self.package.part(name).iter("p_sp"):
                if _placeholder(shape) == "body" and (text := _text(shape)).strip():
                    self.builder.paragraph(f"Notes: {text}", page=self.number)


def _shapes(tree: Element) -> Iterator[Element]:
    """Yield the shapes of a slide in their order, those of groups included."""
    for child in tree:
        if child.tag == "p_grpSp":
            yield from _shapes(child)
        elif child.tag == "mc_AlternateContent":
            yield from _shapes(_preferred(child))
        elif child.tag in ("p_sp", "p_graphicFrame", "p_pic", "p_cxnSp"):
            yield child


def _preferred(alternatives: Element) -> Element:
    """Return the choice of which we know the shapes, or else the fallback."""
    known = [one for one in alternatives if next(_shapes(one), None) is not None]
    return known[0] if known else alternatives


def _placeholder(shape: Element) -> str | None:
    """Return the type of the placeholder that a shape fills, ``""`` for the usual; None: none."""
    for placeholder in shape.iter("p_ph"):
        return placeholder.get("type", "")
    return None


def _text(element: Element) -> str:
    """Return the text below an element, one line per paragraph."""
    paragraphs = element.iter("a_p") if element.tag != "a_p" else iter((element,))
    return "\n".join("".join(_runs(paragraph)) for paragraph in paragraphs)


def _runs(paragraph: Iterable[Element]) -> Iterator[str]:
    for run in paragraph:
        if run.tag == "a_br":
            yield "\n"
        elif run.tag in ("a_r", "a_fld"):
            yield "".join(one.text or "" for one in run.findall("a_t"))
        elif run.tag in ("m_oMath", "m_oMathPara"):
            yield math_text(run)
        elif run.tag in ("mc_AlternateContent", "mc_Choice", "a14_m", "m"):
            yield from _runs(run[:1] if run.tag == "mc_AlternateContent" else run)


def _cell(cell: Element) -> str:
    if cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
        return ""
    return _text(cell)


def _points(data: Element | None) -> dict[int, str]:
    """Return the cached values of a chart's series by their index."""
    if data is None:
        return {}
    return {
        whole_number(point.get("idx"), 0, _LAST_POINT): _shown(
            "".join(v.text or "" for v in point.iter("c_v"))
        )
        for point in data.iter("c_pt")
    }


def _shown(value: str) -> str:
    """Return a value without the digits that binary fractions add: 4.4000000000000004."""
    try:
        return f"{float(value):.15g}"
    except ValueError:
        return one_line(value)
