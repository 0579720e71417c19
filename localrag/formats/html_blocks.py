"""The elements of a web page or of a chapter become blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from localrag.formats.html_content import is_boilerplate
from localrag.formats.html_tables import is_data_table, rows_of
from localrag.formats.html_text import children_of, collapsed, flowing, raw_text, tex_source
from localrag.formats.spans import whole_number
from localrag.formats.tables import add_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from selectolax.lexbor import LexborNode

    from localrag.formats.builder import DocumentBuilder
    from localrag.records import BlockKind

__all__ = ["HtmlBlocks"]

_BLOCK_NAMES = """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section
    summary table tbody td tfoot th thead tr ul
"""
_NEVER_NAMES = """
    script style noscript template svg iframe object canvas audio video head rt rp annotation
    annotation-xml datalist map
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NEVER = frozenset(_NEVER_NAMES.split())
_INSIDE_CELLS = frozenset(("math", "img", "br", "wbr"))
_DEEPEST = 150
_MOST_NUMBER = 999_999
_LANGUAGE = re.compile(r"(?:language|lang|highlight(?:-source)?|brush:?)-?\s*([a-z][\w+#-]*)")
_FILE_NAME = re.compile(r"\S*\.(?:png|jpe?g|gif|svg|webp|bmp)|(?:image|img|photo|icon|logo)?\s*\d*")
_PERMALINKS = frozenset(("#", "¶", "§", "🔗"))


