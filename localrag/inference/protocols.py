"""What the lanes ask of a model, whatever runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Embedder", "FloatArray", "Reranker", "TokenCounter"]

FloatArray = NDArray[np.float32]


class TokenCounter(Protocol):
    """Tells how a text is cut into a model's tokens."""

    @property
    def max_tokens(self) -> int:
        """Most tokens of one passage, special tokens and the passage prefix already taken off."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without special tokens."""
        ...

    def token_starts(self, text: str) -> NDArray[np.int64]:
        """Return the first character of every token, ascending, shape (tokens,)."""
        ...


class Embedder(Protocol):
    """A bi-encoder: places queries and passages in one space."""

    fingerprint: str
    """Changes whenever the vectors would: model files, pooling, prefixes."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def counter(self) -> TokenCounter:
        """How this model counts tokens."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (texts, dimensions)."""
        ...

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector, shape (dimensions,)."""
        ...

    def close(self) -> None:
        """Release the session's memory; a later call loads it again."""
        ...


class Reranker(Protocol):
    """A cross-encoder: reads a query and a passage together.

    One may have an attribute `calibrated`. Where it is true, its probabilities were fitted on data,
    and a search reads no further once one of the best candidates surely answers. With an attribute
    `window_tokens` it reads the best candidates a second time, in windows of about so many tokens.
    """

    fingerprint: str

    def relevance(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return the probability that each passage answers the query, shape (passages,)."""
        ...

    def close(self) -> None:
        """Release the session's memory; a later call loads it again."""
        ...
