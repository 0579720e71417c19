"""The query log: what every stage of every query let through."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from localrag.errors import KnowledgeBaseError
from localrag.records import Candidate, StageRecord, Trace

if TYPE_CHECKING:
    import apsw

    from localrag.store.database import Database

__all__ = ["KEPT_TRACES", "fetch_trace", "insert_trace", "keep_trace", "last_trace_id"]

KEPT_TRACES: Final = 1_000
"""Older traces are deleted: about 4 KB each, the log must not outgrow the documents."""


def insert_trace(connection: apsw.Connection, trace: Trace) -> int:
    """Keep a trace and return its id; drop the oldest beyond `KEPT_TRACES`."""
    connection.execute(
        "INSERT INTO queries(query, created_at) VALUES(?, ?)", (trace.query, trace.created_at)
    )
    id_ = connection.last_insert_rowid()
    connection.executemany(
        "INSERT INTO query_stages(query_id, position, name, milliseconds, note, survivors) "
        "VALUES(?, ?, ?, ?, ?, ?)",
        [
            (id_, position, stage.name, stage.milliseconds, stage.note, _encode(stage.survivors))
            for position, stage in enumerate(trace.stages)
        ],
    )
    connection.execute("DELETE FROM queries WHERE id <= ?", (id_ - KEPT_TRACES,))
    return id_


def keep_trace(database: Database, trace: Trace) -> Trace:
    """Write a trace down where that is possible: a search must not fail for its log."""
    try:
        with database.atomic() as connection:
            return replace(trace, id=insert_trace(connection, trace))
    except KnowledgeBaseError:
        return trace


def last_trace_id(connection: apsw.Connection) -> int | None:
    """Return the id of the newest trace, or None."""
    newest = connection.execute("SELECT max(id) FROM queries").get
    return None if newest is None else int(newest)


def fetch_trace(connection: apsw.Connection, id_: int) -> Trace | None:
    """Return one trace, or None when there is none with this id."""
    row = connection.execute(
        "SELECT query, created_at FROM queries WHERE id = ?", (id_,)
    ).fetchone()
    if row is None:
        return None
    stages = connection.execute(
        "SELECT name, milliseconds, survivors, note FROM query_stages "
        "WHERE query_id = ? ORDER BY position",
        (id_,),
    )
    return Trace(
        id=id_,
        query=str(row[0]),
        created_at=str(row[1]),
        stages=tuple(
            StageRecord(str(name), float(milliseconds), _decode(str(survivors)), str(note))
            for name, milliseconds, survivors, note in stages
        ),
    )


def _encode(survivors: tuple[Candidate, ...]) -> str:
    return json.dumps([[candidate.chunk_id, round(candidate.score, 6)] for candidate in survivors])


def _decode(survivors: str) -> tuple[Candidate, ...]:
    pairs = json.loads(survivors)
    return tuple(Candidate(id_, score, rank) for rank, (id_, score) in enumerate(pairs, start=1))
