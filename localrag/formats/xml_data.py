"""XML: records of ``path: value`` lines, each with its line in the file.

Expat reads it without ever opening another file: external entities and DTDs are not fetched, and
entities that contain entities are refused. Elements with text between their children, such as the
paragraphs of a book, are one value with all their text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from localrag.errors import ReadError
from localrag.formats.as_written import as_written
from localrag.formats.assembly import Assembly
from localrag.formats.data_tree import DEEPEST, Leaf, Tree, add_records
from localrag.formats.encoding import decode
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_xml"]

MEDIA_TYPE: Final = "application/xml"

_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]*\?>")
_ENCODING: Final = re.compile(rb"^<\?xml[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)[\"']")
_MOST_EXPANDED = 1_000_000
"""Characters that entities may add to a document."""
_TITLES: Final = ("title", "name")


def read_xml(data: bytes, uri: str) -> Document:
    """Return the records in `data`; as written, with the reason in the metadata, if it is broken.

    Raises:
        ReadError: it is not text, or ``"unsafe"`` where its entities would expand without bound.
    """
    source = _decoded(data)
    try:
        root = _Parser(len(source)).parse(source)
    except (expat.ExpatError, _TooDeepError) as error:
        return as_written(source, uri, MEDIA_TYPE, {"parse_error": str(error)})
    assembly = Assembly()
    tree = root.tree("")
    add_records(assembly, tree)
    return assembly.build(root.title() or stem_of(uri), MEDIA_TYPE, {"root": root.name})


def _decoded(data: bytes) -> str:
    """Return the text in the encoding that is declared, where the bytes agree."""
    declared = _ENCODING.match(data[:200])
    if declared:
        try:
            name = declared[1].decode("ascii")
            return data.decode(name).replace("\r\n", "\n").replace("\r", "\n")
        except (LookupError, UnicodeError, ValueError):
            pass
    return decode(data)


class _TooDeepError(ValueError):
    pass


@dataclass(slots=True)
class _Element:
    name: str
    line: int
    attributes: Mapping[str, str]
    content: list[str | _Element] = field(default_factory=list)
    has_text: bool = False
    """Whether there is text directly in it, and not only in its children."""

    @property
    def children(self) -> list[_Element]:
        return [part for part in self.content if isinstance(part, _Element)]

    def text(self) -> str:
        parts = (part if isinstance(part, str) else part.text() for part in self.content)
        return "".join(parts)

    def tree(self, label: str) -> Tree | Leaf:
        children = self.children
        leaves = [
            Leaf(value, self.line, f"@{name}")
            for name, value in self.attributes.items()
            if value.strip() and not name.startswith("xmlns")
        ]
        if self.has_text or not children:
            text = " ".join(self.text().split())
            if not leaves:
                return Leaf(text, self.line, label)
            return Tree(self.line, label, [*leaves, *([Leaf(text, self.line)] if text else [])])
        names = Counter(child.name for child in children)
        tree = Tree(self.line, label, [*leaves], is_list=max(names.values()) > 1)
        seen: Counter[str] = Counter()
        for child in children:
            index = f"[{seen[child.name]}]" if names[child.name] > 1 else ""
            seen[child.name] += 1
            node = child.tree(f".{child.name}{index}")
            if isinstance(node, Tree) or node.text:
                tree.children.append(node)
        return tree

    def title(self) -> str:
        """Return the text of a child that is called so."""
        titles = (
            " ".join(child.text().split())
            for child in self.children
            if child.name.rpartition(":")[2].lower() in _TITLES
        )
        return next(titles, "")


class _Parser:
    """Turns the events of expat into elements."""

    def __init__(self, length: int) -> None:
        self.left = length + _MOST_EXPANDED
        self.open: list[_Element] = []
        self.root: _Element | None = None
        self.expat = expat.ParserCreate()
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self.start
        self.expat.EndElementHandler = self.end
        self.expat.CharacterDataHandler = self.text
        self.expat.EntityDeclHandler = self.entity

    def parse(self, source: str) -> _Element:
        # What the declaration says of the encoding no longer holds. Blanks keep the lines.
        self.expat.Parse(_DECLARATION.sub(lambda found: "\n" * found[0].count("\n"), source), True)
        if self.root is None:  # pragma: no cover - expat has raised "no element found"
            raise expat.ExpatError("no element")
        return self.root

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) > DEEPEST:
            raise _TooDeepError(f"nested more than {DEEPEST} levels")
        element = _Element(name, self.expat.CurrentLineNumber, attributes)
        if self.open:
            self.open[-1].content.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _: str) -> None:
        self.open.pop()

    def text(self, text: str) -> None:
        self.left -= len(text)
        if self.left < 0:
            raise ReadError("unsafe", "its entities expand to far more than the file holds")
        element = self.open[-1]
        element.content.append(text)
        element.has_text = element.has_text or not text.isspace()

    def entity(self, name: str, _: int, value: str | None, *__: object) -> None:
        if value and "&" in value:
            raise ReadError("unsafe", f"the entity {name!r} contains entities: not expanded")
