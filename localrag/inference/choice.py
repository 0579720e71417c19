"""Which models a knowledge base works with: those the caller names, or those its file names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, TypeVar

from localrag.errors import ModelError, SettingsError
from localrag.inference.bundle import find_fingerprint, lasting_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from localrag.inference.protocols import Embedder

__all__ = ["Part", "given_model", "require_room", "stored_model"]

Part = Literal["embedder", "reranker"]
"""The part that a model plays; the key under which the file keeps its name."""
KINDS = {"embedder": "bi-encoder", "reranker": "cross-encoder"}
FEWEST_CHUNK_TOKENS = 32
"""The least that `chunk_tokens` can be."""

Model = TypeVar("Model")


def given_model(
    part: Part,
    model: Model | str | os.PathLike[str] | None,
    load: Callable[[str], Model],
) -> tuple[Model | None, str | None]:
    """Return the model that the caller gave or named, and the name to keep, if it was a name.

    Raises:
        ModelError: there is no model of that name.
    """
    if not isinstance(model, str | os.PathLike):
        return model, None
    name = lasting_name(model, KINDS[part])
    found = load(name)
    # A file that came by mail must not open a connection: what is on a server is never kept.
    return found, None if hasattr(getattr(found, "card", None), "url") else name


def stored_model(
    part: Part,
    stored: Mapping[str, str],
    load: Callable[..., Model],
    base: str,
) -> Model:
    """Return the model that the settings of a file name, or the one that ships.

    Args:
        part: which model.
        stored: the settings of the file.
        load: makes a model from a name or a card; the one that ships without either.
        base: name of the file, for the message.

    Raises:
        ModelError: the model is not on this machine.
    """
    name = stored.get(part)
    if name is None:
        # `reembed` leaves no name behind, and a model can be given as an object.
        same = _same_files(stored) if part == "embedder" else None
        return load() if same is None else load(same)
    try:
        return load(name)
    except ModelError as error:
        same = _same_files(stored) if part == "embedder" else None
        if same is None:
            raise ModelError(_not_here(part, name, base)) from error
        return load(same)


def require_room(embedder: Embedder, chunk_tokens: int) -> None:
    """Refuse chunks that the bi-encoder could not read whole.

    Raises:
        SettingsError: its limit is below `chunk_tokens`.
    """
    most = embedder.counter.max_tokens
    if most >= chunk_tokens:
        return
    name = getattr(embedder, "name", "the bi-encoder")
    fitting = most * 4 // 5 // 10 * 10  # room for the line of headings before each chunk
    if fitting < FEWEST_CHUNK_TOKENS:
        raise SettingsError(
            f"{name} reads only {most} tokens of a passage, too few for any chunk: use another "
            "model"
        )
    raise SettingsError(
        f"{name} reads {most} tokens of a passage and chunk_tokens is {chunk_tokens}: set "
        f"chunk_tokens to {fitting} (--chunk-tokens {fitting}), or use a model that reads more"
    )


def _same_files(stored: Mapping[str, str]) -> Path | None:
    """Return the card of the same model under another name or in another place."""
    return find_fingerprint(stored.get("fingerprint", "").partition(" ")[0])


def _not_here(part: Part, name: str, base: str) -> str:
    from localrag.inference.catalogue import catalogue  # noqa: PLC0415 - for this message alone

    ways = (
        f"fetch it once: localrag models pull {name}"
        if name in catalogue()
        else "bring it here: localrag models add FOLDER"
    )
    other = ", or name another one with --reranker" if part == "reranker" else ""
    return f"{base} works with the {part} {name}, which is not on this machine: {ways}{other}"
