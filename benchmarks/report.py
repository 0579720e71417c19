"""How benchmarks speak: results to standard output, progress to standard error."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Row", "parser_of", "print_json", "print_table", "progress"]

Row = dict[str, str | int | float]


def parser_of(documentation: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is a module's docstring: the first paragraph, then the rest."""
    description, _, details = (documentation or "").partition("\n\n")
    return argparse.ArgumentParser(
        description=description,
        epilog=details,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def progress(message: str) -> None:
    """Show where the run stands: in place on a terminal, line by line in a log."""
    if sys.stderr.isatty():
        print(f"\r\033[K{message}", end="", file=sys.stderr, flush=True)
    else:
        print(message, file=sys.stderr, flush=True)


def print_json(rows: Sequence[Row]) -> None:
    """Print the rows as a list of objects; figures keep six digits."""
    rounded = [
        {
            name: round(value, 6) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    print(json.dumps(rounded, indent=2, ensure_ascii=False))


def print_table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Print some columns, words to the left and figures to the right."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    cells = [{name: shown(row[name]) for name in columns} for row in rows]
    widths = {name: max(len(name), *(len(cell[name]) for cell in cells)) for name in columns}
    words = {name for name in columns if isinstance(rows[0][name], str)}
    print(line({name: name for name in columns}, widths, words))
    for cell in cells:
        print(line(cell, widths, words))


def line(cell: Mapping[str, str], widths: Mapping[str, int], words: set[str]) -> str:
    """Return one row of a table."""
    padded = (
        text.ljust(widths[name]) if name in words else text.rjust(widths[name])
        for name, text in cell.items()
    )
    return "  ".join(padded).rstrip()


def shown(value: str | float) -> str:
    """Return a value as tables show it: shares with three digits, larger figures with one."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"
