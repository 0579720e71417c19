"""YAML: records of ``path: value`` lines with the comments, each with its line in the file.

Only events of the parser are used: no tag is constructed, and an alias is named, never expanded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import yaml

from localrag.formats.as_written import as_written
from localrag.formats.assembly import Assembly
from localrag.formats.data_tree import (
    DEEPEST,
    SHORT_LIST,
    Leaf,
    Tree,
    add_records,
    label_of,
    name_of,
)
from localrag.formats.encoding import decode
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_yaml"]

MEDIA_TYPE: Final = "application/yaml"

_COMMENT: Final = re.compile(r"^[ \t]*#+!?[ \t]*(?P<text>\S.*)$")
_DECORATION: Final = re.compile(r"[^\w]*")
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(data: bytes, uri: str) -> Document:
    """Return the records in `data`; as written, with the reason in the metadata, if it is broken.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    source = decode(data)
    try:
        documents = _documents(source)
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        return as_written(source, uri, MEDIA_TYPE, {"parse_error": reason})
    assembly = Assembly()
    names = [name_of(tree) for tree in documents]
    for number, (tree, name) in enumerate(zip(documents, names, strict=True), 1):
        if len(documents) > 1 and any(names):
            assembly.heading(name or f"document {number}", 1, line=tree.line)
        add_records(assembly, tree)
    title = names[0] if len(documents) == 1 else ""
    return assembly.build(title or stem_of(uri), MEDIA_TYPE)


def _documents(source: str) -> list[Tree | Leaf]:
    """Return the documents of a file.

    Raises:
        ValueError: it is nested too deeply to be data.
        yaml.YAMLError: it is not YAML.
    """
    builder = _TreeBuilder(_Comments(source))
    for event in yaml.parse(source, Loader=_LOADER):
        builder.take(event)
    return builder.documents


class _TreeBuilder:
    """Makes trees of the parser's events."""

    def __init__(self, comments: _Comments) -> None:
        self.comments = comments
        self.documents: list[Tree | Leaf] = []
        self.open: list[Tree] = []
        self.keys: list[str | None] = []
        """For each open tree the key that waits for its value; None in lists."""
        self.counts: list[int] = []
        """For each open tree the values so far, where it is a list."""

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line if event.start_mark else 0
        match event:
            case yaml.DocumentStartEvent():
                self.open, self.keys, self.counts = [Tree(line + 1)], [""], [0]
            case yaml.DocumentEndEvent():
                self.comments.before(line, self.open[0])
                self.documents.append(_unwrapped(self.open[0]))
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self.begin(line, is_list=isinstance(event, yaml.SequenceStartEvent))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self.keys.pop()
                self.counts.pop()
                tree = self.open.pop()
                self.open[-1].children[-1] = _closed(tree)
            case yaml.AliasEvent():
                self.value(f"*{event.anchor}", line)
            case yaml.ScalarEvent():
                # What looks like comments in a block of text is text.
                end = event.end_mark.line if event.end_mark else line
                self.value(event.value, line, end=end, exact=event.style == "|")

    def begin(self, line: int, *, is_list: bool) -> None:
        if len(self.open) > DEEPEST:
            raise ValueError(f"nested more than {DEEPEST} levels")
        self.comments.before(line, self.open[-1])
        tree = Tree(line + 1, self.label(), is_list=is_list)
        self.open[-1].children.append(tree)
        self.open.append(tree)
        self.keys.append(None)
        self.counts.append(0)

    def value(self, text: str, line: int, *, end: int = 0, exact: bool = False) -> None:
        tree = self.open[-1]
        self.comments.before(line, tree)
        if not tree.is_list and self.keys[-1] is None:
            self.keys[-1] = text
            return
        self.comments.skip_to(end)
        label = self.label()
        tree.children.append(Leaf(text.rstrip("\n"), line + 1, label, exact=exact))

    def label(self) -> str:
        """Return the label of the next child, and expect the next key."""
        tree = self.open[-1]
        if tree.is_list:
            self.counts[-1] += 1
            return f"[{self.counts[-1] - 1}]"
        key, self.keys[-1] = self.keys[-1], None
        return label_of(key) if key else ""


def _closed(tree: Tree) -> Tree | Leaf:
    """Return a list of a few short values on one line, and an empty tree as what it is."""
    leaves = [child for child in tree.children if isinstance(child, Leaf)]
    if not tree.children:
        return Leaf("[]" if tree.is_list else "{}", tree.line, tree.label)
    if not tree.is_list or len(leaves) < len(tree.children):
        return tree
    shown = ", ".join(leaf.text for leaf in leaves)
    plain = "\n" not in shown and not any(leaf.is_comment for leaf in leaves)
    return Leaf(shown, tree.line, tree.label) if plain and len(shown) <= SHORT_LIST else tree


def _unwrapped(root: Tree) -> Tree | Leaf:
    """Return the only value of a document, with the comments around it inside it."""
    values = [one for one in root.children if isinstance(one, Tree) or not one.is_comment]
    if len(values) != 1 or (isinstance(values[0], Leaf) and len(root.children) > 1):
        return root
    [value] = values
    if isinstance(value, Tree):
        place = root.children.index(value)
        value.children = [
            *root.children[:place],
            *value.children,
            *root.children[place + 1 :],
        ]
    return value


class _Comments:
    """The comments that stand on lines of their own, handed out in order."""

    def __init__(self, source: str) -> None:
        lines = source.split("\n")
        found = ((row, _COMMENT.match(line)) for row, line in enumerate(lines))
        self.waiting = [
            (row, comment["text"].strip())
            for row, comment in found
            if comment and not _DECORATION.fullmatch(comment["text"])
        ]
        self.position = 0

    def before(self, row: int, tree: Tree) -> None:
        """Put the comments that stand above a line into a tree."""
        while self.position < len(self.waiting) and self.waiting[self.position][0] < row:
            line, text = self.waiting[self.position]
            tree.children.append(Leaf(f"# {text}", line + 1, is_comment=True))
            self.position += 1

    def skip_to(self, row: int) -> None:
        """Pass over what looks like comments inside a value."""
        while self.position < len(self.waiting) and self.waiting[self.position][0] < row:
            self.position += 1
