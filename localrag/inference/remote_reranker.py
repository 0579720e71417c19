"""A cross-encoder on a server with a Cohere- or Jina-compatible ``/rerank``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from localrag.checked import checked
from localrag.inference.cross_encoder import calibrate
from localrag.inference.http_client import JsonClient, Patience
from localrag.inference.legal_text import legal_text
from localrag.inference.remote_answer import unusable
from localrag.inference.remote_card import batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.inference.protocols import FloatArray
    from localrag.inference.remote_card import RemoteCard

__all__ = ["RemoteReranker", "read_scores", "to_logits"]

ROUNDING: Final = 1e-3
"""By how much a probability may lie outside 0 to 1, as half-precision servers return it."""
SUREST: Final = 1e-6
"""Nearest that a probability comes to 0 or 1 before its logit is taken."""


class RemoteReranker:
    """A cross-encoder that a server runs. Making one asks nothing of the server.

    Args:
        card: facts of the model; its kind must be ``"cross-encoder"``.
        client: what asks the server.
    """

    def __init__(self, card: RemoteCard, *, client: JsonClient | None = None) -> None:
        self.card = card
        self.name = card.model
        self.fingerprint = card.fingerprint
        self._client = client or JsonClient(card.url, card.key_variable)

    def relevance(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return the probability that each passage answers the query, shape (passages,).

        A score is taken for a probability, or for a logit where the card says so; its logit is
        then calibrated by the card's scale and bias. The order of the scores is kept.

        Raises:
            RemoteError: the server could not be asked in time, or its answer cannot be used.
        """
        asked = self.card.query_prefix + legal_text(query)
        texts = [self.card.passage_prefix + legal_text(passage) for passage in passages]
        deadline = time.monotonic() + self.card.query_seconds  # for all batches: a user waits
        scores = np.empty(len(texts), np.float32)
        for run in batches(texts, self.card):
            part = slice(run.start, run.stop)
            scores[part] = self._scores(asked, texts[part], deadline - time.monotonic())
        return calibrate(scores, self.card.calibration)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._client.close()

    def _scores(self, query: str, texts: Sequence[str], seconds: float) -> FloatArray:
        body = {
            "model": self.card.model,
            "query": query,
            "documents": list(texts),
            "top_n": len(texts),
            "return_documents": False,
        }
        patience = Patience.of_query(seconds)
        answer = self._client.post("/rerank", body, patience)
        try:
            scores = read_scores(answer, len(texts))
            return scores if self.card.scores == "logit" else to_logits(scores)
        except ValueError as error:
            raise unusable(f"{self._client.url}/rerank", self.name, error) from error


@dataclass(frozen=True, slots=True)
class _Result:
    index: int
    relevance_score: float


@dataclass(frozen=True, slots=True)
class _Answer:
    results: list[_Result]


def read_scores(answer: object, texts: int) -> FloatArray:
    """Return the scores of an answer in the order of the texts, shape (texts,).

    Raises:
        ValueError: what is wrong with the answer.
    """
    results = checked(answer, _Answer, strict=False).results
    if len(results) != texts:
        raise ValueError(f"{len(results)} scores for {texts} texts")
    if sorted(result.index for result in results) != list(range(texts)):
        raise ValueError(f"indices that are not 0 to {texts - 1}, each once")
    scores = np.empty(texts, np.float32)
    scores[[result.index for result in results]] = [result.relevance_score for result in results]
    if not np.isfinite(scores).all():
        raise ValueError("a score that is not a number")
    return scores


def to_logits(probabilities: FloatArray) -> FloatArray:
    """Return log(p / (1 - p)) of each, shape as given.

    Raises:
        ValueError: a number lies outside 0 to 1.
    """
    if len(probabilities) and not (
        probabilities.min() >= -ROUNDING and probabilities.max() <= 1 + ROUNDING
    ):
        raise ValueError(
            'scores outside 0 to 1; if they are logits, its card needs "scores": "logit"'
        )
    inside = np.clip(probabilities.astype(np.float64), SUREST, 1 - SUREST)
    return np.asarray(np.log(inside / (1 - inside)), np.float32)
