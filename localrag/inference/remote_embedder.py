"""A bi-encoder on a server with an OpenAI-compatible ``/embeddings``."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from localrag.checked import checked
from localrag.errors import RemoteError
from localrag.inference.bundle import DEFAULT_FAMILY, find_card
from localrag.inference.card import shipped_card
from localrag.inference.http_client import JsonClient, Patience
from localrag.inference.legal_text import legal_text
from localrag.inference.library_tokenizer import LibraryTokenizer
from localrag.inference.remote_answer import unusable
from localrag.inference.remote_card import batches
from localrag.inference.tokenizer import PassageCounter, cut, open_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from localrag.inference.protocols import FloatArray
    from localrag.inference.remote_card import RemoteCard
    from localrag.inference.tokenizer import Tokenizer

__all__ = ["RemoteEmbedder", "read_vectors"]

ESTIMATED_SHARE: Final = 0.75
"""Of the model's limit, what passages may fill by the bundled tokenizer's count.

The model's own tokenizer is not here. Where it needs up to a third more tokens for a text than the
bundled one, nothing is cut off.
"""
TOO_MUCH: Final = frozenset({400, 413, 422})
"""What servers answer to a request that is larger than they take."""


class RemoteEmbedder:
    """A bi-encoder that a server runs. Making one asks nothing of the server.

    Args:
        card: facts of the model; its kind must be ``"bi-encoder"``.
        directory: where the card lies, and its tokenizer if it names one.
        client: what asks the server.
    """

    def __init__(
        self, card: RemoteCard, directory: Path, *, client: JsonClient | None = None
    ) -> None:
        self.card = card
        self.name = card.model
        self.fingerprint = card.fingerprint
        self._client = client or JsonClient(card.url, card.key_variable)
        self._dimensions = card.dimensions
        self._tokenizer, limit = _tokenizer(card, directory)
        self.counter = PassageCounter(self._tokenizer, card.passage_prefix, limit)

    @property
    def dimensions(self) -> int:
        """Length of a vector; the server is asked once where the card does not say it.

        Raises:
            RemoteError: the server could not be asked.
        """
        if self._dimensions is None:
            self.embed_passages(["dimensions"])
        assert self._dimensions is not None  # noqa: S101 - set by the answer above
        return self._dimensions

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (texts, dimensions), in the order of `texts`.

        Raises:
            RemoteError: the server could not be asked, or its answer cannot be used.
        """
        patience = Patience(read=self.card.batch_seconds, total=3 * self.card.batch_seconds)
        prefixed = [self.card.passage_prefix + legal_text(text) for text in texts]
        runs = [prefixed[run.start : run.stop] for run in batches(prefixed, self.card)]
        if not runs:
            return np.empty((0, self._dimensions or 0), np.float32)
        return np.concatenate([self._embed(run, patience) for run in runs])

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector, shape (dimensions,); what exceeds the limit is not read.

        Raises:
            RemoteError: the server could not be asked in time, or its answer cannot be used.
        """
        limit = self.counter.max_tokens if len(text) > self.card.max_tokens else None
        kept = text if limit is None else cut(self._tokenizer, text, limit)
        patience = Patience.of_query(self.card.query_seconds)
        vector: FloatArray = self._embed([self.card.query_prefix + legal_text(kept)], patience)[0]
        return vector

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._client.close()

    def _embed(self, texts: Sequence[str], patience: Patience) -> FloatArray:
        body = {"model": self.card.model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self._client.post("/embeddings", body, patience)
        except RemoteError as error:
            if error.status not in TOO_MUCH or len(texts) == 1:
                raise
            half = len(texts) // 2
            parts = (self._embed(part, patience) for part in (texts[:half], texts[half:]))
            return np.concatenate(list(parts))
        try:
            vectors = read_vectors(answer, len(texts), self._dimensions)
        except ValueError as error:
            raise unusable(f"{self._client.url}/embeddings", self.name, error) from error
        self._dimensions = vectors.shape[1]
        return vectors


def _tokenizer(card: RemoteCard, directory: Path) -> tuple[Tokenizer, int]:
    """Return what counts tokens, and how many of them the model reads."""
    if card.tokenizer is not None:
        return LibraryTokenizer(directory / card.tokenizer), card.max_tokens
    bundled = find_card(DEFAULT_FAMILY, "bi-encoder")
    tokenizer = open_tokenizer(shipped_card(bundled), bundled.parent)
    return tokenizer, int(card.max_tokens * ESTIMATED_SHARE)


@dataclass(frozen=True, slots=True)
class _Item:
    embedding: list[float] | str
    """Numbers, or the base64 of little-endian float32."""
    index: int | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    data: list[_Item]


def read_vectors(answer: object, texts: int, dimensions: int | None) -> FloatArray:
    """Return the unit vectors of an answer in the order of the texts, shape (texts, dimensions).

    Args:
        answer: the JSON of ``/embeddings``.
        texts: how many were asked for.
        dimensions: how long they must be; None where that is not known yet.

    Raises:
        ValueError: what is wrong with the answer.
    """
    items = checked(answer, _Answer, strict=False).data
    if len(items) != texts:
        raise ValueError(f"{len(items)} vectors for {texts} texts")
    rows = [_numbers(item.embedding) for item in items]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise ValueError("vectors of different lengths")
    if dimensions is not None and lengths != {dimensions}:
        raise ValueError(f"{lengths.pop()} dimensions instead of {dimensions}")
    vectors = np.empty((texts, lengths.pop()), np.float64)  # no number overflows before its check
    vectors[_order([item.index for item in items])] = rows
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise ValueError("a vector that is zero or not finite")
    return np.asarray(vectors / norms, np.float32)


def _order(indices: Sequence[int | None]) -> list[int]:
    """Return which text each item belongs to: what it says, or its place where none says."""
    if all(index is None for index in indices):
        return list(range(len(indices)))
    told = [-1 if index is None else index for index in indices]
    if sorted(told) != list(range(len(told))):
        raise ValueError(f"indices that are not 0 to {len(told) - 1}, each once")
    return told


def _numbers(embedding: list[float] | str) -> NDArray[np.floating]:
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
        except (binascii.Error, ValueError):
            raise ValueError("a vector that is not the base64 of float32 numbers") from None
    return np.array(embedding, np.float64)
