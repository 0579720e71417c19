"""`localrag reembed`: change a file over to another bi-encoder."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from localrag.cli.options import database_option, json_option, model_option
from localrag.cli.output import print_json, shown_path
from localrag.cli.report import progress_bar
from localrag.errors import Cancelled

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.records import ReembedReport

__all__ = ["reembed"]


@click.command()
@database_option
@model_option
@click.option("--dry-run", is_flag=True, help="Say how much there is to do, and do nothing.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress bar and no report.")
@json_option
def reembed(
    database: Path, model: str | None, *, dry_run: bool, quiet: bool, as_json: bool
) -> None:
    """Change a knowledge base over to another bi-encoder.

    The texts in the file are embedded anew; the source files are not needed, and neither is the
    former model. Searches use the former vectors until all new ones are there; then one
    transaction exchanges them. After Ctrl-C or a crash the same command goes on.
    """
    from localrag.inference.load import open_embedder  # noqa: PLC0415 - keeps --help light
    from localrag.ingest.reembed import reembed_file  # noqa: PLC0415

    embedder = open_embedder(model)
    try:
        with progress_bar(hidden=quiet or dry_run, doing="Embedding") as progress:
            report = reembed_file(database, embedder, dry_run=dry_run, progress=progress)
    except KeyboardInterrupt:
        raise Cancelled(
            "Stopped. What was embedded is kept, and searches use the former vectors; run the same "
            "command to go on."
        ) from None
    finally:
        embedder.close()
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        print_report(report, database)


def print_report(report: ReembedReport, database: Path) -> None:
    """Print what was done, or what there is to do."""
    kept = f", {report.reused:,} kept from an earlier run" if report.reused else ""
    if report.swapped and not report.embedded and not report.reused:
        click.echo(f"{shown_path(str(database))} is already searched with {report.model}.")
    elif report.swapped:
        rate = report.tokens / report.seconds if report.seconds else 0.0
        click.echo(
            f"{report.embedded:,} texts, {report.tokens:,} tokens embedded in {report.seconds:.1f} "
            f"s ({rate:,.0f} tokens/s){kept}"
        )
        click.echo(
            f"{shown_path(str(database))} is searched with {report.model} from now on "
            f"({report.dimensions} dimensions, {report.chunks:,} chunks)."
        )
    elif not report.embedded and not report.reused:
        click.echo(f"Nothing to do: {shown_path(str(database))} is searched with {report.model}.")
    else:
        click.echo(
            f"{report.embedded:,} texts, {report.tokens:,} tokens to embed with {report.model} "
            f"({report.dimensions} dimensions){kept}. Meanwhile "
            f"{shown_path(str(database))} grows by about {report.bytes / 1e6:,.1f} MB."
        )
