"""The glossary: abbreviations that documents explain, and what the user made of them.

Found pairs belong to their document and go with it. What the user adds or switches off is kept
apart: no run of the indexer touches it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from localrag.records import GlossaryEntry
from localrag.text.phrases import long_key, short_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from localrag.records import Allowed
    from localrag.text.short_form import ShortForm

__all__ = [
    "Pair",
    "add_entry",
    "documents_behind",
    "insert_short_forms",
    "list_entries",
    "pairs_of_longs",
    "pairs_of_shorts",
    "switch_off",
]


def insert_short_forms(
    connection: apsw.Connection, document_id: int, pairs: Iterable[ShortForm], version: int
) -> None:
    """Write a document's pairs in place of those it has, and the version that found them."""
    connection.execute("DELETE FROM glossary WHERE document_id = ?", (document_id,))
    connection.executemany(
        "INSERT OR IGNORE INTO glossary(document_id, short_key, long_key, short, long) "
        "VALUES(?, ?, ?, ?, ?)",
        [
            (document_id, short_key(pair.short), long_key(pair.long), pair.short, pair.long)
            for pair in pairs
        ],
    )
    connection.execute(
        "UPDATE documents SET glossary_version = ? WHERE id = ?", (version, document_id)
    )


def documents_behind(connection: apsw.Connection, version: int) -> list[int]:
    """Return the ids of documents that another version has looked through, or none."""
    # Two ranges, which an index finds, unlike what is not equal.
    rows = connection.execute(
        "SELECT id FROM documents WHERE glossary_version < ?1 "
        "UNION ALL SELECT id FROM documents WHERE glossary_version > ?1",
        (version,),
    )
    return [int(id_) for (id_,) in rows]


@dataclass(frozen=True, slots=True)
class Pair:
    """An active pair as it is spelled in some documents."""

    short_key: str
    long_key: str
    short: str
    long: str
    documents: int
    """How many documents spell it so; of the user's own entries, more than there are."""


_ACTIVE: Final = """
SELECT short_key, long_key, short, long, count(*) AS documents FROM glossary AS found
WHERE {key} IN (SELECT value FROM json_each(:keys))
    AND (:ids IS NULL OR EXISTS(
        SELECT 1 FROM chunks WHERE chunks.document_id = found.document_id
        AND chunks.id IN (SELECT value FROM json_each(:ids))
    ))
    AND NOT EXISTS(
        SELECT 1 FROM glossary_edits AS off WHERE off.active = 0
        AND off.short_key = found.short_key AND off.long_key IN ('', found.long_key)
    )
GROUP BY short_key, long_key, short, long
UNION ALL
SELECT short_key, long_key, short, long, 1 << 32 FROM glossary_edits
WHERE active = 1 AND {key} IN (SELECT value FROM json_each(:keys))
"""


def pairs_of_shorts(
    connection: apsw.Connection, keys: Iterable[str], allowed: Allowed | None = None
) -> list[Pair]:
    """Return the active pairs whose short form has one of these keys.

    With `allowed` only what documents of those chunks explain counts, and what the user added.
    """
    return _pairs(connection, "short_key", keys, allowed)


def pairs_of_longs(
    connection: apsw.Connection, keys: Iterable[str], allowed: Allowed | None = None
) -> list[Pair]:
    """Return the active pairs whose long form has one of these keys; otherwise the same."""
    return _pairs(connection, "long_key", keys, allowed)


def _pairs(
    connection: apsw.Connection, column: str, keys: Iterable[str], allowed: Allowed | None
) -> list[Pair]:
    rows = connection.execute(
        _ACTIVE.format(key=column),
        {"keys": json.dumps(list(keys)), "ids": None if allowed is None else allowed.ids},
    )
    return [Pair(*row) for row in rows]


_ALL: Final = """
WITH spelled AS (
    SELECT short_key, long_key, short, long, count(*) AS documents FROM glossary
    GROUP BY short_key, long_key, short, long
), found AS (
    -- Of several spellings that of most documents: SQLite takes the row of the maximum.
    SELECT short_key, long_key, short, long, sum(documents) AS documents, max(documents)
    FROM spelled GROUP BY short_key, long_key
)
SELECT short, long, documents, 'found', NOT EXISTS(
    SELECT 1 FROM glossary_edits AS off WHERE off.active = 0
    AND off.short_key = found.short_key AND off.long_key IN ('', found.long_key)
) FROM found
WHERE NOT EXISTS(
    SELECT 1 FROM glossary_edits AS own WHERE own.active = 1
    AND own.short_key = found.short_key AND own.long_key = found.long_key
)
UNION ALL
SELECT short, long, (
    SELECT count(*) FROM glossary AS found
    WHERE found.short_key = own.short_key AND found.long_key = own.long_key
), 'user', 1 FROM glossary_edits AS own WHERE active = 1
ORDER BY 1 COLLATE NOCASE, 3 DESC, 2
"""


def list_entries(connection: apsw.Connection) -> list[GlossaryEntry]:
    """Return all entries in the order of their short forms, those most explained first."""
    return [
        GlossaryEntry(short, long, documents, source, active=bool(active))
        for short, long, documents, source, active in connection.execute(_ALL)
    ]


def add_entry(connection: apsw.Connection, short: str, long: str) -> None:
    """Keep a pair of the user's, and use it although it was switched off."""
    connection.execute(
        "INSERT OR REPLACE INTO glossary_edits(short_key, long_key, short, long, active) "
        "VALUES(?, ?, ?, ?, 1)",
        (short_key(short), long_key(long), short, long),
    )


def switch_off(connection: apsw.Connection, short: str, long: str | None) -> bool:
    """Take a pair, or without `long` all of a short form, out of use for good; False if none is.

    The user's own entries are deleted. Of the found ones it is noted, so that they stay out of use
    when their documents are indexed again; without `long`, those that are yet to be found as well.
    """
    keys = (short_key(short), "" if long is None else long_key(long))
    chosen = "short_key = ?1 AND (?2 = '' OR long_key = ?2)"
    own = connection.execute(
        f"SELECT count(*) FROM glossary_edits WHERE active = 1 AND {chosen}",  # noqa: S608 - a constant
        keys,
    ).get
    found = connection.execute(f"SELECT count(*) FROM glossary WHERE {chosen}", keys).get  # noqa: S608 - a constant
    connection.execute(f"DELETE FROM glossary_edits WHERE active = 1 AND {chosen}", keys)  # noqa: S608 - a constant
    if found:
        connection.execute(
            "INSERT OR REPLACE INTO glossary_edits(short_key, long_key, short, long, active) "
            "VALUES(?, ?, ?, ?, 0)",
            (*keys, short, long or ""),
        )
    return bool(own or found)
