"""Turns token vectors into one vector for each text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localrag.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from localrag.inference.protocols import FloatArray

__all__ = ["first_token", "mean_of_tokens", "unit"]


def mean_of_tokens(hidden: FloatArray, mask: NDArray[np.int64]) -> FloatArray:
    """Return the mean of the unmasked tokens: (batch, tokens, d), (batch, tokens) -> (batch, d)."""
    weights = mask.astype(np.float32)[:, None, :]
    counts = np.maximum(weights.sum(axis=2), 1)
    means: FloatArray = np.matmul(weights, hidden)[:, 0] / counts
    return means


def first_token(hidden: FloatArray) -> FloatArray:
    """Return the first token's vector: (batch, tokens, d) -> (batch, d)."""
    return np.ascontiguousarray(hidden[:, 0])


def unit(vectors: FloatArray) -> FloatArray:
    """Return vectors of length 1: (batch, d) -> (batch, d).

    Raises:
        ModelError: a vector is zero or not finite; stored, it would be near everything or nothing.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    require_usable(vectors)
    scaled: FloatArray = vectors / lengths
    return scaled


def require_usable(vectors: FloatArray) -> None:
    """Raise ModelError where a vector is zero or not finite."""
    if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
        raise ModelError(
            "the model returned a vector that is zero or not finite: its files or its card are "
            "wrong; reinstall it or use another model"
        )
