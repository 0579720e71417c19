"""The BM25 index: FTS5 rows of analysed text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from localrag.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from localrag.records import Allowed

__all__ = [
    "delete_words",
    "document_frequencies",
    "insert_words",
    "search_words",
    "text_with_term",
]


def insert_words(
    connection: apsw.Connection, ids: Sequence[int], words: Sequence[tuple[str, str]]
) -> None:
    """Index chunks: for each id its context and its body, as tokens separated by blanks."""
    connection.executemany(
        "INSERT INTO chunk_words(rowid, context, body) VALUES(?, ?, ?)",
        [(id_, context, body) for id_, (context, body) in zip(ids, words, strict=True)],
    )


def delete_words(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Take chunks out of the index."""
    connection.executemany("DELETE FROM chunk_words WHERE rowid = ?", [(id_,) for id_ in ids])


class _Known:
    """Frequencies that one connection has counted, as long as the index stays the same."""

    def __init__(self, state: object) -> None:
        self.state = state
        self.counts: dict[str, int] = {}


_known: WeakKeyDictionary[apsw.Connection, _Known] = WeakKeyDictionary()
MOST_KNOWN: Final = 20_000
AVERAGES: Final = 1
"""Row of FTS5's own data: rows and tokens in all, so that it changes with every chunk."""


def document_frequencies(connection: apsw.Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return in how many chunks each term occurs; a term that occurs nowhere is left out.

    FTS5 counts by reading a term's list, which takes 10 ms for one of 150,000 chunks: what was
    counted is kept.
    """
    state = connection.execute("SELECT block FROM chunk_words_data WHERE id = ?", (AVERAGES,)).get
    known = _known.get(connection)
    if known is None or known.state != state or len(known.counts) > MOST_KNOWN:
        known = _known[connection] = _Known(state)
    wanted = list(dict.fromkeys(terms))
    missing = [term for term in wanted if term not in known.counts]
    if missing:
        known.counts |= dict.fromkeys(missing, 0) | _count(connection, missing)
    return {term: known.counts[term] for term in wanted if known.counts[term]}


def _count(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, int]:
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary "
        "USING fts5vocab('main', 'chunk_words', 'row')"
    )
    rows = connection.execute(
        "SELECT term, doc FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?))",
        (json.dumps(terms),),
    )
    return {str(term): int(count) for term, count in rows}


def text_with_term(
    connection: apsw.Connection, term: str, allowed: Allowed | None = None, *, chunks: int = 3
) -> str:
    """Return the text of some allowed chunks that hold a word of the index; empty if none does."""
    within = "" if allowed is None else "AND +rowid IN (SELECT value FROM json_each(:ids)) "
    rows = connection.execute(
        "SELECT context, preamble, text FROM chunks WHERE id IN ("  # noqa: S608 - a constant
        f"SELECT rowid FROM chunk_words WHERE chunk_words MATCH :term {within}LIMIT :chunks)",
        {"term": f'"{term}"', "ids": allowed.ids if allowed else None, "chunks": chunks},
    )
    return "\n".join("\n".join(map(str, row)) for row in rows)


def search_words(
    connection: apsw.Connection, expression: str, k: int, allowed: Allowed | None = None
) -> tuple[Candidate, ...]:
    """Return the `k` best allowed chunks for an FTS5 expression by BM25; scores are positive.

    Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009; FTS5
    uses k1 = 1.2 and b = 0.75. Ties go to the older chunk, so that results are the same each time.
    A score is the same with a filter and without: the statistics are those of all chunks.
    """
    if not expression:
        return ()
    # The plus keeps SQLite from running the whole query once per id (3.8 s for 1,000 of them).
    within = "" if allowed is None else "AND +rowid IN (SELECT value FROM json_each(:ids)) "
    rows = connection.execute(
        "SELECT rowid, rank FROM chunk_words WHERE chunk_words MATCH :expression "  # noqa: S608 - a constant
        f"{within}ORDER BY rank, rowid LIMIT :k",
        {"expression": expression, "k": k, "ids": allowed.ids if allowed else None},
    )
    return tuple(
        Candidate(int(id_), -float(score), rank) for rank, (id_, score) in enumerate(rows, start=1)
    )
