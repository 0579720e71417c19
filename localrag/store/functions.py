"""Functions that our SQL uses beside SQLite's own. No table needs them: they are for queries."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from localrag.text.folding import fold

if TYPE_CHECKING:
    import apsw
    from apsw import FTS5ExtensionApi, SQLiteValue

__all__ = ["add_functions"]


def add_functions(connection: apsw.Connection) -> None:
    """Give a connection our functions.

    ``fold(text)``, the operator ``text REGEXP pattern``, and for FTS5 tables
    ``occurrences(table, n)``: JSON of the number of rows, the tokens of all, those of this row, and
    how often each of the first n phrases of the query occurs in it.
    """
    connection.create_scalar_function("fold", _fold, 1, deterministic=True)
    connection.create_scalar_function("regexp", _regexp, 2, deterministic=True)
    connection.register_fts5_function("occurrences", _occurrences)


def _fold(*arguments: SQLiteValue) -> str | None:
    (value,) = arguments
    return fold(value) if isinstance(value, str) else None


def _occurrences(row: FTS5ExtensionApi, *arguments: SQLiteValue) -> str:
    (phrases,) = arguments
    counts = [sum(map(len, row.phrase_locations(one))) for one in range(int(str(phrases)))]
    return json.dumps([row.row_count, row.column_total_size(-1), row.column_size(-1), *counts])


def _regexp(*arguments: SQLiteValue) -> bool:
    pattern, value = arguments
    return isinstance(value, str) and _compiled(str(pattern)).fullmatch(value) is not None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
