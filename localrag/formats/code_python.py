"""Definitions in Python, by its own parser."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from localrag.formats.code_definitions import Definition, with_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["definitions_of_python"]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def definitions_of_python(source: str, lines: Sequence[str]) -> list[Definition] | None:
    """Return classes, functions and methods; None where this Python cannot parse the source."""
    try:
        with warnings.catch_warnings():
            # What the code would be warned of is its author's affair.
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        return sorted(_definitions(tree, lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _definitions(tree: ast.Module, lines: Sequence[str]) -> Iterator[Definition]:
    # Functions within functions are not looked for: they mean nothing without them.
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, _DEFINITIONS):
            first = min((node.lineno, *(one.lineno for one in node.decorator_list)))
            end = node.end_lineno or node.lineno
            yield Definition(with_comments(lines, first - 1), end, node.name)
            if isinstance(node, ast.ClassDef):
                pending += node.body
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            pending += (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt))
