"""How results look on a terminal and in JSON."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localrag.records import PAGE_BREAK, cite
from localrag.text.snippet import snippet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from localrag.records import Citation, Hit, Place, StageRecord, StoredChunk, Trace

__all__ = [
    "citation_json",
    "hit_json",
    "place_json",
    "plain",
    "print_failures",
    "print_filter_note",
    "print_json",
    "print_trace",
    "shorten",
    "shown_other_places",
    "shown_path",
    "shown_place",
    "trace_json",
]


def print_json(value: object) -> None:
    """Print a value as JSON, with every script readable."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_failures(trace: Trace) -> None:
    """Say on standard error what a search had to do without: a model that could not be asked."""
    for failure in trace.failures:
        click.echo(f"{click.style('Warning:', fg='yellow')} {plain(failure)}", err=True)


def plain(text: str) -> str:
    """Return `text` without control characters: a document must not steer the terminal."""
    return text.translate(CONTROLS)


CONTROLS = dict.fromkeys(
    {*range(0x20), *range(0x7F, 0xA0)} - {ord("\t"), ord("\n")}, "\N{REPLACEMENT CHARACTER}"
) | {ord(PAGE_BREAK): " "}


def shown_path(uri: str) -> str:
    """Return a path as the user would type it here: relative where that is shorter."""
    if not os.path.isabs(uri):  # noqa: PTH117 - a URI need not be a path
        return plain(uri)
    here = str(Path.cwd())
    return plain(uri[len(here) + 1 :] if uri.startswith(here + os.sep) else uri)


def shorten(text: str, width: int) -> str:
    """Return `text` on one line of at most `width` columns, without control characters."""
    return snippet(plain(text), width)


def shown_place(found: Hit | Citation | Place) -> str:
    """Return where a hit or a cited sentence stands, its path as the user would type it here."""
    return plain(found.citation.replace(found.document, shown_path(found.document), 1))


def hit_json(hit: Hit) -> dict[str, object]:
    """Return a hit as the documented JSON object."""
    return {
        "rank": hit.rank,
        "relevance": _rounded(hit.relevance),
        "document": hit.document,
        "title": hit.title,
        "heading": list(hit.heading),
        "page": hit.page,
        "line": hit.line,
        "start": hit.start,
        "end": hit.end,
        "text": hit.text,
        "chunk_id": hit.chunk_id,
        "matches": [{"start": start, "end": end} for start, end in hit.matches],
        "also_in": [place_json(place) for place in hit.also_in],
        "also_in_count": hit.also_in_count,
    }


def place_json(place: Place) -> dict[str, object]:
    """Return another place of a hit's text as the documented JSON object."""
    return {
        "document": place.document,
        "title": place.title,
        "heading": list(place.heading),
        "page": place.page,
        "line": place.line,
        "start": place.start,
        "end": place.end,
        "chunk_id": place.chunk_id,
    }


def shown_other_places(found: Hit | Citation) -> str:
    """Return how many other places hold the same text, and the first few of them."""
    count = found.also_in_count
    named = ", ".join(shown_place(place) for place in found.also_in[:PLACES_NAMED])
    more = ", …" if count > PLACES_NAMED else ""
    return f"also in {count} place{'' if count == 1 else 's'}: {named}{more}"


PLACES_NAMED = 3
"""Other places that a terminal shows; JSON lists them."""


def citation_json(citation: Citation) -> dict[str, object]:
    """Return a citation as the documented JSON object."""
    return {
        "number": citation.number,
        "relevance": _rounded(citation.relevance),
        "document": citation.document,
        "title": citation.title,
        "heading": list(citation.heading),
        "page": citation.page,
        "line": citation.line,
        "start": citation.start,
        "end": citation.end,
        "text": citation.text,
        "chunk_id": citation.chunk_id,
        "also_in": [place_json(place) for place in citation.also_in],
        "also_in_count": citation.also_in_count,
    }


def trace_json(trace: Trace, chunks: Mapping[int, StoredChunk]) -> dict[str, object]:
    """Return a trace as a JSON object, each survivor with the place it stands in."""
    return {
        "trace_id": trace.id,
        "query": trace.query,
        "created_at": trace.created_at,
        "stages": [_stage_json(stage, chunks) for stage in trace.stages],
    }


def _stage_json(stage: StageRecord, chunks: Mapping[int, StoredChunk]) -> dict[str, object]:
    return {
        "name": stage.name,
        "milliseconds": round(stage.milliseconds, 3),
        "note": stage.note,
        "chunks": [
            {
                "rank": survivor.rank,
                "score": survivor.score,
                "chunk_id": survivor.chunk_id,
                **_place(chunks.get(survivor.chunk_id)),
            }
            for survivor in stage.survivors
        ],
    }


def _place(chunk: StoredChunk | None) -> dict[str, object]:
    if chunk is None:
        return {"document": None}
    return {
        "document": chunk.uri,
        "heading": list(chunk.headings),
        "start": chunk.start,
        "end": chunk.end,
    }


def print_filter_note(trace: Trace) -> None:
    """Say what a filter let through: it may be why nothing was found."""
    for stage in trace.stages:
        if stage.name == FILTER_STAGE:
            click.echo(f"The filter let through: {plain(stage.note)}", err=True)


FILTER_STAGE = "1b. filter"


def print_trace(trace: Trace, chunks: Mapping[int, StoredChunk], lines: int | None) -> None:
    """Print every stage: its name, what it let through, and the first `lines` chunks of it."""
    name = "not kept" if trace.id is None else str(trace.id)
    click.echo(f"Trace {name}  {click.style(shorten(trace.query, 70), bold=True)}")
    for stage in trace.stages:
        click.echo(_stage_line(stage))
        for text in _chunk_lines(stage, chunks, lines):
            click.echo(text)


def _stage_line(stage: StageRecord) -> str:
    count = len(stage.survivors)
    through = f"{count} chunk{'' if count == 1 else 's'}" if count else stage.note or "0 chunks"
    remark = f"  ({stage.note})" if count and stage.note else ""
    time = click.style(f"{stage.milliseconds:8.1f} ms", dim=True)
    return f"{time}  {click.style(stage.name, fg='cyan')} -> {through}{remark}"


def _chunk_lines(
    stage: StageRecord, chunks: Mapping[int, StoredChunk], lines: int | None
) -> Iterable[str]:
    width = shutil.get_terminal_size((110, 24)).columns
    for survivor in stage.survivors[:lines]:
        chunk = chunks.get(survivor.chunk_id)
        score = f"{survivor.rank:>16}  {survivor.score:8.4f}  "
        if chunk is None:
            yield f"{score}(chunk {survivor.chunk_id} is no longer in the file)"
            continue
        place = cite(Path(chunk.uri).name, chunk.line, chunk.page, chunk.headings[-1:])
        room = max(20, width - len(score))
        yield score + shorten(f"{place}: {chunk.text}", room)
    hidden = len(stage.survivors) - len(stage.survivors[:lines])
    if hidden:
        yield f"{'':>16}  … and {hidden} more"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
