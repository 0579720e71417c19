"""Opens models by name, path or address.

Making a model is cheap: the tokenizer and the weights are read when they are first needed, or in
the background, by `load_ahead`.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.errors import ModelError
from localrag.inference.bi_encoder import BiEncoder
from localrag.inference.bundle import find_card, read_card
from localrag.inference.cross_encoder import CrossEncoder
from localrag.inference.local_model import LocalModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.inference.card import Kind
    from localrag.inference.protocols import Embedder, Reranker
    from localrag.inference.remote_card import RemoteCard

__all__ = ["load_ahead", "load_embedder", "load_reranker", "open_embedder", "open_reranker"]


def open_embedder(model: str | Path | None = None) -> Embedder:
    """Return the bi-encoder `model`, local or remote; nothing is read or asked before first use.

    Args:
        model: a name, a directory, a card, or ``http://HOST/v1#MODEL``; the one that ships if None.

    Raises:
        ModelError: there is no such model, or it is of another kind.
    """
    remote = _remote(model, "bi-encoder")
    if remote is None:
        return load_embedder(model)
    from localrag.inference.remote_embedder import RemoteEmbedder  # noqa: PLC0415 - opt-in

    return RemoteEmbedder(*remote)


def open_reranker(model: str | Path | None = None) -> Reranker:
    """Return the cross-encoder `model`, as `open_embedder` does."""
    remote = _remote(model, "cross-encoder")
    if remote is None:
        return load_reranker(model)
    from localrag.inference.remote_reranker import RemoteReranker  # noqa: PLC0415 - opt-in

    return RemoteReranker(remote[0])


def _remote(model: str | Path | None, kind: Kind) -> tuple[RemoteCard, Path] | None:
    """Return the card of a remote model and the directory it lies in; None for a local model."""
    if model is None:
        return None
    from localrag.inference.remote_card import (  # noqa: PLC0415 - only where a model is named
        card_of_address,
        is_address,
        read_remote_card,
    )

    if is_address(model):
        return card_of_address(str(model), kind), Path()
    path = find_card(model, kind)
    card = read_remote_card(path, kind)
    return None if card is None else (card, path.parent)


def load_embedder(model: str | Path | None = None, *, threads: int | None = None) -> BiEncoder:
    """Return the bi-encoder `model`, or the one that ships; weights are read at first use.

    Raises:
        ModelError: there is no such model, or it is of another kind.
    """
    path = find_card(model, "bi-encoder")
    return BiEncoder(read_card(path), path.parent, threads=threads)


def load_reranker(model: str | Path | None = None, *, threads: int | None = None) -> CrossEncoder:
    """Return the cross-encoder `model`, or the one that ships; weights are read at first use.

    Raises:
        ModelError: there is no such model, or it is of another kind.
    """
    path = find_card(model, "cross-encoder")
    return CrossEncoder(read_card(path), path.parent, threads=threads)


def load_ahead(*models: object) -> threading.Thread:
    """Start reading weights and tokenizers of `models`, in this order, and return at once.

    The runtime reads weights without holding Python's lock, so that other work goes on beside it.
    What cannot be read is reported at its first use, by the thread that uses it. Fakes and models
    that run elsewhere have nothing to read.
    """
    loadable = [model for model in models if isinstance(model, LocalModel)]
    thread = threading.Thread(target=_load_all, args=(loadable,), name="localrag-load-ahead")
    thread.start()
    return thread


def _load_all(models: Sequence[LocalModel]) -> None:
    with suppress(ModelError):
        for model in models:
            model.load_tokenizer()
            model.load()
