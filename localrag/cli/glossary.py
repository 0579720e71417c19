"""`localrag glossary`: what abbreviations stand for, as searches use it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from localrag.cli.options import (
    EXIT_NOTHING_FOUND,
    OrderedGroup,
    database_option,
    json_option,
    open_for_reading,
    open_for_writing,
)
from localrag.cli.output import plain, print_json
from localrag.text.snippet import display_width

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.records import GlossaryEntry

__all__ = ["glossary"]

WIDEST_SHORT = 14
"""Columns of short forms: a longer one moves its long form to the right."""


@click.group(cls=OrderedGroup)
def glossary() -> None:
    """Show and change what abbreviations stand for.

    Pairs such as "World Health Organization (WHO)" are found in the documents when they are
    indexed. A search for one of the two also finds the other.
    """


@glossary.command(name="list")
@click.argument("term", required=False)
@click.option("--all", "all_", is_flag=True, help="Show those that were removed as well.")
@database_option
@json_option
@click.pass_context
def list_entries(
    ctx: click.Context, term: str | None, database: Path, *, all_: bool, as_json: bool
) -> None:
    """List the abbreviations, or those that contain TERM or stand for it.

    Exit code 3: there are none.
    """
    with open_for_reading(database) as kb:
        found = kb.glossary.entries(term, all_=all_)
    if as_json:
        print_json({"entries": [asdict(entry) for entry in found]})
    elif found:
        for entry in found:
            click.echo(line_of(entry))
    else:
        click.echo("No abbreviation was found." if term is None else f"Nothing fits {plain(term)}.")
    if not found:
        ctx.exit(EXIT_NOTHING_FOUND)


def line_of(entry: GlossaryEntry) -> str:
    """Return an entry on one line: what it is, what it stands for, where that comes from."""
    short = plain(entry.short)
    gap = " " * max(2, WIDEST_SHORT + 2 - display_width(short))
    remarks = ["added"] if entry.source == "user" else []
    if entry.documents:
        remarks.append(f"{entry.documents:,} document{'' if entry.documents == 1 else 's'}")
    if not entry.active:
        remarks.append("removed")
    remark = click.style(f"({', '.join(remarks)})", dim=True)
    return f"{click.style(short, bold=True)}{gap}{plain(entry.long)}  {remark}"


@glossary.command()
@click.argument("short")
@click.argument("long")
@database_option
@json_option
def add(short: str, long: str, database: Path, *, as_json: bool) -> None:
    """Add the abbreviation SHORT, which stands for LONG; it stays when documents change.

    This also brings back an entry that was removed.
    """
    with open_for_writing(database) as kb:
        kb.glossary.add(short, long)
    if as_json:
        print_json({"added": {"short": short, "long": long}})
    else:
        click.echo(f"{plain(short)} stands for {plain(long)}")


@glossary.command()
@click.argument("short")
@click.argument("long", required=False)
@database_option
@json_option
@click.pass_context
def remove(
    ctx: click.Context, short: str, long: str | None, database: Path, *, as_json: bool
) -> None:
    """Remove the abbreviation SHORT for good, or only that it stands for LONG.

    What was found in documents does not come back when they are indexed again. Exit code 3: there
    is no such entry.
    """
    with open_for_writing(database) as kb:
        removed = kb.glossary.remove(short, long)
    entry = plain(short if long is None else f"{short} for {long}")
    if as_json:
        print_json({"removed": removed})
    elif removed:
        click.echo(f"{entry} is not used any more")
    else:
        click.echo(f"There is no {entry}. See what there is: localrag glossary list")
    if not removed:
        ctx.exit(EXIT_NOTHING_FOUND)
