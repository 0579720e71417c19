"""How much a ranked list counts in the fusion, by the query that it answers."""

from __future__ import annotations

import re
from typing import Final

from localrag.text.folding import normalise
from localrag.text.scripts import UNSPACED, one_of

__all__ = ["SPACED_WEIGHT", "UNSPACED_WEIGHT", "lexical_weight"]

SPACED_WEIGHT: Final = 0.9
"""Of BM25 beside the vectors, which weigh 1; chosen on training questions (docs/decisions.md)."""

UNSPACED_WEIGHT: Final = 1.3
"""Likewise where most letters of a query belong to scripts that are indexed as pairs of characters:
they say more than words, which have many forms."""

_LETTER = re.compile(r"[^\W\d_]")


def lexical_weight(query: str) -> float:
    """Return the weight of BM25's list for a query; the vectors' list always weighs 1."""
    text = normalise(query)
    if text.isascii():
        return SPACED_WEIGHT
    unspaced = len(one_of(UNSPACED).findall(text))
    return UNSPACED_WEIGHT if 2 * unspaced > len(_LETTER.findall(text)) else SPACED_WEIGHT
