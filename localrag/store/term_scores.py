"""What frequent terms of a query add to the scores of the chunks that its rarer terms found.

FTS5 scores every row that any term matches, half a microsecond for each occurrence. Asked which of
the rows that rare terms match have a frequent one too, without a score, it skips through the long
lists; only for the chunks that were found the occurrences are then counted, here. The fewer rows
the rare terms match the fewer are looked up: the rarest that match all of what was found do.
"""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING, Final

from localrag.text.match import match_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from localrag.records import Candidate
    from localrag.text.analysis import QueryTerm

__all__ = ["add_scores", "inverse_frequency", "term_score"]

K1: Final = 1.2
B: Final = 0.75
"""FTS5's own constants: a score is then what it would have been with all terms in the query."""
LEAST_WEIGHT: Final = 1e-6
"""FTS5's weight of a term that most chunks have."""


def add_scores(
    connection: apsw.Connection,
    found: Sequence[Candidate],
    searched: Sequence[str],
    added: Sequence[QueryTerm],
    frequencies: Mapping[str, int],
) -> tuple[Candidate, ...]:
    """Return what was found by some terms, in the order of the BM25 scores by these and `added`.

    Args:
        connection: to the file, in the snapshot that the chunks were found in.
        found: chunks and their scores by the terms of `searched`.
        searched: FTS5 expressions; each of the chunks is matched by one of them at least. Those
            that match the fewest rows stand first.
        added: distinct words, no prefixes.
        frequencies: in how many chunks each of them occurs.
    """
    ids = [one.chunk_id for one in found]
    holders = _covering(connection, ids, searched)
    if not holders:
        return tuple(found)
    # The added terms stand first: these are the phrases that are counted.
    rows = connection.execute(
        "SELECT rowid, occurrences(chunk_words, :added) FROM chunk_words "
        "WHERE chunk_words MATCH :expression AND +rowid IN (SELECT value FROM json_each(:ids))",
        {
            "added": len(added),
            "expression": f"({match_expression(added)}) AND ({holders})",
            "ids": json.dumps(ids),
        },
    )
    more: dict[int, float] = {}
    weights: list[float] = []
    for chunk_id, counted in rows:
        chunks, all_tokens, tokens, *counts = json.loads(str(counted))
        weights = weights or [inverse_frequency(frequencies[one.term], chunks) for one in added]
        length = tokens * chunks / all_tokens
        more[int(chunk_id)] = sum(
            weight * term_score(count, length)
            for weight, count in zip(weights, counts, strict=True)
            if count
        )
    scored = [replace(one, score=one.score + more.get(one.chunk_id, 0.0)) for one in found]
    scored.sort(key=lambda one: (-one.score, one.chunk_id))
    return tuple(replace(one, rank=rank) for rank, one in enumerate(scored, start=1))


def _covering(connection: apsw.Connection, ids: Iterable[int], searched: Sequence[str]) -> str:
    """Return the expression of some of `searched`, the first ones, that match all the chunks.

    In a large base the first seventh of the rows is enough: what has a good score has a rare term.
    """
    left = set(ids)
    taken = []
    for expression in searched:
        rows = connection.execute(
            "SELECT rowid FROM chunk_words WHERE chunk_words MATCH :expression "
            "AND +rowid IN (SELECT value FROM json_each(:ids))",
            {"expression": expression, "ids": json.dumps(list(left))},
        )
        holders = {int(chunk_id) for (chunk_id,) in rows}
        if holders:
            taken.append(expression)
            left -= holders
        if not left:
            break
    return " OR ".join(taken)


def inverse_frequency(frequency: int, chunks: int) -> float:
    """Return the weight of a term that occurs in `frequency` of the chunks."""
    return max(log((chunks - frequency + 0.5) / (frequency + 0.5)), LEAST_WEIGHT)


def term_score(count: int, length: float) -> float:
    """Return what `count` occurrences say, below 2.2; `length` is in mean lengths of a chunk."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length))
