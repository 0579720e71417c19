"""`localrag chunks`: how a file is cut, and how large the chunks of a base are."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from localrag.cli.options import (
    chunking_options,
    chunking_settings,
    database_option,
    json_option,
    open_for_reading,
)
from localrag.cli.output import plain, print_json, shorten, shown_path
from localrag.errors import ReadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.chunking.statistics import ChunkStatistics
    from localrag.config import Settings
    from localrag.records import Chunk, Document

__all__ = ["chunks"]

BAR_WIDTH = 40


@click.command()
@click.argument(
    "file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option("--stats", is_flag=True, help="Show the sizes of all chunks of --db instead.")
@database_option
@chunking_options
@click.option("--full", is_flag=True, help="Show all text of every chunk.")
@json_option
@click.pass_context
def chunks(  # noqa: PLR0913 - click hands over each option by name
    call: click.Context,
    /,
    file: Path | None,
    database: Path,
    *,
    stats: bool,
    full: bool,
    as_json: bool,
    **chunking: str | int | None,
) -> None:
    """Show how FILE is cut into chunks, without indexing it; or the sizes of a base's chunks.

    A file is cut as --db was made, where that is given, or else as the options say. The tokens of
    a chunk are those of its line of context, of a repeated table header, and of its text.
    """
    if stats == (file is not None):
        raise click.UsageError("Give a FILE to cut, or --stats for the chunks of --db.")
    if stats:
        with open_for_reading(database) as kb:
            found, settings = kb.chunk_statistics(), kb.settings
        if as_json:
            print_json(asdict(found))
        else:
            print_statistics(found, settings)
        return
    from localrag.inference.load import load_embedder  # noqa: PLC0415 - keeps --help light
    from localrag.ingest.preview import preview  # noqa: PLC0415

    settings = chunking_settings(chunking)
    if call.get_parameter_source("database") is not ParameterSource.DEFAULT:
        with open_for_reading(database, settings=settings) as kb:
            settings = kb.settings
    assert file is not None  # noqa: S101 - the usage error above
    try:
        document, cut = preview(file, load_embedder().counter, settings)
    except ReadError as error:  # a run would only note it, beside the file's name
        raise ReadError(error.reason, f"{shown_path(str(file))}: {error.detail}") from error
    if as_json:
        print_json(preview_json(file, document, cut, settings))
    else:
        print_preview(file, document, cut, settings, full=full)


def preview_json(
    file: Path, document: Document, cut: Sequence[Chunk], settings: Settings
) -> dict[str, object]:
    """Return the documented JSON object of a file's chunks."""
    return {
        "document": str(file),
        "title": document.title,
        "media_type": document.media_type,
        "chunking": settings.chunking,
        "context_line": settings.context_line,
        "chunk_tokens": settings.chunk_tokens,
        "overlap_tokens": settings.overlap_tokens,
        "chunks": [
            {
                "ordinal": chunk.ordinal,
                "kind": chunk.kind,
                "tokens": chunk.tokens,
                "heading": list(chunk.headings),
                "context": chunk.context,
                "preamble": chunk.preamble,
                "page": chunk.page,
                "line": chunk.lines[0][1] if chunk.lines else None,
                "start": chunk.start,
                "end": chunk.end,
                "text": chunk.text,
            }
            for chunk in cut
        ],
    }


def print_preview(
    file: Path, document: Document, cut: Sequence[Chunk], settings: Settings, *, full: bool
) -> None:
    """Print one line per chunk, or all of its text."""
    click.echo(
        f"{click.style(shown_path(str(file)), bold=True)}  {shorten(document.title, 60)}  "
        f"({document.media_type})"
    )
    total = sum(chunk.tokens for chunk in cut)
    plural = "" if len(cut) == 1 else "s"
    click.echo(f"{len(cut):,} chunk{plural}, {total:,} tokens; {shown_settings(settings)}")
    width = shutil.get_terminal_size((110, 24)).columns
    for chunk in cut:
        place = shown_place(document, chunk)
        head = f"{chunk.ordinal:>4}  {chunk.kind:<10}{chunk.tokens:>5}  {place:<14}"
        path = " > ".join(chunk.headings[-2:])
        if full:
            click.echo(click.style(f"\n{head}  {plain(path)}".rstrip(), fg="cyan"))
            for part in (chunk.context, chunk.preamble):
                if part:
                    click.echo(click.style(plain(part), dim=True))
            click.echo(plain(chunk.text))
        else:
            room = max(20, width - len(head) - 4)
            shown = shorten(path, room // 2)
            text = shorten(body_of(chunk), max(10, room - len(shown)))
            click.echo(f"{head}  {click.style(shown, dim=True)}  {text}".rstrip())


def shown_settings(settings: Settings) -> str:
    """Return how documents are cut, in one line."""
    overlap = f", overlap {settings.overlap_tokens}" if settings.overlap_tokens else ""
    return (
        f"{settings.chunking}, {settings.chunk_tokens} tokens{overlap}, "
        f"context line {settings.context_line}"
    )


def shown_place(document: Document, chunk: Chunk) -> str:
    """Return the page or the lines of a chunk in its file."""
    if chunk.page is not None:
        return f"p. {chunk.page}"
    first, last = document.line(chunk.start), document.line(chunk.end - 1)
    if first is None:
        return ""
    return f"line {first}" if first == last else f"lines {first}-{last}"


def body_of(chunk: Chunk) -> str:
    """Return a chunk's text without the headings at its start that its path already shows."""
    rest = chunk.text
    while rest:
        line, _, after = rest.partition("\n")
        if line.strip() and line.lstrip("#= ").strip() not in chunk.headings:
            return rest
        rest = after
    return chunk.text


def print_statistics(found: ChunkStatistics, settings: Settings) -> None:
    """Print the histogram, the kinds, and what is worth a look."""
    click.echo(
        f"{found.chunks:,} chunks of {found.documents:,} documents, {found.tokens:,} tokens; "
        + shown_settings(settings)
    )
    click.echo(
        f"tokens per chunk: {found.smallest} to {found.largest}, median {found.median}; "
        f"overlap {found.overlap:.1%} of the text, lines of context {found.context:.1%}"
    )
    most = max((count for _, count in found.histogram), default=0)
    lower = 0
    for upper, size in found.histogram:
        label = f"above {lower}" if upper is None else f"{lower + 1}-{upper}"
        lower = upper or lower
        if size:
            bar = "█" * max(1, round(BAR_WIDTH * size / most))
            click.echo(f"  {label:>10} {size:>8,}  {click.style(bar, fg='cyan')}")
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in found.kinds.items())
    click.echo(f"kinds: {kinds or 'none'}")
    for finding in found.findings:
        count = f"{finding.count:,} " if finding.examples else ""
        click.echo(f"\n{click.style('!', fg='yellow')} {count}{finding.problem}")
        for example in finding.examples:
            click.echo(f"    {shown_path(example)}")
        click.echo(f"  {finding.advice}")
    if found.chunks and not found.findings:
        click.echo("Nothing stands out.")
