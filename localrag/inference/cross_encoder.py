"""Reads a query and a passage together and says how likely the passage answers the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localrag.errors import ModelError
from localrag.inference.batching import pad, run_batches
from localrag.inference.card import PLAIN_SIGMOID
from localrag.inference.local_model import LocalModel
from localrag.inference.tokenizer import cut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from localrag.inference.batching import Batch
    from localrag.inference.card import Calibration, ModelCard
    from localrag.inference.protocols import FloatArray

__all__ = ["CrossEncoder", "calibrate"]


class CrossEncoder(LocalModel):
    """A cross-encoder from a card and the files beside it.

    Args:
        card: facts of the model; its kind must be ``"cross-encoder"``.
        directory: where the card's files lie.
        threads: batches that run side by side; the usable physical cores when None.

    Making one reads nothing; the tokenizer and the weights are read when they are first needed.
    """

    def __init__(self, card: ModelCard, directory: Path, *, threads: int | None = None) -> None:
        if card.kind != "cross-encoder":
            raise ModelError(f"{card.name} is a {card.kind}: give a cross-encoder to rerank with")
        super().__init__(card, directory, threads=threads)
        self.calibration = card.calibration or PLAIN_SIGMOID

    @property
    def calibrated(self) -> bool:
        """Whether its probabilities were fitted on data."""
        return self.card.calibration is not None

    @property
    def window_tokens(self) -> int | None:
        """Tokens of a window, where a search is to read the best a second time; None: only once."""
        return self.card.window_tokens

    def relevance(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return the probability that each passage answers the query, shape (passages,).

        Raises:
            ModelError: the model fails.
        """
        return calibrate(self.logits(query, passages), self.calibration)

    def logits(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return the model's own scores, shape (passages,), in the order of `passages`.

        A query keeps at most half of the limit and a passage what is left; the rest is not read.

        Raises:
            ModelError: the model fails, or returns what is not a number.
        """
        inputs = self._inputs(query, passages)
        second = self._tokenizer.second_start(self._kept(query)) if inputs else None
        scores = np.empty(len(inputs), np.float32)

        def score(batch: Batch) -> None:
            ids, mask = pad([inputs[member] for member in batch.members])
            scores[list(batch.members)] = self._one_each(
                self._session.run(ids, mask, token_types(mask, second)), len(batch.members)
            )

        run_batches(score, [len(tokens) for tokens in inputs], self._session.threads)
        if not np.isfinite(scores).all():
            raise ModelError(
                f"{self.card.name} returned a score that is not a number: reinstall the model"
            )
        return scores

    def _one_each(self, output: FloatArray, passages: int) -> FloatArray:
        if output.size != passages:
            raise ModelError(
                f"{self.card.name} returned an output of shape {output.shape} for {passages} "
                "passages: a cross-encoder must return one score for each; name the right output "
                "in the card, or use another model"
            )
        return output.reshape(-1)

    def _kept(self, query: str) -> str:
        return cut(self._tokenizer, self.card.query_prefix + query, self.card.max_tokens // 2)

    def _inputs(self, query: str, passages: Sequence[str]) -> list[list[int]]:
        limit = self.card.max_tokens
        kept = self._kept(query)
        whole = [self.card.passage_prefix + passage for passage in passages]
        inputs = self._tokenizer.encode_pairs(kept, whole)
        for position, tokens in enumerate(inputs):
            if len(tokens) > limit:
                inputs[position] = self._shortened(kept, whole[position])
        return inputs

    def _shortened(self, query: str, passage: str) -> list[int]:
        around = len(self._tokenizer.encode_pairs(query, [""])[0])
        start = cut(self._tokenizer, passage, self.card.max_tokens - around)
        return self._tokenizer.encode_pairs(query, [start])[0]


def token_types(mask: NDArray[np.int64], second: int | None) -> NDArray[np.int64] | None:
    """Return 1 for the tokens from position `second` on, shape of `mask`; None without types."""
    if second is None:
        return None
    types = mask.copy()
    types[:, :second] = 0
    return types


def calibrate(logits: FloatArray, calibration: Calibration) -> FloatArray:
    """Return probabilities by Platt scaling, shape (n,); the order of the logits is kept."""
    scaled = calibration.scale * logits.astype(np.float64) + calibration.bias
    # tanh instead of exp: no overflow at either end.
    return (0.5 * (1 + np.tanh(scaled / 2))).astype(np.float32)
