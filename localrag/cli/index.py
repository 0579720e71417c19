"""`localrag index`: bring the file in line with folders and files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from localrag.cli.options import (
    chunking_options,
    chunking_settings,
    database_option,
    dry_run_option,
    json_option,
    model_option,
    quiet_option,
    reader_seconds_option,
    reranker_option,
    watch_option,
)
from localrag.cli.report import interruptible, progress_bar, teller, watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from localrag.config import Settings
    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import SyncReport

__all__ = ["index"]

MEGABYTE = 1_000_000


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@database_option
@click.option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Take only files that match, as in .gitignore: '*.md', 'notes/**'. May be repeated.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Leave out what matches, as in .gitignore: 'drafts/', '*.log'. May be repeated.",
)
@click.option(
    "--max-mb",
    type=click.FloatRange(min=0, min_open=True),
    help="Skip files larger than this many megabytes; 50 unless given.",
)
@reader_seconds_option
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
@chunking_options
@click.option(
    "--vectors",
    # Written out, as `Settings` would have to be imported for them; a test compares them.
    type=click.Choice(["int8", "float32"]),
    help="How embeddings are kept: one byte per dimension, or four; int8 unless given.",
)
@model_option
@reranker_option
@dry_run_option
@watch_option
@quiet_option
@json_option
def index(  # noqa: PLR0913 - click hands over each option by name
    paths: tuple[Path, ...],
    database: Path,
    *,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    max_mb: float | None,
    reader_seconds: int | None,
    model: str | None,
    reranker: str | None,
    dry_run: bool,
    watching: bool,
    metadata: tuple[str, ...],
    labels: tuple[str, ...],
    patterns: tuple[str, ...],
    reset_properties: bool,
    quiet: bool,
    as_json: bool,
    **chunking: str | int | None,
) -> None:
    """Index files and folders; a second run touches only what changed.

    Folders within folders are read too. Left out are hidden files, what .gitignore and
    .localragignore files say, and --exclude. A file that cannot be read is skipped, with the
    reason, and the run goes on. A document whose file is gone is removed, one whose file was
    renamed follows it. How a folder was indexed is remembered: localrag sync repeats it. Ctrl-C
    leaves a valid knowledge base: run the same command to go on.

    How documents are cut and how embeddings are kept is decided when --db is made: a later run
    needs no such option, and is refused with another one.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise click.BadParameter(f"'{path}' does not exist.", param_hint="PATHS")
    if dry_run and watching:
        raise click.UsageError("--dry-run and --watch exclude each other.")
    properties: dict[str, Any] = {
        "metadata": key_values(metadata),
        "labels": labels,
        "path_patterns": patterns,
    }
    if not reset_properties:  # what is not given stays as it was
        properties = {name: value or None for name, value in properties.items()}
    limits = {"reader_seconds": reader_seconds}
    settings = chunking_settings({**chunking, **limits, "embedder": model, "reranker": reranker})
    with opened(database, settings, dry_run=dry_run) as kb:
        with interruptible(), progress_bar(hidden=quiet) as progress:
            report = kb.sync(
                *paths,
                **properties,
                include=include,
                exclude=exclude,
                max_bytes=None if max_mb is None else max(1, round(max_mb * MEGABYTE)),
                dry_run=dry_run,
                progress=progress,
            )
        tell = teller(database, as_json=as_json, quiet=quiet, watching=watching)
        tell(report)
        if not quiet:
            warn_of_patterns(patterns, paths, report)
        if watching:
            watch(kb, paths, tell, report)


def warn_of_patterns(patterns: Iterable[str], paths: Iterable[Path], report: SyncReport) -> None:
    """Say which patterns have no effect."""
    for pattern in without_match(patterns, paths, report):
        click.echo(
            f"--path-pattern '{pattern}' matches no file. It is counted from the folder that is "
            "indexed: below docs, the file docs/acme/2024/a.md is acme/2024/a.md.",
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
def opened(database: Path, settings: Settings, *, dry_run: bool) -> Iterator[KnowledgeBase]:
    """Open the knowledge base; for a dry run, without writing or making it."""
    from localrag.knowledge_base import KnowledgeBase  # noqa: PLC0415 - keeps --help light

    if dry_run and not database.exists():
        with TemporaryDirectory() as nowhere:
            with KnowledgeBase(Path(nowhere) / database.name, settings=settings) as kb:
                yield kb
            return
    with KnowledgeBase(database, settings=settings, read_only=dry_run) as kb:
        yield kb
