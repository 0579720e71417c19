"""`localrag skipped`: what could not be indexed, and why."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from localrag.cli.options import database_option, json_option, open_for_reading
from localrag.cli.output import print_json
from localrag.cli.report import print_skipped

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["skipped"]


@click.command()
@database_option
@json_option
def skipped(database: Path, *, as_json: bool) -> None:
    """List the files that could not be indexed, by reason."""
    with open_for_reading(database) as kb:
        found = kb.skipped()
    if as_json:
        print_json({"skipped": [asdict(item) for item in found]})
    elif found:
        print_skipped(found, None)
    else:
        click.echo("Nothing was skipped.")
