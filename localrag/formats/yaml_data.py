"""YAML: records of ``path: value`` lines with the comments, each with its line in the file.

Only events of the parser are used: no tag is constructed, and an alias is named, never expanded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import yaml

from localrag.formats.as_written import as_written
from localrag.formats.assembly import Assembly
from localrag.formats.data_tree import DEEPEST, Leaf, Tree, add_records, label_of, name_of
from localrag.formats.encoding import decode
from localrag.formats.spans import stem_of
from localrag.records import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        documents = list(_documents(source))
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


def _documents(source: str) -> Iterator[Tree | Leaf]:
    comments = _Comments(source)
    open_trees: list[Tree] = []
    keys: list[str | None] = []
    """For each open tree the key that waits for its value; None in lists."""
    for event in yaml.parse(source, Loader=_LOADER):
        if isinstance(event, yaml.DocumentStartEvent):
            root = Tree(event.start_mark.line + 1)
            open_trees, keys = [root], [""]
        elif isinstance(event, yaml.DocumentEndEvent):
            comments.before(event.start_mark.line, root)
            yield _unwrapped(root)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            if len(open_trees) > DEEPEST:
                raise ValueError(f"nested more than {DEEPEST} levels")
            comments.before(event.start_mark.line, open_trees[-1])
            is_list = isinstance(event, yaml.SequenceStartEvent)
            tree = Tree(event.start_mark.line + 1, _label(open_trees[-1], keys), is_list=is_list)
            open_trees[-1].children.append(tree)
            open_trees.append(tree)
            keys.append(None)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            closed = open_trees.pop()
            keys.pop()
            _close(open_trees[-1], closed)
        elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
            _scalar(event, open_trees[-1], keys, comments)


def _scalar(
    event: yaml.ScalarEvent | yaml.AliasEvent,
    tree: Tree,
    keys: list[str | None],
    comments: _Comments,
) -> None:
    line = event.start_mark.line
    is_alias = isinstance(event, yaml.AliasEvent)
    text = f"*{event.anchor}" if is_alias else event.value
    comments.before(line, tree)
    if not tree.is_list and keys[-1] is None:
        keys[-1] = text
        return
    is_block = not is_alias and event.style == "|"
    if not is_alias:
        comments.skip_to(event.end_mark.line)
    label = _label(tree, keys)
    tree.children.append(Leaf(text.rstrip("\n"), line + 1, label, exact=is_block))


def _label(tree: Tree, keys: list[str | None]) -> str:
    """Return the label of the next child, and expect the next key."""
    if tree.is_list:
        return f"[{sum(isinstance(one, Tree) or not one.is_comment for one in tree.children)}]"
    key, keys[-1] = keys[-1], None
    return label_of(key) if key else ""


def _close(parent: Tree, tree: Tree) -> None:
    """Write a list of a few short values on one line, and an empty tree as what it is."""
    leaves = [child for child in tree.children if isinstance(child, Leaf)]
    if not tree.children:
        parent.children[-1] = Leaf("[]" if tree.is_list else "{}", tree.line, tree.label)
    elif (
        tree.is_list
        and len(leaves) == len(tree.children)
        and all(not leaf.is_comment and "\n" not in leaf.text for leaf in leaves)
        and sum(len(leaf.text) for leaf in leaves) <= 200
    ):
        shown = ", ".join(leaf.text for leaf in leaves)
        parent.children[-1] = Leaf(shown, tree.line, tree.label)


def _unwrapped(root: Tree) -> Tree | Leaf:
    """Return the only value of a document, with the comments in front of it inside it."""
    *comments, tree = root.children or [Leaf("", root.line)]
    if isinstance(tree, Leaf) or not all(isinstance(one, Leaf) for one in comments):
        return root
    tree.children[:0] = comments
    return tree


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
