"""`localrag trace`: what every stage of a query let through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from localrag.cli.options import database_option, json_option, open_for_reading
from localrag.cli.output import print_json, print_trace, trace_json
from localrag.errors import LocalragError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["trace"]


@click.command()
@click.argument("trace_id", type=int, required=False)
@database_option
@click.option(
    "--lines", type=click.IntRange(0), default=10, show_default=True, help="Chunks shown per stage."
)
@click.option("--all", "all_lines", is_flag=True, help="Show every chunk.")
@json_option
def trace(
    trace_id: int | None, database: Path, lines: int, *, all_lines: bool, as_json: bool
) -> None:
    """Show the trace of the last query, or of TRACE_ID."""
    with open_for_reading(database) as kb:
        found = kb.trace(trace_id)
        if found is None:
            which = "No query was kept" if trace_id is None else f"There is no trace {trace_id}"
            raise LocalragError(f"{which} in {database}. Run a search, then localrag trace.")
        chunks = kb.chunks({c.chunk_id for stage in found.stages for c in stage.survivors})
    if as_json:
        print_json(trace_json(found, chunks))
    else:
        print_trace(found, chunks, None if all_lines else lines)
