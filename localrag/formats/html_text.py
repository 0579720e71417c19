"""The text of nodes of a web page: flowing, as it stands, and of formulas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selectolax.lexbor import LexborNode

__all__ = ["children_of", "collapsed", "flowing", "raw_text", "tex_source"]

# A line break between ideographs or kana is none between words.
_UNSPACED = "[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
_UNSPACED_BREAK = re.compile(rf"(?<={_UNSPACED})[ \t]*\n\s*(?={_UNSPACED})")
_TEX_WRAP = re.compile(r"^\{\\(?:displaystyle|textstyle|scriptstyle)\s*(.*)\}$", re.DOTALL)


def children_of(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes right below a node, texts and comments included."""
    child = node.child
    while child is not None:
        yield child
        child = child.next


def raw_text(
    node: LexborNode, is_left_out: Callable[[LexborNode], bool], deepest: int
) -> Iterator[str]:
    """Yield the text of code as it stands; the numbers of its lines are no code."""
    if deepest <= 0:
        yield node.text(deep=True)
        return
    for child in children_of(node):
        if child.tag == "-text":
            yield child.text_content or ""
        elif child.tag == "br":
            yield "\n"
        elif child.is_element_node and not is_left_out(child):
            yield from raw_text(child, is_left_out, deepest - 1)


def flowing(text: str) -> str:
    """Return text without its line breaks, which mean nothing."""
    return _UNSPACED_BREAK.sub("", text).replace("\n", " ").replace("\r", " ")


def collapsed(text: str) -> str:
    """Return text with its white space collapsed; line breaks that are meant are lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def tex_source(text: str) -> str:
    """Return the source of a formula without the size that it is set in."""
    text = " ".join(text.split())
    match = _TEX_WRAP.match(text)
    return match[1].strip() if match else text
