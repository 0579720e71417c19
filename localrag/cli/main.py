"""`localrag`: the command group, and what happens when a command fails.

Exit codes: 0 done, 1 an error, 2 a wrong call, 3 nothing found, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from localrag import __version__
from localrag.cli.ask import ask
from localrag.cli.chunks import chunks
from localrag.cli.compact import compact
from localrag.cli.doctor import doctor
from localrag.cli.glossary import glossary
from localrag.cli.index import index
from localrag.cli.models import models
from localrag.cli.options import OrderedGroup
from localrag.cli.reembed import reembed
from localrag.cli.remove import remove
from localrag.cli.search import search
from localrag.cli.skipped import skipped
from localrag.cli.status import status
from localrag.cli.sync import sync
from localrag.cli.trace import trace
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


@click.group(
    cls=Commands,
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


for command in (
    index,
    sync,
    search,
    ask,
    trace,
    chunks,
    status,
    skipped,
    glossary,
    remove,
    compact,
    reembed,
    models,
    doctor,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line, with UTF-8 output whatever the terminal's locale is."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    cli()
