"""Turns token vectors into one vector for each text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localrag.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from localrag.inference.card import Pooling
    from localrag.inference.protocols import FloatArray

__all__ = ["first_token", "last_token", "mean_of_tokens", "pool", "unit"]

TOKEN_VECTORS = 3
"""Axes of an output that holds a vector for each token."""
TEXT_VECTORS = 2
"""Axes of an output that holds a vector for each text."""


def pool(output: FloatArray, mask: NDArray[np.int64], pooling: Pooling) -> FloatArray:
    """Return one vector for each text, (batch, d), from a model's output.

    Args:
        output: (batch, tokens, d); (batch, d) where `pooling` is ``"none"``.
        mask: 1 where there is a token, (batch, tokens); what is real comes first.
        pooling: as the model was trained.

    Raises:
        ModelError: the output has another shape than that.
    """
    values = np.asarray(output, np.float32)  # half-precision exports would overflow in the norm
    axes = TEXT_VECTORS if pooling == "none" else TOKEN_VECTORS
    if values.ndim != axes:
        raise ModelError(
            f"the model's output has shape {values.shape}, which does not fit the pooling "
            f'"{pooling}" of its card: set pooling to "none" where the model returns one vector '
            "for each text, or name the right output in the card"
        )
    if pooling == "none":
        return values
    if pooling == "mean":
        return mean_of_tokens(values, mask)
    return first_token(values) if pooling == "first" else last_token(values, mask)


def mean_of_tokens(hidden: FloatArray, mask: NDArray[np.int64]) -> FloatArray:
    """Return the mean of the unmasked tokens: (batch, tokens, d), (batch, tokens) -> (batch, d)."""
    weights = mask.astype(np.float32)[:, None, :]
    counts = np.maximum(weights.sum(axis=2), 1)
    means: FloatArray = np.matmul(weights, hidden)[:, 0] / counts
    return means


def first_token(hidden: FloatArray) -> FloatArray:
    """Return the first token's vector: (batch, tokens, d) -> (batch, d)."""
    return np.ascontiguousarray(hidden[:, 0])


def last_token(hidden: FloatArray, mask: NDArray[np.int64]) -> FloatArray:
    """Return the last token's vector: (batch, tokens, d), mask (batch, tokens) -> (batch, d)."""
    last = np.maximum(mask.sum(axis=1) - 1, 0)
    return np.ascontiguousarray(hidden[np.arange(len(hidden)), last])


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
