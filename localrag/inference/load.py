"""Opens models by name or path.

Making a model is cheap: the tokenizer and the weights are read when they are first needed, or all
at once, side by side, by `warm_up`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.inference.bi_encoder import BiEncoder
from localrag.inference.bundle import find_card
from localrag.inference.card import load_card
from localrag.inference.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["load_embedder", "load_reranker"]


def load_embedder(model: str | Path | None = None, *, threads: int | None = None) -> BiEncoder:
    """Return the bi-encoder `model`, or the one that ships; weights are read at first use.

    Raises:
        ModelError: there is no such model, or it is of another kind.
    """
    path = find_card(model, "bi-encoder")
    return BiEncoder(load_card(path), path.parent, threads=threads)


def load_reranker(model: str | Path | None = None, *, threads: int | None = None) -> CrossEncoder:
    """Return the cross-encoder `model`, or the one that ships; weights are read at first use.

    Raises:
        ModelError: there is no such model, or it is of another kind.
    """
    path = find_card(model, "cross-encoder")
    return CrossEncoder(load_card(path), path.parent, threads=threads)
