"""Options that several commands share, and how they open the file."""

from __future__ import annotations

import os
import re
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
    "OrderedGroup",
    "budget_option",
    "chunking_options",
    "chunking_settings",
    "database_option",
    "dry_run_option",
    "explain_option",
    "json_option",
    "label_option",
    "mode_option",
    "model_option",
    "open_for_reading",
    "open_for_writing",
    "path_option",
    "quiet_option",
    "reader_seconds_option",
    "rerank_option",
    "reranker_option",
    "seconds",
    "shell_pattern",
    "watch_option",
    "where_option",
]

EXIT_NOTHING_FOUND = 3


class OrderedGroup(click.Group):
    """A group that lists its commands in the order in which a user needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were added."""
        del ctx
        return list(self.commands)


Command = Any
"""A function on its way to become a click command."""


def seconds(
    _ctx: click.Context | None, _param: click.Parameter | None, value: str | None
) -> float | None:
    """Return a time such as ``300ms`` or ``1.5s`` in seconds; a bare number is milliseconds.

    Raises:
        click.BadParameter: it is not a time above 0.
    """
    if value is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|s)?", value.strip())
    number = float(match[1]) / (1 if match[2] == "s" else 1000) if match else 0.0
    if not number > 0:
        raise click.BadParameter(f"{value!r} is not a time above 0. Write it like 300ms or 1.5s.")
    return number


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
model_option: Callable[[Command], Command] = click.option(
    "--model",
    metavar="NAME",
    envvar="LOCALRAG_MODEL",
    show_envvar=True,
    help="Bi-encoder: a name that `localrag models list` shows, a folder, a card, or "
    "http://HOST/v1#MODEL. The file keeps a local one's name; without it, the one that ships.",
)
reranker_option: Callable[[Command], Command] = click.option(
    "--reranker",
    metavar="NAME",
    envvar="LOCALRAG_RERANKER",
    show_envvar=True,
    help="Cross-encoder to rerank with, named like --model. `index` keeps it for later queries.",
)
budget_option: Callable[[Command], Command] = click.option(
    "--budget",
    callback=seconds,
    metavar="TIME",
    help="Most time for reading candidates, such as 300ms: the best are read first, and those for "
    "which no time is left follow behind. No limit by default.",
)
explain_option: Callable[[Command], Command] = click.option(
    "--explain", is_flag=True, help="Also show what every stage let through."
)


dry_run_option: Callable[[Command], Command] = click.option(
    "--dry-run", is_flag=True, help="Say what would happen, and write nothing."
)
reader_seconds_option: Callable[[Command], Command] = click.option(
    "--reader-seconds",
    type=click.IntRange(min=1),
    help="Longest time that reading a file may take, or each page of it that is a picture; 120 "
    "unless given.",
)
watch_option: Callable[[Command], Command] = click.option(
    "--watch", "watching", is_flag=True, help="Go on and follow changes until Ctrl-C."
)
quiet_option: Callable[[Command], Command] = click.option(
    "--quiet", "-q", is_flag=True, help="Show no progress bar and no report."
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


def chunking_options(command: Command) -> Command:
    """Add the options that say how documents are cut: `chunking_settings` reads them."""
    for option in reversed(CHUNKING_OPTIONS):
        command = option(command)
    return command


CHUNKING_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--chunking",
        # Written out, as `Settings` would have to be imported for them; a test compares them.
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


def open_for_reading(
    path: Path,
    model: str | None = None,
    reranker: str | None = None,
    *,
    settings: Settings | None = None,
) -> KnowledgeBase:
    """Open an existing file; read-only where it may not be written.

    Args:
        path: the file.
        model: name, folder or address of the bi-encoder that the file was made with.
        reranker: name, folder or address of a cross-encoder to use instead of the file's own.
        settings: sizes and limits; the file keeps the ones it was made with.

    Raises:
        KnowledgeBaseError: there is no such file: a search must not make an empty one.
        ModelError: there is no such model.
    """
    writable = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    read_only = path.exists() and not writable
    return open_for_writing(path, model, reranker, read_only=read_only, settings=settings)


def open_for_writing(
    path: Path,
    model: str | None = None,
    reranker: str | None = None,
    *,
    read_only: bool = False,
    settings: Settings | None = None,
) -> KnowledgeBase:
    """Open an existing file, to write to it unless `read_only`; arguments as in `open_for_reading`.

    Raises:
        KnowledgeBaseError: there is no such file: only indexing makes one.
    """
    from localrag.knowledge_base import KnowledgeBase  # noqa: PLC0415 - keeps --help light

    if not path.exists():
        raise KnowledgeBaseError(
            f"{path} does not exist. Make it first: localrag index FOLDER --db {path}"
        )
    return KnowledgeBase(
        path, read_only=read_only, settings=settings, embedder=model, reranker=reranker
    )
