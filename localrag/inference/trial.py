"""Runs a model once, so that a wrong card shows before anything is indexed with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localrag.errors import ModelError
from localrag.inference.bi_encoder import BiEncoder
from localrag.inference.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.inference.card import ModelCard

__all__ = ["try_model"]

SHORT = "Keys are rotated every month."
LONGEST = 512
"""Most tokens of the long trial text: where encoders end whose card promises more than they read,
and still a second's work for a large one."""
SAME = 0.95
"""Least cosine of a text alone with the same text beside a longer one. Eight-bit exports with one
scale for a whole batch stay above .99; one that reads its padding does not."""


def try_model(card: ModelCard, directory: Path) -> None:
    """Run the model whose files lie in `directory`, on short and long texts, alone and together.

    Raises:
        ModelError: it cannot be loaded, or does not do what its card says.
    """
    if card.kind == "bi-encoder":
        _try_bi_encoder(BiEncoder(card, directory))
    else:
        _try_cross_encoder(CrossEncoder(card, directory))


def _try_bi_encoder(model: BiEncoder) -> None:
    try:
        together = model.embed_passages([SHORT, _long_text(model)])
        alone = model.embed_passages([SHORT])
        model.embed_query(SHORT)
    finally:
        model.close()
    cosine = _cosine(together[0], alone[0])
    if cosine < SAME:
        raise ModelError(
            f"{model.name} gives a text another vector when a longer one stands beside it (cosine "
            f"{cosine:.2f}): the pooling in its card is wrong, or its export ignores the mask"
        )


def _try_cross_encoder(model: CrossEncoder) -> None:
    try:
        model.relevance(SHORT, [SHORT, "鍵 " + "a " * LONGEST])
    finally:
        model.close()


def _long_text(model: BiEncoder) -> str:
    limit = min(model.counter.max_tokens, LONGEST)
    words = limit
    while model.counter.count("a " * words) > limit:
        words = words * 3 // 4
    return "a " * words


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
