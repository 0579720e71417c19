"""EPUB books: the chapters in reading order, with the headings of the text or of the contents."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from localrag.errors import ReadError
from localrag.formats.builder import DocumentBuilder, one_line
from localrag.formats.containers import EPUB, open_zip, read_member
from localrag.formats.html import decode_html, parse_html
from localrag.formats.html_blocks import HtmlBlocks
from localrag.formats.titles import title_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Mapping

    from localrag.records import Document

__all__ = ["read_epub"]

_PAGES = frozenset(
    ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
)
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "language": "language",
    "publisher": "publisher",
    "date": "date",
    "subject": "keywords",
    "description": "description",
    "identifier": "identifier",
    "rights": "rights",
}
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?[^>]*>", re.IGNORECASE)


def read_epub(data: bytes, uri: str) -> Document:
    """Return the book in `data`.

    Raises:
        ReadError: ``"damaged"``, ``"encrypted"`` or ``"too large"``.
    """
    book = _Book(open_zip(data))
    package_name = book.package_name()
    package = book.xml(package_name)
    metadata = _metadata(package)
    items = _items(package, posixpath.dirname(package_name))
    builder = DocumentBuilder()
    if book.has("META-INF/encryption.xml") and _is_protected(book):
        raise ReadError("encrypted", "the book is protected against copying; it cannot be read")
    chapters = book.chapter_titles(items)
    missing = []
    for item in _spine(package, items):
        if not book.has(item.name):
            missing.append(item.name)
        elif item.media_type in _PAGES and "nav" not in item.properties:
            _add_chapter(builder, book.read(item.name), chapters.get(item.name, ""))
    if missing:
        metadata["missing_parts"] = missing
    return builder.build(title_of(metadata, builder.blocks, uri), EPUB, metadata)


@dataclass(frozen=True, slots=True)
class _Item:
    """One file of the book."""

    name: str
    media_type: str
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Book:
    archive: zipfile.ZipFile

    def has(self, name: str) -> bool:
        return name in self.archive.NameToInfo

    def read(self, name: str) -> bytes:
        if not self.has(name):
            raise ReadError("damaged", f"{name} is missing from the book; get a fresh copy")
        return read_member(self.archive, name)

    def xml(self, name: str) -> ET.Element:
        """Return the tree of a part; a document type, which books may have, is left out."""
        text = _DOCTYPE.sub("", decode_html(self.read(name)))
        text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
        try:
            return ET.fromstring(text)  # noqa: S314 - no document type, so no entities
        except (ET.ParseError, ValueError) as error:
            raise ReadError("damaged", f"{name} is no XML ({error}); get a fresh copy") from error

    def package_name(self) -> str:
        container = self.xml("META-INF/container.xml")
        for element in container.iter():
            if _local(element) == "rootfile" and (name := element.get("full-path")):
                return name
        raise ReadError("damaged", "the container names no package; get a fresh copy")

    def chapter_titles(self, items: Mapping[str, _Item]) -> dict[str, str]:
        """Return what the table of contents calls each file; its parts are not looked at."""
        found: dict[str, str] = {}
        for item in items.values():
            if not self.has(item.name):
                continue
            folder = posixpath.dirname(item.name)
            if "nav" in item.properties:
                for link in parse_html(decode_html(self.read(item.name)), is_xhtml=True).css(
                    "nav a[href]"
                ):
                    title = one_line(link.text(deep=True))
                    found.setdefault(_resolved(folder, link.attributes["href"] or ""), title)
            elif item.media_type == "application/x-dtbncx+xml":
                for point in self.xml(item.name).iter():
                    if _local(point) == "navPoint":
                        name, title = _point(point, folder)
                        found.setdefault(name, title)
        return found


def _add_chapter(builder: DocumentBuilder, data: bytes, title: str) -> None:
    tree = parse_html(decode_html(data), is_xhtml=True)
    for navigation in tree.css("nav"):
        navigation.decompose()
    root = tree.body
    if root is None:
        return
    if title and root.css_first("h1, h2, h3, h4, h5, h6") is None and root.text().strip():
        builder.heading(title, 1)
    HtmlBlocks(builder, keeps_all=True).add(root)


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _resolved(folder: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(reference.partition("#")[0])))


def _point(point: ET.Element, folder: str) -> tuple[str, str]:
    name = title = ""
    for element in point:
        if _local(element) == "navLabel":
            title = one_line("".join(element.itertext()))
        elif _local(element) == "content":
            name = _resolved(folder, element.get("src", ""))
    return name, title


def _items(package: ET.Element, folder: str) -> dict[str, _Item]:
    return {
        element.get("id", ""): _Item(
            name=_resolved(folder, element.get("href", "")),
            media_type=element.get("media-type", ""),
            properties=tuple(element.get("properties", "").split()),
        )
        for element in package.iter()
        if _local(element) == "item"
    }


def _spine(package: ET.Element, items: Mapping[str, _Item]) -> Iterator[_Item]:
    for element in package.iter():
        if _local(element) == "itemref" and (item := items.get(element.get("idref", ""))):
            yield item


def _metadata(package: ET.Element) -> dict[str, object]:
    found: dict[str, object] = {}
    for element in package.iter():
        if "purl.org/dc/" in element.tag:
            key, value = _PROPERTIES.get(_local(element)), one_line("".join(element.itertext()))
            if key and value and key not in found:
                found[key] = value
            elif key in ("author", "keywords") and value:
                found[key] = f"{found[key]}, {value}"
    return found


def _is_protected(book: _Book) -> bool:
    """Whether more than fonts is encrypted."""
    names = [
        element.get("URI", "")
        for element in book.xml("META-INF/encryption.xml").iter()
        if _local(element) == "CipherReference"
    ]
    return any(not name.lower().endswith((".ttf", ".otf", ".woff", ".woff2")) for name in names)
