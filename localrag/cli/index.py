"""`localrag index`: bring the file in line with folders and files."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localrag.cli.options import database_option, json_option
from localrag.cli.output import print_json, shown_path
from localrag.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from localrag.records import Progress, ProgressCallback, SyncReport

__all__ = ["index"]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@database_option
@click.option(
    "--chunk-tokens",
    type=int,
    help="Most tokens of a chunk; 300 unless given. For a new --db only.",
)
@click.option(
    "--overlap-tokens",
    type=int,
    help="Tokens that neighbouring chunks share; 50 unless given. For a new --db only.",
)
@click.option(
    "--meta",
    "metadata",
    multiple=True,
    metavar="KEY=VALUE",
    help="Give every document of PATHS this property, for --where; repeat it for more.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="Give every document of PATHS this access label, for --label; repeat it for more.",
)
@click.option(
    "--path-pattern",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Make properties of the parts that a path names, as in 'clients/{client}/{year}/**', "
    "counted from PATHS; repeat it for more.",
)
@click.option(
    "--reset-properties",
    is_flag=True,
    help="Forget the --meta, --label and --path-pattern of earlier runs, which are kept otherwise.",
)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress bar and no report.")
@json_option
def index(  # noqa: PLR0913 - click hands over each option by name
    paths: tuple[Path, ...],
    database: Path,
    chunk_tokens: int | None,
    overlap_tokens: int | None,
    *,
    metadata: tuple[str, ...],
    labels: tuple[str, ...],
    patterns: tuple[str, ...],
    reset_properties: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Index files and folders; a second run touches only what changed.

    Markdown and plain text are read, in folders within folders too; hidden files are left out. A
    file that cannot be read is skipped, with the reason, and the run goes on. A document whose file
    is gone is removed. Ctrl-C leaves a valid knowledge base: run the same command to go on.
    """
    from localrag.config import make_settings  # noqa: PLC0415 - keeps --help light
    from localrag.knowledge_base import KnowledgeBase  # noqa: PLC0415

    for path in paths:
        if not os.path.lexists(path):  # before a file is made for nothing
            raise click.UsageError(f"'{path}' does not exist. Check the path and run it again.")
    properties: dict[str, Any] = {
        "metadata": key_values(metadata),
        "labels": labels,
        "path_patterns": patterns,
    }
    if not reset_properties:  # what is not given stays as it was
        properties = {name: value or None for name, value in properties.items()}
    sizes = {"chunk_tokens": chunk_tokens, "overlap_tokens": overlap_tokens}
    settings = make_settings(**{key: size for key, size in sizes.items() if size is not None})
    with KnowledgeBase(database, settings=settings) as kb, progress_bar(hidden=quiet) as progress:
        try:
            report = kb.sync(*paths, **properties, progress=progress)
        except KeyboardInterrupt:
            raise Cancelled(
                "Stopped. What was indexed is kept; run the same command to go on."
            ) from None
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        print_report(report, database)
    if not quiet:
        for pattern in without_match(patterns, paths, report):
            click.echo(
                f"--path-pattern '{pattern}' matches no file. It is counted from the folder that "
                "is indexed: below docs, the file docs/acme/2024/a.md is acme/2024/a.md.",
                err=True,
            )


def without_match(
    patterns: Iterable[str], paths: Iterable[Path], report: SyncReport
) -> Iterator[str]:
    """Yield the patterns that match none of the documents of a run."""
    from localrag.text.globs import named_parts  # noqa: PLC0415 - keeps --help light

    roots = [path.absolute() for path in paths]
    uris = map(Path, (*report.added, *report.updated, *report.unchanged))
    relative = [
        uri.relative_to(root).as_posix() if uri != root else uri.name
        for uri in uris
        for root in roots
        if uri.is_relative_to(root)
    ]
    for pattern in patterns:
        if not any(named_parts(pattern, path) for path in relative):
            yield pattern


def key_values(pairs: Iterable[str]) -> dict[str, object]:
    """Return ``key=value`` texts as a mapping; what looks like a number is one.

    Raises:
        UsageError: a text has no key or no equals sign.
    """
    from localrag.text.values import typed_value  # noqa: PLC0415 - keeps --help light

    values: dict[str, object] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f"--meta {pair!r} is not KEY=VALUE. Write --meta team=sales.")
        values[key.strip()] = typed_value(value.strip())
    return values


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
