"""Which terms of a query find chunks, which only add to their scores, and which are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.store.term_scores import inverse_frequency

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localrag.text.analysis import QueryTerm

__all__ = ["known_terms", "prune_frequent", "rare_first", "split_frequent"]


def rare_first(terms: Sequence[QueryTerm], frequencies: Mapping[str, int]) -> list[QueryTerm]:
    """Return terms by the number of their chunks: of too many, those that tell most are kept."""
    return sorted(terms, key=lambda term: frequencies.get(term.term, 0))


def known_terms(terms: list[QueryTerm], frequencies: Mapping[str, int]) -> list[QueryTerm]:
    """Leave out terms that the index lacks."""
    # A prefix stands for words that the index may hold although it lacks the prefix itself.
    return [term for term in terms if term.prefix or term.term in frequencies]


def prune_frequent(
    terms: list[QueryTerm], frequencies: Mapping[str, int], chunks: int
) -> list[QueryTerm]:
    """Leave out terms that the index lacks, and those so frequent that they tell nothing apart.

    A stop word costs most of the time of a query, since FTS5 scores every row that matches any
    term, and adds next to nothing to a score. The limit is a share of the chunks, so it holds for
    any language and any collection. When all terms are frequent the rarest ones stay.
    """
    known = known_terms(terms, frequencies)
    limit = max(FREQUENT_MINIMUM, chunks * FREQUENT_SHARE)
    rare = [term for term in known if frequencies.get(term.term, 0) <= limit]
    if rare or not known:
        return rare
    rarest = min(frequencies[term.term] for term in known)
    return [term for term in known if frequencies[term.term] <= rarest * FREQUENT_SPREAD]


FREQUENT_SHARE = 0.3
"""A term in more than this share of the chunks is dropped."""
FREQUENT_MINIMUM = 50
"""In a small base even a term of most chunks is cheap, and may be all there is."""
FREQUENT_SPREAD = 1.5
"""Among frequent terms only, those up to this multiple of the rarest one's frequency stay."""


def split_frequent(
    terms: list[QueryTerm], frequencies: Mapping[str, int], chunks: int
) -> tuple[list[QueryTerm], list[QueryTerm]]:
    """Return the terms that find candidates, and those that only add to their scores.

    The rarest come first. In a large base there is no time to score every row that a term is in:
    once there are many, terms find as long as those before them hold too little of what all terms
    weigh together. A chunk without the rarer ones is then seldom among the best.
    """
    ordered = rare_first(terms, frequencies)
    weights = [inverse_frequency(frequencies.get(term.term, 0), chunks) for term in ordered]
    enough = FINDING_WEIGHT * sum(weights)
    rows = 0
    weight = 0.0
    added: list[QueryTerm] = []
    for number, (term, own) in enumerate(zip(ordered, weights, strict=True)):
        rows += frequencies.get(term.term, 0)
        if number and (rows > MOST_ROWS or (rows > MANY_ROWS and weight >= enough)):
            added.append(term)
        weight += own
    return [term for term in terms if term not in added], added[:MOST_ADDED]


MANY_ROWS = 30_000
"""Rows that any query may score, each counted once per term: about 15 ms."""
MOST_ROWS = 150_000
"""Rows that a query may score to find enough: about 70 ms, which few questions take."""
FINDING_WEIGHT = 0.6
"""Share of the weight of all terms that must be looked for, by inverse frequency."""
MOST_ADDED = 32
"""The rarest of them, as many as a Japanese question has; of a pasted page that is enough."""
