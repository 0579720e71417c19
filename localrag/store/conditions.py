"""What the operators of a query ask for becomes the set of chunks that a search may find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.records import Allowed
from localrag.text.analysis import analyse_phrase
from localrag.text.folding import fold
from localrag.text.match import phrase_expression

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from localrag.text.operators import Condition, Field

__all__ = ["both", "chunks_that_hold", "expressions_of"]

COLUMNS: dict[Field, str] = {"": "", "heading": "context", "body": "body"}
"""Of the full-text index, by the field that looks there."""


def expressions_of(conditions: Iterable[Condition]) -> list[str]:
    """Return the FTS5 expressions of those conditions that the full-text index decides."""
    return [
        phrase_expression(analyse_phrase(one.text), column=COLUMNS[one.field], beginning=one.prefix)
        for one in conditions
        if one.field in COLUMNS
    ]


def chunks_that_hold(connection: apsw.Connection, conditions: Iterable[Condition]) -> Allowed:
    """Return the chunks that meet every condition."""
    listed = list(conditions)
    tests = [_document_test(one) for one in listed if one.field not in COLUMNS]
    values = [fold(one.text) for one in listed if one.field not in COLUMNS]
    required = expressions_of(one for one in listed if not one.excluded)
    excluded = expressions_of(one for one in listed if one.excluded)
    if required:
        tests.append(f"c.id IN ({_HOLDERS})")
        values.append(" AND ".join(required))
    if excluded:
        tests.append(f"c.id NOT IN ({_HOLDERS})")
        values.append(" OR ".join(excluded))
    documents, chunks, ids = connection.execute(
        "SELECT count(DISTINCT document_id), count(*), json_group_array(id) FROM "  # noqa: S608 - constants, values are bound
        f"(SELECT c.id, c.document_id FROM chunks AS c WHERE {' AND '.join(tests) or '1'} "
        "ORDER BY c.id)",
        values,
    ).get
    return Allowed(int(documents), int(chunks), str(ids))


_HOLDERS = "SELECT rowid FROM chunk_words WHERE chunk_words MATCH ?"


def _document_test(condition: Condition) -> str:
    column = "title" if condition.field == "title" else "uri"
    found = f"SELECT id FROM documents WHERE instr(fold({column}), ?) > 0"  # noqa: S608 - same
    return f"c.document_id {'NOT ' if condition.excluded else ''}IN ({found})"


def both(connection: apsw.Connection, one: Allowed | None, other: Allowed | None) -> Allowed | None:
    """Return the chunks that two sets have in common; None is every chunk."""
    if one is None or other is None:
        return one or other
    documents, chunks, ids = connection.execute(
        "SELECT count(DISTINCT document_id), count(*), json_group_array(id) FROM "
        "(SELECT id, document_id FROM chunks WHERE id IN (SELECT value FROM json_each(?)) "
        "AND id IN (SELECT value FROM json_each(?)) ORDER BY id)",
        (one.ids, other.ids),
    ).get
    return Allowed(int(documents), int(chunks), str(ids))
