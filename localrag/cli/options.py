"""Options that several commands share, and how they open the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localrag.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from localrag.config import Settings
    from localrag.knowledge_base import KnowledgeBase

__all__ = [
    "EXIT_NOTHING_FOUND",
    "chunking_options",
    "chunking_settings",
    "database_option",
    "explain_option",
    "json_option",
    "mode_option",
    "open_for_reading",
    "rerank_option",
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


def chunking_options(command: Command) -> Command:
    """Add the options that say how documents are cut: `chunking_settings` reads them."""
    for option in reversed(CHUNKING_OPTIONS):
        command = option(command)
    return command


CHUNKING_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--chunking",
        # Written out, as pydantic would have to be imported for them; a test compares them.
        type=click.Choice(["structural", "fixed", "sentence-window", "parent-child", "record"]),
        help="How documents are cut; structural unless given. See docs/chunking.md.",
    ),
    click.option(
        "--context-line",
        type=click.Choice(["full", "words", "title", "none"]),
        help="What stands above each chunk: title and headings (full), the same but not in the "
        "vectors (words), the title alone, or nothing; full unless given.",
    ),
    click.option(
        "--chunk-tokens",
        type=int,
        help="Most tokens of a chunk; 300 unless given, 100 for sentence-window, parent-child and "
        "record.",
    ),
    click.option(
        "--overlap-tokens",
        type=int,
        help="Tokens that neighbouring chunks share; 50 unless given.",
    ),
)


def chunking_settings(given: Mapping[str, str | int | None]) -> Settings:
    """Return the settings that `chunking_options` were given.

    Raises:
        SettingsError: a value is out of range, or two do not fit.
    """
    from localrag.config import make_settings  # noqa: PLC0415 - keeps --help light

    return make_settings(**{name: value for name, value in given.items() if value is not None})


def open_for_reading(path: Path, settings: Settings | None = None) -> KnowledgeBase:
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
    return KnowledgeBase(path, read_only=not writable, settings=settings)
