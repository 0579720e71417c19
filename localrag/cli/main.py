"""`localrag`: the command group, and what happens when a command fails.

Exit codes: 0 done, 1 an error, 2 a wrong call, 3 nothing found, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

import click

from localrag import __version__
from localrag.cli.options import OrderedGroup
from localrag.errors import Cancelled, LocalragError

__all__ = ["cli", "main"]

EXIT_ERROR = 1
EXIT_STOPPED = 130


class Commands(OrderedGroup):
    """All commands, and what happens when one fails."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run a command; turn our errors into one line on standard error."""
        try:
            return super().invoke(ctx)
        except Cancelled as stopped:
            click.echo(str(stopped), err=True)
            ctx.exit(EXIT_STOPPED)
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            ctx.exit(EXIT_STOPPED)
        except LocalragError as error:
            click.echo(f"{click.style('Error:', fg='red')} {error}", err=True)
            ctx.exit(EXIT_ERROR)


class LazyCommands(MutableMapping[str, click.Command]):
    """Commands by their names, each imported from the module of its name when it is used.

    A search would spend a fortieth of a second on the other commands' modules.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._made: dict[str, click.Command | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> click.Command:
        """Return the command `name`. KeyError: there is none."""
        made = self._made[name]
        if made is None:
            module = importlib.import_module(f"localrag.cli.{name}")
            made = self._made[name] = getattr(module, name)
        return made

    def __setitem__(self, name: str, command: click.Command) -> None:
        """Add or replace a command."""
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        """Take a command out. KeyError: there is none."""
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names, in the order in which a user needs them."""
        return iter(self._made)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(self._made)


NAMES = (
    *("index", "sync", "search", "ask", "trace", "chunks", "status", "skipped", "glossary"),
    *("remove", "compact", "reembed", "models", "doctor"),
)


@click.group(
    cls=Commands,
    commands=LazyCommands(NAMES),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 error, 2 wrong call, 3 nothing found, 130 stopped.",
)
@click.version_option(__version__, prog_name="localrag")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Answer questions from your own documents, offline, from one SQLite file.

    \b
    localrag index ~/notes --db notes.db
    localrag search "rotate keys" --db notes.db
    localrag ask "how do I rotate keys?" --db notes.db
    """  # noqa: D301 - \b keeps click from re-wrapping the examples
    if "NO_COLOR" in os.environ:  # https://no-color.org
        ctx.color = False


def main() -> None:
    """Run the command line, with UTF-8 output whatever the terminal's locale is."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    try:
        cli()
    finally:
        # The process ends: to look through all objects once more for what nobody needs takes 15 ms.
        gc.freeze()
