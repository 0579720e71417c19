"""Cuts text into a model's tokens, and knows where in the text each token starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from localrag.inference.compiled_tokenizer import CompiledTokenizer
from localrag.inference.library_tokenizer import LibraryTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from localrag.inference.card import ModelCard

__all__ = ["PassageCounter", "Tokenizer", "cut", "open_tokenizer"]


class Tokenizer(Protocol):
    """What the models ask of a tokenizer. Any text is legal; threads can share one."""

    def load(self) -> None:
        """Read the file now rather than at first use. ModelError: it cannot be read."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return token ids with special tokens."""
        ...

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids with special tokens for each text, without padding."""
        ...

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[list[int]]:
        """Return token ids of `first` with each of `seconds`, joined as the model wants it."""
        ...

    def second_start(self, first: str) -> int | None:
        """Return where the tokens of the second type begin in a pair with `first`.

        None where the model was not taught to tell the texts of a pair by their types.
        """
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without special tokens."""
        ...

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return the first character of every token, ascending, shape (tokens,).

        A token that stands for white space alone, or a character that became several tokens,
        repeats the place of its neighbour.
        """
        ...


def open_tokenizer(card: ModelCard, directory: Path) -> Tokenizer:
    """Return the tokenizer of a model: the compiled form where its card names one."""
    if card.compiled_tokenizer is not None:
        return CompiledTokenizer(directory / card.compiled_tokenizer)
    return LibraryTokenizer(directory / card.tokenizer)


def cut(tokenizer: Tokenizer, text: str, limit: int) -> str:
    """Return the longest start of `text` that has at most `limit` tokens."""
    starts = tokenizer.starts(text)
    kept = limit
    while len(starts) > limit:
        text = text[: starts[kept]]
        starts = tokenizer.starts(text)
        kept = max(kept - 1, 0)
    return text


class PassageCounter:
    """Counts the tokens of passages for one model; see `localrag.inference.TokenCounter`.

    Args:
        tokenizer: the model's.
        prefix: what the model puts in front of every passage.
        longest: most tokens of an input, with prefix and special tokens.
    """

    def __init__(self, tokenizer: Tokenizer, prefix: str, longest: int) -> None:
        self._tokenizer = tokenizer
        self._prefix = prefix
        self._longest = longest

    @property
    def max_tokens(self) -> int:
        """Most tokens of one passage, special tokens and the prefix already taken off."""
        return self._longest - len(self._tokenizer.encode(self._prefix))

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without special tokens."""
        return self._tokenizer.count(text)

    def token_starts(self, text: str) -> NDArray[np.int64]:
        """Return the first character of every token, ascending, shape (tokens,)."""
        return self._tokenizer.starts(text)
