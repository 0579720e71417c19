"""Options that several commands share, and how they open the file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localrag.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.knowledge_base import KnowledgeBase

__all__ = [
    "EXIT_NOTHING_FOUND",
    "Duration",
    "budget_option",
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


class Duration(click.ParamType):
    """A time such as ``300ms`` or ``1.5s``; becomes seconds. A bare number is milliseconds."""

    name = "duration"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return `value` in seconds."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|s)?", str(value).strip())
        seconds = float(match[1]) / (1 if match[2] == "s" else 1000) if match else 0.0
        if not seconds > 0:
            self.fail(f"{value!r} is not a time above 0. Write it like 300ms or 1.5s.", param, ctx)
        return seconds


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
budget_option: Callable[[Command], Command] = click.option(
    "--budget",
    type=Duration(),
    metavar="TIME",
    help="Most time for reading candidates, such as 300ms: the best are read first, and those for "
    "which no time is left follow behind. Without it all are read.",
)
explain_option: Callable[[Command], Command] = click.option(
    "--explain", is_flag=True, help="Also show what every stage let through."
)


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
