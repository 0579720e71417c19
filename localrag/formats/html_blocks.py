"""The elements of a web page or of a chapter become blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localrag.formats.html_content import is_boilerplate
from localrag.formats.html_tables import is_data_table, rows_of
from localrag.formats.tables import add_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selectolax.lexbor import LexborNode

    from localrag.formats.builder import DocumentBuilder
    from localrag.records import BlockKind

__all__ = ["HtmlBlocks"]

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section"
    " summary table tbody td tfoot th thead tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NEVER = frozenset(
    "script style noscript template svg iframe object canvas audio video head rt rp annotation"
    " annotation-xml datalist map".split()
)
_DEEPEST = 150
_LANGUAGE = re.compile(r"(?:language|lang|highlight(?:-source)?|brush:?)-?\s*([a-z][\w+#-]*)")
_TEX_WRAP = re.compile(r"^\{\\(?:displaystyle|textstyle|scriptstyle)\s*(.*)\}$", re.DOTALL)
_FILE_NAME = re.compile(r"\S*\.(?:png|jpe?g|gif|svg|webp|bmp)|(?:image|img|photo|icon|logo)?\s*\d*")
_PERMALINKS = frozenset(("#", "¶", "§", "🔗"))
# A line break between ideographs or kana is none between words.
_UNSPACED_BREAK = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])[ \t]*\n\s*(?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])"
)


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
        for child in _children(node):
            if child.tag == "-text":
                self._inline.append(_flowing(child.text_content or ""))
            elif child.is_element_node:
                self._element(child)
        self._depth -= 1

    def _element(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _NEVER or (not self.keeps_all and self._is_boilerplate(node)):
            # What is left out still parts the words around it.
            self._inline.append(" " if tag not in ("rt", "rp") else "")
        elif tag in _SPECIAL:
            _SPECIAL[tag](self, node)
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

    def _is_boilerplate(self, node: LexborNode) -> bool:
        if not is_boilerplate(node, in_content=self.in_content):
            return False
        return not (node.tag == "header" and node.css_first("h1"))

    def _flush(self) -> None:
        text = _collapsed("".join(self._inline))
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
        text = _collapsed("".join(self._inline)).replace("\n", " ")
        self._inline.clear()
        self.builder.heading(text, level)

    def _list(self, node: LexborNode) -> None:
        self._flush()
        start = node.attributes.get("start") or "1"
        number = int(start) if start.isdigit() else 1
        for child in _children(node):
            if child.tag == "li" and not (not self.keeps_all and self._is_boilerplate(child)):
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
        self.builder.code("".join(_raw(node, self._is_boilerplate)), language=language)

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
        pieces = self._inline
        for part in self._cell_pieces(node):
            pieces.append(part)
        text = _collapsed("".join(pieces))
        self._inline = outer
        return text

    def _cell_pieces(self, node: LexborNode) -> Iterator[str]:
        for child in _children(node):
            tag = child.tag or ""
            if tag == "-text":
                yield _flowing(child.text_content or "")
            elif not child.is_element_node or tag in _NEVER or self._is_boilerplate(child):
                continue
            elif tag in ("math", "img", "br", "wbr"):
                before = len(self._inline)
                _SPECIAL[tag](self, child)
                yield from self._inline[before:]
                del self._inline[before:]
            else:
                part = "\n" if tag in _BLOCKS else ""
                yield part
                yield from self._cell_pieces(child)
                yield part

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
            self._inline.append(_tex(text))
        elif text and not _FILE_NAME.fullmatch(text.lower()):
            self._inline.append(f" [{text}] ")

    def _math(self, node: LexborNode) -> None:
        text = node.attributes.get("alttext") or ""
        if not text:
            source = node.css_first("annotation[encoding='application/x-tex']")
            text = source.text(deep=True) if source is not None else ""
        if text:
            self._inline.append(_tex(text))
        else:
            self._children(node)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _raw(node: LexborNode, is_boilerplate: Callable[[LexborNode], bool]) -> Iterator[str]:
    """Yield the text of code as it stands; the numbers of its lines are no code."""
    for child in _children(node):
        if child.tag == "-text":
            yield child.text_content or ""
        elif child.tag == "br":
            yield "\n"
        elif child.is_element_node and not is_boilerplate(child):
            yield from _raw(child, is_boilerplate)


def _flowing(text: str) -> str:
    """Return text without its line breaks, which mean nothing."""
    return _UNSPACED_BREAK.sub("", text).replace("\n", " ").replace("\r", " ")


def _collapsed(text: str) -> str:
    """Return text with its white space collapsed; line breaks that are meant are lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _tex(text: str) -> str:
    text = " ".join(text.split())
    match = _TEX_WRAP.match(text)
    return match[1].strip() if match else text


_SPECIAL: dict[str, Callable[[HtmlBlocks, LexborNode], None]] = {
    "ul": HtmlBlocks._list,
    "ol": HtmlBlocks._list,
    "li": HtmlBlocks._stray_item,
    "dt": HtmlBlocks._term,
    "dd": HtmlBlocks._term,
    "blockquote": HtmlBlocks._quote,
    "figcaption": HtmlBlocks._caption,
    "pre": HtmlBlocks._code,
    "table": HtmlBlocks._table,
    "br": HtmlBlocks._break,
    "wbr": HtmlBlocks._nothing,
    "img": HtmlBlocks._image,
    "math": HtmlBlocks._math,
}
