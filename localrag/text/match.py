"""Query terms become a full-text query that SQLite cannot misread."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localrag.text.analysis import QueryTerm

__all__ = ["MOST_TERMS", "match_expression"]

MOST_TERMS = 128
"""Distinct terms of one query; a pasted page stays as fast as a question."""


def match_expression(terms: Iterable[QueryTerm]) -> str:
    """Return the FTS5 expression that matches any of `terms`; empty where there are none.

    The first `MOST_TERMS` distinct terms count. Every term is a quoted string, so that no word of a
    query is an operator.
    """
    distinct = list(dict.fromkeys(terms))[:MOST_TERMS]
    return " OR ".join(_quoted(term) for term in distinct)


def _quoted(term: QueryTerm) -> str:
    # SQLite ends a text at NUL; a quotation mark is doubled inside quotation marks.
    escaped = term.term.replace("\0", "").replace('"', '""')
    return f'"{escaped}"' + ("*" if term.prefix else "")
