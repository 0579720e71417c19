"""Parts of an Office file: XML trees with short names, and what they refer to.

Names come in two sets of namespaces, *transitional* (what Office writes) and *strict* (the ISO
standard). Both become the usual prefixes here, so that readers say ``w_p`` and mean either.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from localrag.errors import ReadError
from localrag.formats.builder import one_line
from localrag.formats.containers import open_zip, read_member

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Mapping

__all__ = ["Element", "Package", "Relationship", "core_properties", "open_package", "parse_xml"]

Element = ET.Element

_TRANSITIONAL = "http://schemas.openxmlformats.org/"
_STRICT = "http://purl.oclc.org/ooxml/"
_PREFIXES = {
    "wordprocessingml/2006/main": "w",
    "presentationml/2006/main": "p",
    "drawingml/2006/main": "a",
    "drawingml/2006/chart": "c",
    "drawingml/2006/diagram": "dgm",
    "drawingml/2006/wordprocessingDrawing": "wp",
    "officeDocument/2006/math": "m",
    "officeDocument/2006/relationships": "r",
    "package/2006/relationships": "rel",
    "markup-compatibility/2006": "mc",
    "package/2006/metadata/core-properties": "cp",
}
_OTHER = {
    "http://schemas.microsoft.com/office/word/2010/wordprocessingShape": "wps",
    "urn:schemas-microsoft-com:vml": "v",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://www.w3.org/XML/1998/namespace": "xml",
}
_PREFIX_OF = {
    **_OTHER,
    **{f"{_TRANSITIONAL}{name}": prefix for name, prefix in _PREFIXES.items()},
    **{f"{_STRICT}{name.replace('/2006', '')}": prefix for name, prefix in _PREFIXES.items()},
}
_DOCTYPES = (b"<!DOCTYPE", "<!DOCTYPE".encode("utf-16-le"), "<!DOCTYPE".encode("utf-16-be"))
_PROPERTIES = {
    "dc_title": "title",
    "dc_creator": "author",
    "dc_subject": "subject",
    "dc_description": "description",
    "dc_language": "language",
    "cp_keywords": "keywords",
    "cp_category": "category",
    "dcterms_created": "created",
    "dcterms_modified": "modified",
}


@dataclass(frozen=True, slots=True)
class Relationship:
    """What one part says about another."""

    kind: str
    """Last word of its type, such as ``"footnotes"``."""
    target: str
    """Name of the other part in the container, or an address outside."""


@dataclass
class Package:
    """The parts of one Office file."""

    archive: zipfile.ZipFile

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of all parts by their lower case: writers do not agree on the case."""
        return {name.lower(): name for name in self.archive.namelist()}

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return name.lower() in self.names

    def part(self, name: str) -> Element:
        """Return the tree of a part, its names short.

        Raises:
            ReadError: ``"damaged"``: the part is missing or no XML.
        """
        if not self.has(name):
            raise ReadError("damaged", f"the part {name} is missing; open and save the file again")
        root = parse_xml(read_member(self.archive, self.names[name.lower()]), name)
        _shorten(root)
        return root

    def relationships(self, name: str) -> dict[str, Relationship]:
        """Return what a part refers to, by id; `name` is empty for the file as a whole."""
        folder, _, file = name.rpartition("/")
        rels = posixpath.join(folder, "_rels", f"{file}.rels")
        if not self.has(rels):
            return {}
        return {
            one.get("Id", ""): Relationship(
                kind=one.get("Type", "").rpartition("/")[2],
                target=_target(folder, one.get("Target", ""), one.get("TargetMode")),
            )
            for one in self.part(rels)
        }

    def related(self, name: str, kind: str) -> list[str]:
        """Return the names of the parts of one kind that a part refers to."""
        found = self.relationships(name).values()
        return [one.target for one in found if one.kind == kind and self.has(one.target)]

    def main_part(self) -> str:
        """Return the name of the part that holds the document itself.

        Raises:
            ReadError: ``"damaged"``: there is none.
        """
        for name in self.related("", "officeDocument"):
            return name
        raise ReadError("damaged", "no main part; open and save the file again")


def _target(folder: str, target: str, mode: str | None) -> str:
    if mode == "External" or "://" in target:
        return target
    joined = target if target.startswith("/") else posixpath.join("/", folder, target)
    return posixpath.normpath(joined).lstrip("/")


def open_package(data: bytes) -> Package:
    """Return the parts in `data`; raises `ReadError` as `open_zip` does."""
    return Package(open_zip(data))


def parse_xml(data: bytes, name: str) -> Element:
    """Return the root of an XML text that declares no entities.

    Raises:
        ReadError: ``"damaged"``: it is no XML; ``"unsupported"``: it has a document type, which
            no Office file needs and with which a few lines stand for gigabytes.
    """
    if any(doctype in data for doctype in _DOCTYPES):
        raise ReadError("unsupported", f"{name} declares a document type; nothing of it is read")
    try:
        return ET.fromstring(data)  # noqa: S314 - no document type, so no entities
    except (ET.ParseError, ValueError, LookupError) as error:
        raise ReadError("damaged", f"{name} is no XML ({error}); get a fresh copy") from error


def _shorten(root: Element) -> None:
    for element in root.iter():
        element.tag = _short(element.tag)
        if any("{" in key for key in element.keys()):  # noqa: SIM118 - an element is no mapping
            attributes = {_short(key): value for key, value in element.items()}
            element.attrib.clear()
            element.attrib.update(attributes)


def _short(name: str) -> str:
    namespace, found, local = name[1:].partition("}")
    if not found:
        return name
    prefix = _PREFIX_OF.get(namespace)
    return f"{prefix}_{local}" if prefix else local


def core_properties(package: Package) -> dict[str, object]:
    """Return title, author, dates and the like, as far as they are filled in."""
    found: dict[str, object] = {}
    for name in package.related("", "core-properties"):
        for element in package.part(name):
            key, value = _PROPERTIES.get(element.tag), one_line(element.text or "")
            if key and value:
                found[key] = value
    return found
