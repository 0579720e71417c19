"""Models without weights: exact, instant, and sensible enough to retrieve with.

They let tests make exact assertions, and show what a model of one's own must offer. Their unit is
the word: a run of letters, digits and underscores, or one Chinese, Japanese or Korean character.
"""

from __future__ import annotations

import itertools
import re
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from localrag.inference.protocols import FloatArray

__all__ = ["FakeCounter", "FakeEmbedder", "FakeReranker"]

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
ALWAYS_PRESENT = 0.1
"""Weight of dimension 0, which every text has: no text, however empty, gets a zero vector."""


class FakeCounter:
    """Counts words as tokens.

    Args:
        max_tokens: most words of one passage.
    """

    def __init__(self, max_tokens: int = 500) -> None:
        self.max_tokens = max_tokens

    def count(self, text: str) -> int:
        """Return the number of words of `text`."""
        return sum(1 for _ in WORD.finditer(text))

    def token_starts(self, text: str) -> NDArray[np.int64]:
        """Return the first character of every word, ascending, shape (words,)."""
        return np.array([match.start() for match in WORD.finditer(text)], np.int64)


class FakeEmbedder:
    """A bag of words, each hashed to one dimension.

    Args:
        dimensions: length of a vector, at least 2.
        max_tokens: most words of one passage.
    """

    name = "fake-embedder"

    def __init__(self, dimensions: int = 256, max_tokens: int = 500) -> None:
        self.dimensions = dimensions
        self.fingerprint = f"fake-embedder-{dimensions}"
        self.counter = FakeCounter(max_tokens)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (texts, dimensions)."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        vectors[:, 0] = ALWAYS_PRESENT
        for row, text in enumerate(texts):
            for term in _terms(text):
                vectors[row, self._dimension(term)] += 1
        unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector, shape (dimensions,)."""
        vector: FloatArray = self.embed_passages([text])[0]
        return vector

    def verify(self) -> None:
        """Do nothing: there are no files."""

    def close(self) -> None:
        """Do nothing: there is no session."""

    def _dimension(self, term: str) -> int:
        return 1 + zlib.crc32(term.encode("utf-8", "replace")) % (self.dimensions - 1)


class FakeReranker:
    """The share of the query's words, counted once each, that stand in the passage."""

    name = "fake-reranker"
    fingerprint = "fake-reranker"

    def relevance(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return a number from 0 to 1 for each passage, shape (passages,)."""
        wanted = set(_terms(query))
        shares = [_share(wanted, set(_terms(passage))) for passage in passages]
        return np.array(shares, np.float32)

    def verify(self) -> None:
        """Do nothing: there are no files."""

    def close(self) -> None:
        """Do nothing: there is no session."""


def _terms(text: str) -> list[str]:
    """Return case-folded words, and pairs of neighbouring CJK characters in place of single ones.

    A CJK character that stands alone is a term by itself.
    """
    terms: list[str] = []
    for cjk, run in itertools.groupby(WORD.finditer(text.casefold()), _is_cjk):
        words = [match.group() for match in run]
        paired = cjk and len(words) > 1
        terms += map("".join, itertools.pairwise(words)) if paired else words
    return terms


def _is_cjk(match: re.Match[str]) -> bool:
    return re.match(f"[{CJK}]", match.group()) is not None


def _share(wanted: set[str], found: set[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0
