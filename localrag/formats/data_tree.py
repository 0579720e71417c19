"""Data as lines of ``path: value``, in records: what JSON, YAML and XML files become.

Every line says where its value stands, so that it means something wherever the text is cut::

    country[1].name: Canada
    country[1].capital: Ottawa

A record is the largest part of the tree that is still small: an object of a list, a section of a
configuration.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.formats.assembly import Assembly

__all__ = ["DEEPEST", "SHORT_LIST", "Leaf", "Tree", "add_records", "label_of", "name_of"]

DEEPEST: Final = 64
"""Levels of a tree. What is deeper is no data that a person wrote."""

SHORT_LIST: Final = 200
"""Characters of a list of values that is written on one line."""

_LARGEST_RECORD = 800
"""Characters: about what a chunk takes."""
_LONG_VALUE = 300
_BLOB: Final = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/=_-]{200,}")
_BLOB_SHOWN = 40
_NOTHING: Final = frozenset(("{}", "[]"))
_PLAIN_KEY: Final = re.compile(r"[^\s.\[\]:\"']+")


@dataclass(slots=True)
class Leaf:
    """A value, or a comment, on a line of the source."""

    text: str
    line: int
    """From 1; 0 where it is not known."""
    label: str = ""
    """``".name"``, ``"[3]"`` or ``"@attribute"``; empty for the text of what has attributes."""
    is_comment: bool = False
    exact: bool = False
    """Whether the lines of the value are consecutive lines of the source."""


@dataclass(slots=True)
class Tree:
    """An object, a list or an element."""

    line: int
    label: str = ""
    children: list[Tree | Leaf] = field(default_factory=list)
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    path: str
    leaf: Leaf

    @property
    def text(self) -> str:
        value = _BLOB.sub(lambda found: f"{found[0][:_BLOB_SHOWN]}…", self.leaf.text)
        gap = "\n" if "\n" in value else " "
        return f"{self.path}:{gap}{value}" if self.path else value

    @property
    def is_long(self) -> bool:
        return len(self.leaf.text) > _LONG_VALUE

    def numbers(self, text: str) -> list[int]:
        """Return the source line of each line of `text`."""
        first = self.leaf.line
        rows = text.count("\n") + 1
        step = 1 if self.leaf.exact else 0
        if not self.path:
            return [first + row * step for row in range(rows)]
        # The path of a value of several lines stands on a line of its own, as the key in YAML.
        return [first, *(first + row * step for row in range(1, rows))]


def label_of(key: str) -> str:
    """Return how a key is written in a path."""
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f'."{" ".join(key.split())}"'


def add_records(assembly: Assembly, tree: Tree | Leaf, prefix: str = "") -> None:
    """Add the records of `tree`. Short values of a record are lines of one block."""
    for record in _records(tree, prefix):
        short: list[_Line] = []
        for line in record:
            if line.is_long:
                _add(assembly, short)
                _add(assembly, [line])
                short = []
            else:
                short.append(line)
        _add(assembly, short)


def _add(assembly: Assembly, lines: Sequence[_Line]) -> None:
    if not lines:
        return
    texts = [line.text for line in lines]
    numbers = [
        number for line, text in zip(lines, texts, strict=True) for number in line.numbers(text)
    ]
    known = all(numbers)
    is_prose = any(line.is_long and not line.leaf.exact for line in lines)
    assembly.add("paragraph" if is_prose else "code", "\n".join(texts), numbers if known else ())


def _records(tree: Tree | Leaf, prefix: str) -> Iterator[list[_Line]]:
    """Yield groups of lines: a small tree whole, a large one as its own values and its children."""
    path = f"{prefix}{tree.label}"
    if isinstance(tree, Leaf) or _size(tree, path) <= _LARGEST_RECORD:
        yield list(_lines(tree, path))
        return
    values: list[_Line] = []
    size = 0
    for child in tree.children:
        whole = _size(child, path + child.label)
        apart = isinstance(child, Tree) and (tree.is_list or whole > _LARGEST_RECORD // 2)
        if not apart and size + whole <= _LARGEST_RECORD:
            values += _lines(child, path + child.label)
            size += whole
            continue
        # Comments belong to what follows them.
        comments = _taken_comments(values)
        if values:
            yield values
        values, size = comments, 0
        if apart:
            for record in _records(child, path):
                yield [*comments, *record]
                comments = []
            values = comments
        else:
            values += _lines(child, path + child.label)
            size = whole
    if values:
        yield values


def _taken_comments(lines: list[_Line]) -> list[_Line]:
    """Take the comments off the end of `lines`."""
    end = len(lines)
    while end and lines[end - 1].leaf.is_comment:
        end -= 1
    comments = lines[end:]
    del lines[end:]
    return comments


def _lines(tree: Tree | Leaf, path: str) -> Iterator[_Line]:
    if isinstance(tree, Leaf):
        if tree.text.strip() and tree.text not in _NOTHING:
            yield _Line("" if tree.is_comment else path.removeprefix("."), tree)
        return
    for child in tree.children:
        yield from _lines(child, path + child.label)


def _size(tree: Tree | Leaf, path: str) -> int:
    """Return about how many characters a tree takes; exactly enough to compare, never more work."""
    size = 0
    pending: list[tuple[Tree | Leaf, int]] = [(tree, len(path))]
    while pending and size <= 2 * _LARGEST_RECORD:
        node, length = pending.pop()
        if isinstance(node, Leaf):
            size += length + len(node.text) + 3
        else:
            pending += ((child, length + len(child.label)) for child in reversed(node.children))
    return size


def name_of(tree: Tree | Leaf) -> str:
    """Return what an object calls itself: its title or name, with its kind where it states one."""
    names = _short_values(tree)
    inner = getattr(tree, "children", ())
    metadata = next((child for child in inner if child.label == ".metadata"), None)
    names = {**(_short_values(metadata) if metadata else {}), **names}
    name = next((names[key] for key in (".title", ".name") if names.get(key)), "")
    return f"{names.get('.kind', '')} {name}".strip() if name else ""


def _short_values(tree: Tree | Leaf) -> dict[str, str]:
    if isinstance(tree, Leaf):
        return {}
    leaves = (child for child in tree.children if isinstance(child, Leaf))
    return {leaf.label: leaf.text for leaf in leaves if len(leaf.text) <= _LONG_VALUE}
