"""Opens models by name or path.

Making a model is cheap: the tokenizer and the weights are read when they are first needed, or in
the background, by `load_ahead`.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from localrag.errors import ModelError
from localrag.inference.bi_encoder import BiEncoder
from localrag.inference.bundle import find_card
from localrag.inference.card import load_card
from localrag.inference.cross_encoder import CrossEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["load_ahead", "load_embedder", "load_reranker"]


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


def load_ahead(*models: object) -> threading.Thread:
    """Start reading weights and tokenizers of `models`, in this order, and return at once.

    The runtime reads weights without holding Python's lock, so that other work goes on beside it.
    What cannot be read is reported at its first use, by the thread that uses it. Fakes and models
    that run elsewhere have nothing to read.
    """
    loadable = [model for model in models if isinstance(model, BiEncoder | CrossEncoder)]
    thread = threading.Thread(target=_load_all, args=(loadable,), name="localrag-load-ahead")
    thread.start()
    return thread


def _load_all(models: Sequence[BiEncoder | CrossEncoder]) -> None:
    with suppress(ModelError):
        for model in models:
            model.load_tokenizer()
            model.load()
