"""`localrag remove`: take documents out of the file by name."""

from __future__ import annotations

import os
from pathlib import Path

import click

from localrag.cli.options import (
    EXIT_NOTHING_FOUND,
    database_option,
    json_option,
    open_for_writing,
)
from localrag.cli.output import print_json, shown_path

__all__ = ["remove"]


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="PATH|URI...")
@database_option
@json_option
@click.pass_context
def remove(ctx: click.Context, names: tuple[str, ...], database: Path, *, as_json: bool) -> None:
    """Remove documents by path or URI, or all below a folder; files on the disk stay.

    The folder is forgotten too, so that localrag sync does not index it again. Exit code 3: there
    is no such document.
    """
    with open_for_writing(database) as kb:
        removed = kb.remove(*names)
        sources = kb.status().sources
    back = [uri for uri in removed if os.path.lexists(uri) and _lies_below(uri, sources)]
    if as_json:
        print_json({"removed": list(removed)})
    else:
        click.echo(f"{len(removed)} removed")
        if back:
            click.echo(
                f"{len(back)} will come back with the next sync, from a folder that is indexed: "
                "delete the files, or index the folder with --exclude."
            )
        elif len(removed) == 1:
            click.echo(f"  {shown_path(removed[0])}")
        elif not removed:
            click.echo(
                f"No document is named so or lies below: {', '.join(map(shown_path, names))}. "
                "localrag status --documents names them all."
            )
    if not removed:
        ctx.exit(EXIT_NOTHING_FOUND)


def _lies_below(uri: str, sources: tuple[str, ...]) -> bool:
    return any(Path(uri).is_relative_to(source) for source in sources)
