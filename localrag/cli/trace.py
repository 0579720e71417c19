"""`localrag trace`: what every stage of a query let through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from localrag.cli.options import database_option, json_option, model_option, open_for_reading
from localrag.cli.output import print_json, print_trace, trace_json
from localrag.errors import LocalragError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["trace"]


@click.command()
@click.argument("trace_id", type=int, required=False)
@database_option
@model_option
@click.option(
    "--lines", type=click.IntRange(0), default=10, show_default=True, help="Chunks shown per stage."
)
@click.option("--all", "all_lines", is_flag=True, help="Show every chunk, whatever --lines says.")
@json_option
def trace(  # noqa: PLR0913 - click hands over each option by name
    trace_id: int | None,
    database: Path,
    model: str | None,
    lines: int,
    *,
    all_lines: bool,
    as_json: bool,
) -> None:
    """Show what every stage of the last query let through.

    With TRACE_ID, show that of an earlier query. The ids count up from 1; `search` and `ask` give
    theirs with --json.
    """
    with open_for_reading(database, model) as kb:
        found = kb.trace(trace_id)
        if found is None:
            raise LocalragError(missing(trace_id, database))
        chunks = kb.chunks(found.chunk_ids)
    if as_json:
        print_json(trace_json(found, chunks))
    else:
        print_trace(found, chunks, None if all_lines else lines)


def missing(trace_id: int | None, database: Path) -> str:
    """Return what to say when there is nothing to show."""
    if trace_id is None:
        return f"No query was kept in {database}. Run localrag search or localrag ask first."
    return (
        f"There is no trace {trace_id} in {database}. Without a number, localrag trace shows the "
        "last query."
    )
