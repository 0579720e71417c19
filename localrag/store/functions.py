"""Functions that our SQL uses beside SQLite's own. No table needs them: they are for queries."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from localrag.text.folding import fold

if TYPE_CHECKING:
    import apsw
    from apsw import SQLiteValue

__all__ = ["add_functions"]


def add_functions(connection: apsw.Connection) -> None:
    """Give a connection ``fold(text)`` and the operator ``text REGEXP pattern``."""
    connection.create_scalar_function("fold", _fold, 1, deterministic=True)
    connection.create_scalar_function("regexp", _regexp, 2, deterministic=True)


def _fold(*arguments: SQLiteValue) -> str | None:
    (value,) = arguments
    return fold(value) if isinstance(value, str) else None


def _regexp(*arguments: SQLiteValue) -> bool:
    pattern, value = arguments
    return isinstance(value, str) and _compiled(str(pattern)).fullmatch(value) is not None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
