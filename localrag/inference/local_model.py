"""A model on this machine: its card, its tokenizer and its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.inference.session import Session
from localrag.inference.tokenizer import open_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.inference.card import ModelCard

__all__ = ["LocalModel"]


class LocalModel:
    """What a bi-encoder and a cross-encoder have in common: files that are read at first use.

    Args:
        card: facts of the model.
        directory: where the card's files lie.
        threads: threads for one batch; the usable physical cores when None.
    """

    def __init__(self, card: ModelCard, directory: Path, *, threads: int | None = None) -> None:
        self.card = card
        self.name = card.name
        self.fingerprint = card.fingerprint
        self._directory = directory
        self._tokenizer = open_tokenizer(card, directory)
        self._session = Session(directory / card.model, threads=threads, output=card.output)

    def verify(self) -> None:
        """Check the hash of every file. ModelError: one is missing or differs from the card."""
        self.card.verify(self._directory)

    def load(self) -> None:
        """Read the weights now rather than at first use. ModelError: they cannot be read."""
        self._session.load()

    def load_tokenizer(self) -> None:
        """Read the tokenizer now rather than at first use. ModelError: it cannot be read."""
        self._tokenizer.load()

    def close(self) -> None:
        """Release the session's memory; a later call loads it again."""
        self._session.close()
