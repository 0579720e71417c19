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
    "dry_run_option",
    "explain_option",
    "json_option",
    "mode_option",
    "open_for_reading",
    "open_for_writing",
    "quiet_option",
    "rerank_option",
    "watch_option",
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


dry_run_option: Callable[[Command], Command] = click.option(
    "--dry-run", is_flag=True, help="Say what would happen, and write nothing."
)
watch_option: Callable[[Command], Command] = click.option(
    "--watch", "watching", is_flag=True, help="Go on and follow changes until Ctrl-C."
)
quiet_option: Callable[[Command], Command] = click.option(
    "--quiet", "-q", is_flag=True, help="Show no progress bar and no report."
)


def open_for_reading(path: Path) -> KnowledgeBase:
    """Open an existing file; read-only where it may not be written.

    Raises:
        KnowledgeBaseError: there is no such file: a search must not make an empty one.
    """
    writable = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    return open_for_writing(path, read_only=path.exists() and not writable)


def open_for_writing(path: Path, *, read_only: bool = False) -> KnowledgeBase:
    """Open an existing file, to write to it unless `read_only`.

    Raises:
        KnowledgeBaseError: there is no such file: only indexing makes one.
    """
    from localrag.knowledge_base import KnowledgeBase  # noqa: PLC0415 - keeps --help light

    if not path.exists():
        raise KnowledgeBaseError(
            f"{path} does not exist. Make it first: localrag index FOLDER --db {path}"
        )
    return KnowledgeBase(path, read_only=read_only)
