"""`localrag compact`: give back the space of what was deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from localrag.cli.options import database_option, json_option, open_for_writing
from localrag.cli.output import print_json, shown_path

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["compact"]


@click.command()
@database_option
@json_option
def compact(database: Path, *, as_json: bool) -> None:
    """Rebuild the file without what was deleted: smaller, and nothing of it in its bytes.

    Needs as much free space on the disk as the file takes.
    """
    with open_for_writing(database) as kb:
        freed = kb.compact()
        size = kb.status().bytes
    if as_json:
        print_json({"bytes": size, "freed_bytes": freed})
    else:
        before, after = (size + freed) / 1e6, size / 1e6
        click.echo(f"{shown_path(str(database))}: {before:,.1f} MB -> {after:,.1f} MB")