@dataclass(slots=True)
class HtmlBlocks:
    """Walks over elements and adds what they say to a builder."""

    builder: DocumentBuilder
    in_content: bool = True
    """Whether the elements stand inside what the page marks as its content."""
    keeps_all: bool = False
    """Whether nothing is boilerplate: a chapter of a book."""
    _inline: list[str] = field(default_factory=list)
    _kind: BlockKind = "paragraph"
    _markers: list[str | None] = field(default_factory=list)
    """For each list item around, its marker, or None once its first block has taken it."""
    _depth: int = 0

    def add(self, root: LexborNode) -> None:
        """Add the blocks below `root`."""
        self._children(root)
        self._flush()

    def _children(self, node: LexborNode) -> None:
        if self._depth >= _DEEPEST:
            self._inline.append(node.text(deep=True))
            return
        self._depth += 1
        for child in children_of(node):
            if child.tag == "-text":
                self._inline.append(flowing(child.text_content or ""))
            elif child.is_element_node:
                self._element(child)
        self._depth -= 1

    def _element(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _NEVER or self._is_left_out(node):
            # What is left out still parts the words around it.
            self._inline.append(" " if tag not in ("rt", "rp") else "")
        elif tag in self._SPECIAL:
            self._SPECIAL[tag](self, node)
        elif tag == "a" and node.text(deep=True).strip() in _PERMALINKS:
            return
        elif tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag])
        elif tag in _BLOCKS:
            self._flush()
            self._children(node)
            self._flush()
        else:
            self._children(node)

    def _is_left_out(self, node: LexborNode) -> bool:
        if self.keeps_all or not is_boilerplate(node, in_content=self.in_content):
            return False
        return not (node.tag == "header" and node.css_first("h1"))

    def _flush(self) -> None:
        text = collapsed("".join(self._inline))
        self._inline.clear()
        if not text:
            return
        if self._markers and self._kind == "paragraph":
            marker = self._markers[-1]
            self._markers[-1] = None
            depth = len(self._markers) - 1
            if marker is not None:
                self.builder.list_item(text, marker=marker, depth=depth)
                return
        self.builder.paragraph(text, self._kind)

    def _heading(self, node: LexborNode, level: int) -> None:
        self._flush()
        self._children(node)
        text = collapsed("".join(self._inline)).replace("\n", " ")
        self._inline.clear()
        self.builder.heading(text, level)

    def _list(self, node: LexborNode) -> None:
        self._flush()
        number = whole_number(node.attributes.get("start"), 1, _MOST_NUMBER)
        for child in children_of(node):
            if child.tag == "li" and not self._is_left_out(child):
                marker = "-"
                if node.tag == "ol":
                    marker, number = f"{number}.", number + 1
                self._item(child, marker)
            elif child.is_element_node and child.tag != "li":
                self._element(child)
        self._flush()

    def _item(self, node: LexborNode, marker: str) -> None:
        self._markers.append(marker)
        self._children(node)
        self._flush()
        self._markers.pop()

    def _stray_item(self, node: LexborNode) -> None:
        self._flush()
        self._item(node, "-")

    def _term(self, node: LexborNode) -> None:
        """Add a term of a list of definitions, or what is said of one."""
        self._flush()
        if node.tag == "dt":
            self._item(node, "-")
        elif node.parent is not None and node.parent.css_first("dt") is not None:
            self._markers.append(None)
            self._item(node, "-")
            self._markers.pop()
        else:
            # Indentation, as wikis make it.
            self._children(node)
            self._flush()

    def _of_kind(self, kind: BlockKind) -> Callable[[LexborNode], None]:
        def add(node: LexborNode) -> None:
            self._flush()
            before, self._kind = self._kind, kind
            self._children(node)
            self._flush()
            self._kind = before

        return add

    def _quote(self, node: LexborNode) -> None:
        self._of_kind("quote")(node)

    def _caption(self, node: LexborNode) -> None:
        self._of_kind("caption")(node)

    def _code(self, node: LexborNode) -> None:
        self._flush()
        language = ""
        for one in (node, node.parent, node.css_first("code")):
            name = (one.attributes.get("class") or "") if one is not None else ""
            if match := _LANGUAGE.search(name):
                language = match[1]
        self.builder.code("".join(raw_text(node, self._is_left_out, _DEEPEST)), language=language)

    def _table(self, node: LexborNode) -> None:
        self._flush()
        if not is_data_table(node):
            self._children(node)
            self._flush()
            return
        for caption in node.css("caption")[:1]:
            self._caption(caption)
        rows, header = rows_of(node, self._cell)
        add_rows(self.builder, rows, header=header)

    def _cell(self, node: LexborNode) -> str:
        """Return the text of a cell, whatever blocks it holds."""
        outer, self._inline = self._inline, []
        self._collect_cell(node)
        text = collapsed("".join(self._inline))
        self._inline = outer
        return text

    def _collect_cell(self, node: LexborNode) -> None:
        if self._depth >= _DEEPEST:
            self._inline.append(node.text(deep=True))
            return
        self._depth += 1
        for child in children_of(node):
            tag = child.tag or ""
            if tag == "-text":
                self._inline.append(flowing(child.text_content or ""))
            elif tag in _INSIDE_CELLS:
                self._SPECIAL[tag](self, child)
            elif child.is_element_node and tag not in _NEVER and not self._is_left_out(child):
                part = "\n" if tag in _BLOCKS else ""
                self._inline.append(part)
                self._collect_cell(child)
                self._inline.append(part)
        self._depth -= 1

    def _break(self, _: LexborNode) -> None:
        self._inline.append("\n")

    def _nothing(self, _: LexborNode) -> None:
        """Say nothing: a place where a word may be parted is none where it must be."""

    def _image(self, node: LexborNode) -> None:
        name = node.attributes.get("class") or ""
        parent = node.parent
        if "fallback" in name and parent is not None and parent.css_first("math") is not None:
            return
        text = (node.attributes.get("alt") or "").strip(" []")
        if "math" in name or "tex" in name:
            self._inline.append(tex_source(text))
        elif text and not _FILE_NAME.fullmatch(text.lower()):
            self._inline.append(f" [{text}] ")

    def _math(self, node: LexborNode) -> None:
        text = node.attributes.get("alttext") or ""
        if not text:
            source = node.css_first("annotation[encoding='application/x-tex']")
            text = source.text(deep=True) if source is not None else ""
        if text:
            self._inline.append(tex_source(text))
        else:
            self._children(node)

    _SPECIAL: ClassVar[Mapping[str, Callable[[HtmlBlocks, LexborNode], None]]] = {
        "ul": _list,
        "ol": _list,
        "li": _stray_item,
        "dt": _term,
        "dd": _term,
        "blockquote": _quote,
        "figcaption": _caption,
        "pre": _code,
        "table": _table,
        "br": _break,
        "wbr": _nothing,
        "img": _image,
        "math": _math,
    }
