"""How a run of the indexer looks on a terminal and in JSON, while it goes on and afterwards."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localrag.cli.output import print_json, shown_path
from localrag.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import Progress, ProgressCallback, Skipped, SyncReport

__all__ = ["interruptible", "print_report", "print_skipped", "progress_bar", "teller", "watch"]

EXAMPLES = 3
"""Files shown of each reason to skip; `localrag skipped` shows all."""
MOST_CHANGES = 20
"""Files shown by a dry run of each kind of change; its JSON has all."""


@contextmanager
def progress_bar(*, hidden: bool, doing: str = "Indexing") -> Iterator[ProgressCallback | None]:
    """Show what is done, rate and time left on standard error, if that is a terminal."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich_progress  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415 - only an interactive run needs it

    columns = (
        rich_progress.TextColumn(doing),
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


@contextmanager
def interruptible() -> Iterator[None]:
    """Say after Ctrl-C how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise Cancelled(
            "Stopped. What was indexed is kept; run the same command to go on."
        ) from None


def print_report(report: SyncReport, database: Path, *, as_json: bool = False) -> None:
    """Print what the run did, and what to do about what was skipped."""
    if as_json:
        print_json(asdict(report))
        return
    counts = {
        "added": report.added,
        "updated": report.updated,
        "moved": report.moved,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "skipped": report.skipped,
    }
    done = ", ".join(f"{len(items)} {name}" for name, items in counts.items() if items)
    done = done or (
        "There is no file to index. Check the path, --include and --exclude, and what .gitignore "
        "and .localragignore files leave out."
    )
    click.echo(f"Nothing was written. It would be: {done}" if report.dry_run else done)
    if report.dry_run:
        print_changes(report)
    elif report.chunks:
        rate = report.tokens / report.seconds if report.seconds else 0.0
        click.echo(
            f"{report.chunks:,} chunks, {report.tokens:,} tokens embedded in "
            f"{report.seconds:.1f} s ({rate:,.0f} tokens/s) -> {shown_path(str(database))}"
        )
    print_skipped(report.skipped, EXAMPLES)


def print_changes(report: SyncReport) -> None:
    """Print which documents a run would change."""
    moved = [f"{shown_path(move.old)} -> {shown_path(move.new)}" for move in report.moved]
    for name, shown in (
        ("add", [shown_path(uri) for uri in report.added]),
        ("update", [shown_path(uri) for uri in report.updated]),
        ("move", moved),
        ("remove", [shown_path(uri) for uri in report.removed]),
    ):
        for text in shown[:MOST_CHANGES]:
            click.echo(f"  {name:<6} {text}")
        if len(shown) > MOST_CHANGES:
            click.echo(f"  {name:<6} … and {len(shown) - MOST_CHANGES:,} more (--json shows all)")


def print_skipped(skipped: Sequence[Skipped], examples: int | None) -> None:
    """Print the reasons, the commonest first, with the first files of each; all where None."""
    for reason, count in Counter(item.reason for item in skipped).most_common():
        click.echo(f"skipped, {reason}: {count}")
        for item in [item for item in skipped if item.reason == reason][:examples]:
            click.echo(f"  {shown_path(item.uri)}: {item.detail}")
        if examples is not None and count > examples:
            click.echo(f"  … and {count - examples:,} more: localrag skipped")


def watch(
    kb: KnowledgeBase,
    paths: Sequence[Path],
    tell: Callable[[SyncReport], None],
    before: SyncReport | None = None,
) -> None:
    """Follow changes until Ctrl-C, and tell each run that changed something since `before`."""
    try:
        for number, report in enumerate(kb.watch(*paths)):
            if before is None or report.changed or report.skipped != before.skipped:
                tell(report)
            if not number:
                click.echo("Watching for changes; Ctrl-C ends it.", err=True)
            before = report
    except KeyboardInterrupt:
        click.echo("Stopped watching. What was indexed is kept.", err=True)


def teller(
    database: Path, *, as_json: bool, quiet: bool, watching: bool
) -> Callable[[SyncReport], None]:
    """Return how reports are told: in a watch with JSON one line each, as they come."""
    if quiet:
        return lambda _: None
    if watching and as_json:
        return lambda report: click.echo(json.dumps(asdict(report), ensure_ascii=False))
    return lambda report: print_report(report, database, as_json=as_json)
