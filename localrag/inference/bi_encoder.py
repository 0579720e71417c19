"""Places queries and passages in one vector space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localrag.errors import ModelError
from localrag.inference.batching import pad, plan_batches
from localrag.inference.local_model import LocalModel
from localrag.inference.pooling import pool, require_usable, unit
from localrag.inference.tokenizer import PassageCounter, cut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from localrag.inference.card import ModelCard
    from localrag.inference.protocols import FloatArray

__all__ = ["BiEncoder"]


class BiEncoder(LocalModel):
    """A bi-encoder from a card and the files beside it.

    Args:
        card: facts of the model; its kind must be ``"bi-encoder"``.
        directory: where the card's files lie.
        threads: threads for one batch; the usable physical cores when None.

    Making one reads nothing; the tokenizer and the weights are read when they are first needed.
    """

    def __init__(self, card: ModelCard, directory: Path, *, threads: int | None = None) -> None:
        if card.dimensions is None or card.pooling is None:
            raise ModelError(f"{card.name} is a {card.kind}: give a bi-encoder to embed with")
        super().__init__(card, directory, threads=threads)
        self.dimensions = card.dimensions
        self._pooling = card.pooling
        self.counter = PassageCounter(self._tokenizer, card.passage_prefix, card.max_tokens)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (texts, dimensions), in the order of `texts`.

        Raises:
            ModelError: a passage exceeds the model's limit, or the model fails.
        """
        inputs = self._tokenizer.encode_batch([self.card.passage_prefix + text for text in texts])
        self._require_short(inputs)
        return self._embed(inputs)

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector, shape (dimensions,); what exceeds the limit is not read.

        Raises:
            ModelError: the model fails.
        """
        prefixed = self.card.query_prefix + text
        tokens = self._tokenizer.encode(prefixed)
        if len(tokens) > self.card.max_tokens:
            special = len(self._tokenizer.encode(""))
            tokens = self._tokenizer.encode(
                cut(self._tokenizer, prefixed, self.card.max_tokens - special)
            )
        vector: FloatArray = self._embed([tokens])[0]
        return vector

    def _require_short(self, inputs: Sequence[Sequence[int]]) -> None:
        longest = max(map(len, inputs), default=0)
        if longest > self.card.max_tokens:
            raise ModelError(
                f"a passage has {longest} tokens and {self.card.name} reads "
                f"{self.card.max_tokens}: make the chunks smaller"
            )

    def _embed(self, inputs: Sequence[Sequence[int]]) -> FloatArray:
        vectors = np.empty((len(inputs), self.dimensions), np.float32)
        lengths = [len(tokens) for tokens in inputs]
        for batch in plan_batches(lengths, self._session.token_budget):
            ids, mask = pad([inputs[member] for member in batch.members])
            pooled = pool(self._session.run(ids, mask), mask, self._pooling)
            vectors[list(batch.members)] = self._checked(pooled)
        return vectors

    def _checked(self, pooled: FloatArray) -> FloatArray:
        if pooled.shape[1] != self.dimensions:
            raise ModelError(
                f"{self.card.name} returned {pooled.shape[1]} dimensions, its card says "
                f"{self.dimensions}: correct the card"
            )
        if self.card.normalize:
            return unit(pooled)
        require_usable(pooled)
        return pooled
