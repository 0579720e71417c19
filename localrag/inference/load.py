"""Opens models by name or path.

Making a model is cheap: the tokenizer and the weights are read when they are first needed, or all
at once, side by side, by `warm_up`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from localrag.inference.bi_encoder import BiEncoder
from localrag.inference.bundle import find_card
from localrag.inference.card import load_card
from localrag.inference.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["load_embedder", "load_reranker", "warm_up"]


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


def warm_up(*models: object) -> None:
    """Read weights and tokenizers of `models` now, side by side; fakes have none and are left out.

    A session is built without holding Python's lock, a tokenizer is not: the sessions are started
    first, and the second a tokenizer takes passes beside them.

    Raises:
        ModelError: a file cannot be read.
    """
    loadable = [model for model in models if isinstance(model, BiEncoder | CrossEncoder)]
    with ThreadPoolExecutor(max_workers=max(1, len(loadable))) as pool:
        started = [pool.submit(model.load) for model in loadable]
        for model in loadable:
            model.load_tokenizer()
        for future in started:
            future.result()
