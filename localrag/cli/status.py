"""`localrag status`: what the file holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from localrag.cli.options import database_option, json_option, model_option, open_for_reading
from localrag.cli.output import plain, print_json, shown_path

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.records import Skipped, Source, Status

__all__ = ["status"]


@click.command()
@database_option
@model_option
@click.option("--documents", "listed", is_flag=True, help="Also name every document.")
@json_option
def status(database: Path, model: str | None, *, listed: bool, as_json: bool) -> None:
    """Show what the file holds, and what was skipped and why."""
    with open_for_reading(database, model) as kb:
        found = kb.status()
        skipped = kb.skipped()
        documents = sorted(document.uri for document in kb.documents()) if listed else []
    if as_json:
        ledger = [asdict(item) for item in skipped]
        names = {"document_names": documents} if listed else {}
        settings = {"settings": dict(found.settings), "skipped_files": ledger}
        print_json(asdict(found) | settings | names)
    else:
        print_status(found, skipped)
        if listed:
            click.echo("  documents")
        for uri in documents:
            click.echo(f"    {shown_path(uri)}")


def print_status(found: Status, skipped: list[Skipped]) -> None:
    """Print counts, sizes and the ledger of skipped files."""
    click.echo(click.style(shown_path(found.path), bold=True))
    rows = {
        "documents": f"{found.documents:,}",
        "chunks": f"{found.chunks:,} ({found.tokens:,} tokens)",
        "size": f"{found.bytes / 1e6:,.1f} MB"
        + (f" ({found.bytes / found.chunks:,.0f} bytes per chunk)" if found.chunks else ""),
        "indexed from": f"\n{' ' * 16}".join(map(shown_source, found.indexed)) or "nothing yet",
        "vectors": f"{found.vector_memory_open / 1e6:,.1f} MB in a process that stays open"
        if found.vector_memory_open
        else "searched on the disk",
        "vectors kept": str(found.settings.get("vectors", "float32")),
        "chunking": f"{found.settings.get('chunking', 'structural')}, "
        f"context line {found.settings.get('context_line', 'full')}",
        "chunk size": f"{found.settings.get('chunk_tokens')} tokens, overlap "
        f"{found.settings.get('overlap_tokens')}",
        "embedder": str(found.settings.get("embedder", "the one that ships")),
        "reranker": str(found.settings.get("reranker", "the one that ships")),
        "traces kept": f"{found.queries:,}",
        "model": str(found.settings.get("model", "unknown"))
        + (" (localrag reembed is under way)" if "reembedding" in found.settings else ""),
        "fingerprint": str(found.settings.get("fingerprint")),
        "format": str(found.format_version),
        "skipped": f"{found.skipped:,}",
    }
    for name, value in rows.items():
        click.echo(f"  {name:<13} {value}")
    for item in skipped:
        click.echo(f"    {shown_path(item.uri)}: {item.reason}: {item.detail}")


def shown_source(source: Source) -> str:
    """Return a source on one line, with what a sync repeats of how it was indexed."""
    options = [
        *(f"--include {pattern}" for pattern in source.include),
        *(f"--exclude {pattern}" for pattern in source.exclude),
        *([f"--max-mb {source.max_bytes / 1e6:g}"] if source.max_bytes else []),
        *(f"--meta {name}={value}" for name, value in source.metadata.items()),
        *(f"--label {label}" for label in source.labels),
        *(f"--path-pattern {pattern}" for pattern in source.path_patterns),
    ]
    return plain("  ".join([shown_path(source.path), *options]))
