"""Options that several commands share, and how they open the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localrag.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.knowledge_base import KnowledgeBase

__all__ = [
    "EXIT_NOTHING_FOUND",
    "database_option",
    "explain_option",
    "json_option",
    "label_option",
    "mode_option",
    "open_for_reading",
    "path_option",
    "rerank_option",
    "shell_pattern",
    "where_option",
]

EXIT_NOTHING_FOUND = 3

Command = Any
"""A function on its way to become a click command."""

database_option: Callable[[Command], Command] = click.option(
    "--db",
    "database",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("localrag.db"),
    envvar="LOCALRAG_DB",
    show_default=True,
    show_envvar=True,
    help="The knowledge base, one file.",
)
json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of text."
)
mode_option: Callable[[Command], Command] = click.option(
    "--mode",
    type=click.Choice(["lexical", "vector", "hybrid"]),
    default="hybrid",
    show_default=True,
    help="Find by words (BM25), by meaning (vectors), or by both.",
)
rerank_option: Callable[[Command], Command] = click.option(
    "--rerank/--no-rerank",
    default=True,
    show_default=True,
    help="Have a second model, the cross-encoder, read the best candidates and order them.",
)
explain_option: Callable[[Command], Command] = click.option(
    "--explain", is_flag=True, help="Also show what every stage let through."
)


where_option: Callable[[Command], Command] = click.option(
    "--where",
    metavar="EXPRESSION",
    help="""Only documents of which this is true: 'year >= 2024 and lang = "ja"'.""",
)
path_option: Callable[[Command], Command] = click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PATTERN",
    help="Only documents whose path matches, such as 'notes/**'; repeat it for more.",
)
label_option: Callable[[Command], Command] = click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="Of the documents with access labels, only those with this one; repeat it for more.",
)


def shell_pattern(pattern: str) -> str:
    """Return a pattern of paths; one that begins at ``.`` or ``~`` is taken from there."""
    expanded = os.path.expanduser(pattern)  # noqa: PTH111 - a pattern is no path
    if expanded.startswith(("./", "../")):
        return os.path.abspath(expanded)  # noqa: PTH100 - same
    return expanded


def open_for_reading(path: Path) -> KnowledgeBase:
    """Open an existing file; read-only where it may not be written.

    Raises:
        KnowledgeBaseError: there is no such file: a search must not make an empty one.
    """
    from localrag.knowledge_base import KnowledgeBase  # noqa: PLC0415 - keeps --help light

    if not path.exists():
        raise KnowledgeBaseError(
            f"{path} does not exist. Make it first: localrag index FOLDER --db {path}"
        )
    writable = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    return KnowledgeBase(path, read_only=not writable)
