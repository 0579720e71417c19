"""`localrag index`: bring the file in line with folders and files."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localrag.cli.options import (
    chunking_options,
    chunking_settings,
    database_option,
    json_option,
)
from localrag.cli.output import print_json, shown_path
from localrag.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.records import Progress, ProgressCallback, SyncReport

__all__ = ["index"]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@database_option
@chunking_options
@click.option("--quiet", "-q", is_flag=True, help="Show no progress bar and no report.")
@json_option
def index(
    paths: tuple[Path, ...],
    database: Path,
    *,
    quiet: bool,
    as_json: bool,
    **chunking: str | int | None,
) -> None:
    """Index files and folders; a second run touches only what changed.

    Markdown and plain text are read, in folders within folders too; hidden files are left out. A
    file that cannot be read is skipped, with the reason, and the run goes on. A document whose file
    is gone is removed. Ctrl-C leaves a valid knowledge base: run the same command to go on.

    How documents are cut is decided when --db is made: a later run needs no such option, and is
    refused with another one.
    """
    from localrag.knowledge_base import KnowledgeBase  # noqa: PLC0415 - keeps --help light

    for path in paths:
        if not os.path.lexists(path):  # before a file is made for nothing
            raise click.UsageError(f"'{path}' does not exist. Check the path and run it again.")
    settings = chunking_settings(chunking)
    with KnowledgeBase(database, settings=settings) as kb, progress_bar(hidden=quiet) as progress:
        try:
            report = kb.sync(*paths, progress=progress)
        except KeyboardInterrupt:
            raise Cancelled(
                "Stopped. What was indexed is kept; run the same command to go on."
            ) from None
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        print_report(report, database)


@contextmanager
def progress_bar(*, hidden: bool) -> Iterator[ProgressCallback | None]:
    """Show files done, rate and time left on standard error, if that is a terminal."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich_progress  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415 - only an interactive run needs it

    columns = (
        rich_progress.TextColumn("Indexing"),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TextColumn("{task.fields[rate]}"),
        rich_progress.TimeRemainingColumn(),
        rich_progress.TextColumn("{task.fields[file]}"),
    )
    with rich_progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, rate="", file="")

        def show(progress: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 1.0
            rate = f"{progress.chunks / elapsed:,.0f} chunks/s"
            name = Path(progress.current).name[-40:]
            bar.update(task, completed=progress.done, total=progress.total, rate=rate, file=name)

        yield show


def print_report(report: SyncReport, database: Path) -> None:
    """Print what the run did, and what to do about what was skipped."""
    counts = {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "skipped": report.skipped,
    }
    done = ", ".join(f"{len(items)} {name}" for name, items in counts.items() if items)
    click.echo(done or "There is no file to index. Check the path and run it again.")
    if report.chunks:
        rate = report.tokens / report.seconds if report.seconds else 0.0
        click.echo(
            f"{report.chunks:,} chunks, {report.tokens:,} tokens embedded in "
            f"{report.seconds:.1f} s ({rate:,.0f} tokens/s) -> {shown_path(str(database))}"
        )
    for reason, count in Counter(item.reason for item in report.skipped).most_common():
        examples = [item for item in report.skipped if item.reason == reason][:3]
        click.echo(f"skipped, {reason}: {count}")
        for item in examples:
            click.echo(f"  {shown_path(item.uri)}: {item.detail}")
