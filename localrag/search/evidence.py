"""What speaks for a candidate: the cross-encoder, the fused list, the names it has, its file.

A small cross-encoder reads names of code badly: they are many pieces to its tokenizer, and what
differs in one of them looks alike. Whether a chunk is about a thing that the question names is told
better by looking for the name. So the three are added up, and a file of source code vouches for its
chunks here as it does in retrieval (docs/decisions.md, 60).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final

from localrag.search.files import SHARE, raised
from localrag.text.code_names import holds_name, names_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from localrag.records import StoredChunk

__all__ = ["FUSED_WEIGHT", "NAMES_WEIGHT", "Evidence", "evidence", "share_of_names"]

FUSED_WEIGHT: Final = 75.0
"""Of the fused score beside the cross-encoder's log-odds, chosen by models/training/evidence.py.
The best of both lists gets 2.5 from it, the last of both next to nothing."""

NAMES_WEIGHT: Final = 3.0
"""Of the share of the question's names of code that a chunk has, chosen likewise."""

IN_TEXT: Final = 1 / 3
"""What a name counts that only the text of a chunk has: many chunks use what one defines. The line
of context has the names of what is defined in the chunk, and of what that is a part of."""

DOUBT: Final = 0.01
"""Added to the probability that a passage answers and to that it does not, before their logarithm:
a candidate at .001 is no more wrong than one at .01, and none is out of reach of what was found."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of candidates beside their probabilities, by chunk id."""

    fused: Mapping[int, float]
    """Fused scores."""
    names: Mapping[int, float]
    """Shares of the question's names."""
    files: Mapping[int, int]
    """The documents of those that are source code."""
    fused_weight: float = FUSED_WEIGHT
    names_weight: float = NAMES_WEIGHT

    def order(self, probabilities: Mapping[int, float]) -> list[int]:
        """Return the candidates with a probability, best first; equals stay in their order."""
        scores = {
            id_: evidence(
                probability, self.fused[id_], self.names[id_], self.fused_weight, self.names_weight
            )
            for id_, probability in probabilities.items()
        }
        scores = raised(scores, self.files, SHARE)
        return sorted(scores, key=lambda id_: -scores[id_])


def evidence(
    probability: float,
    fused: float,
    names: float = 0.0,
    fused_weight: float = FUSED_WEIGHT,
    names_weight: float = NAMES_WEIGHT,
) -> float:
    """Return the log-odds, doubted by `DOUBT`, plus the weighted fused score and share of names."""
    own = min(max(probability, 0.0), 1.0)  # a reranker of the caller's may return anything
    log_odds = log((own + DOUBT) / (1 - own + DOUBT))
    return log_odds + fused_weight * fused + names_weight * names


def share_of_names(question: str, chunks: Iterable[StoredChunk]) -> dict[int, float]:
    """Return which part of the question's names of code each chunk has, from 0 to 1, by its id."""
    names = names_in(question)
    most = max(1, len(names))
    return {chunk.id: sum(_counts(chunk, name) for name in names) / most for chunk in chunks}


def _counts(chunk: StoredChunk, name: str) -> float:
    if holds_name(chunk.context, name):
        return 1.0
    return IN_TEXT if holds_name(chunk.text, name) else 0.0
