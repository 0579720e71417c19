"""JSON as a tree that knows its lines. `json` of the standard library forgets them."""

from __future__ import annotations

import json
import re
from typing import Final

from localrag.formats.data_tree import DEEPEST, SHORT_LIST, Leaf, Tree, label_of

__all__ = ["JSONSyntaxError", "scan_json"]

_TOKEN: Final = re.compile(
    r"""[ \t\n\r]*(?:(?P<string>"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*")
        |(?P<mark>[{}\[\],:])
        |(?P<word>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)
        |(?P<end>\Z))""",
    re.VERBOSE,
)
_NESTED: Final = re.compile(r"\s*[\[{]")
_DEEPEST_NESTED = 3


class JSONSyntaxError(ValueError):
    """The text is not JSON, or nested too deeply to be data."""


def scan_json(text: str, *, line: int = 1, label: str = "") -> Tree | Leaf:
    """Return the tree of `text`, whose first line is `line`.

    A string that holds JSON, as exported settings do, is read as what it holds.

    Raises:
        JSONSyntaxError: it is not JSON.
    """
    return _Scanner(text, line, 0).whole(label)


class _Scanner:
    def __init__(self, text: str, line: int, nested: int) -> None:
        self.text = text
        self.position = 0
        self.line = line
        self.counted = 0
        """Up to where line breaks are counted in `line`."""
        self.nested = nested
        """How many strings of JSON lie around this one."""

    def whole(self, label: str) -> Tree | Leaf:
        tree = self.value(self.next(), label, 0)
        if self.next()["end"] is None:
            raise JSONSyntaxError(f"more than one value in line {self.line}")
        return tree

    def next(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.position)
        if not match:
            raise JSONSyntaxError(f"no JSON in line {self.line_here()}")
        self.position = match.end()
        return match

    def line_here(self) -> int:
        self.line += self.text.count("\n", self.counted, self.position)
        self.counted = self.position
        return self.line

    def value(self, token: re.Match[str], label: str, depth: int) -> Tree | Leaf:
        if depth > DEEPEST:
            raise JSONSyntaxError(f"nested more than {DEEPEST} levels in line {self.line_here()}")
        line = self.line_here()
        if token["string"] is not None:
            return self.string(token["string"], label, line)
        if token["word"] is not None:
            return Leaf(token["word"], line, label)
        if token["mark"] == "{":
            return self.object(Tree(line, label), depth)
        if token["mark"] == "[":
            return self.list(Tree(line, label, is_list=True), depth)
        raise JSONSyntaxError(f"a value is missing in line {line}")

    def string(self, token: str, label: str, line: int) -> Tree | Leaf:
        text = _decoded(token)
        if _NESTED.match(text) and self.nested < _DEEPEST_NESTED:
            try:
                inner = _Scanner(text, 0, self.nested + 1).whole(label)
            except JSONSyntaxError:
                return Leaf(text, line, label)
            _on_line(inner, line)
            return inner
        return Leaf(text, line, label)

    def object(self, tree: Tree, depth: int) -> Tree | Leaf:
        token = self.next()
        if token["mark"] == "}":
            return Leaf("{}", tree.line, tree.label)
        while True:
            if token["string"] is None or self.next()["mark"] != ":":
                raise JSONSyntaxError(f"a key is missing in line {self.line_here()}")
            label = label_of(_decoded(token["string"]))
            tree.children.append(self.value(self.next(), label, depth + 1))
            if self.ends("}"):
                return tree
            token = self.next()

    def list(self, tree: Tree, depth: int) -> Tree | Leaf:
        token = self.next()
        if token["mark"] == "]":
            return Leaf("[]", tree.line, tree.label)
        while True:
            label = f"[{len(tree.children)}]"
            tree.children.append(self.value(token, label, depth + 1))
            if self.ends("]"):
                return _joined(tree)
            token = self.next()

    def ends(self, closing: str) -> bool:
        mark = self.next()["mark"]
        if mark not in (closing, ","):
            raise JSONSyntaxError(f"a comma is missing in line {self.line_here()}")
        return mark == closing


def _decoded(token: str) -> str:
    try:
        text: str = json.loads(token)
    except ValueError as error:
        raise JSONSyntaxError(str(error)) from error
    # Half of a surrogate pair is no character and cannot be stored.
    return text.encode("utf-8", "replace").decode()


def _joined(tree: Tree) -> Tree | Leaf:
    """Return a list of a few short values as one line."""
    texts = [child.text for child in tree.children if isinstance(child, Leaf)]
    if (
        len(texts) < len(tree.children)
        or sum(map(len, texts)) > SHORT_LIST
        or "\n" in "".join(texts)
    ):
        return tree
    return Leaf(", ".join(texts), tree.line, tree.label)


def _on_line(tree: Tree | Leaf, line: int) -> None:
    tree.line = line
    if isinstance(tree, Tree):
        for child in tree.children:
            _on_line(child, line)
