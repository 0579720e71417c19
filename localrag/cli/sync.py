"""`localrag sync`: repeat what was indexed before."""

from __future__ import annotations

from pathlib import Path

import click

from localrag.cli.options import (
    chunking_settings,
    database_option,
    dry_run_option,
    json_option,
    open_for_writing,
    quiet_option,
    reader_seconds_option,
    watch_option,
)
from localrag.cli.report import interruptible, progress_bar, teller, watch

__all__ = ["sync"]


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@database_option
@reader_seconds_option
@dry_run_option
@watch_option
@quiet_option
@json_option
def sync(  # noqa: PLR0913 - click hands over each option by name
    paths: tuple[Path, ...],
    database: Path,
    *,
    reader_seconds: int | None,
    dry_run: bool,
    watching: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Repeat what was indexed, with the same patterns: everything, or the paths given.

    A folder that is not there is reported and its documents stay, since a disk may not be plugged
    in: localrag remove takes them out.
    """
    if dry_run and watching:
        raise click.UsageError("--dry-run and --watch exclude each other.")
    tell = teller(database, as_json=as_json, quiet=quiet, watching=watching)
    settings = chunking_settings({"reader_seconds": reader_seconds})
    with open_for_writing(database, read_only=dry_run, settings=settings) as kb:
        if watching:
            watch(kb, paths, tell)
            return
        with interruptible(), progress_bar(hidden=quiet) as progress:
            tell(kb.refresh(*paths, dry_run=dry_run, progress=progress))
