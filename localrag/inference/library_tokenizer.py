"""Any `tokenizer.json`, read by the library of Hugging Face.

The library is imported, and the file read, at first use. One file is read once for each process,
however many models share it; nothing about it is ever changed, so threads can share it too.
"""

from __future__ import annotations

import os
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from localrag.errors import ModelError
from localrag.inference.legal_text import legal_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["LibraryTokenizer"]

_LOADING = threading.Lock()


class LibraryTokenizer:
    """The tokens of one `tokenizer.json`.

    Args:
        path: file in the format of Hugging Face tokenizers.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> None:
        """Read the file now rather than at first use. ModelError: it cannot be read."""
        self._library_tokenizer()

    def _library_tokenizer(self) -> Any:  # noqa: ANN401 - the library has no type information
        with _LOADING:
            return _read(str(self._path))

    def encode(self, text: str) -> list[int]:
        """Return token ids with special tokens."""
        ids: list[int] = self._library_tokenizer().encode(legal_text(text)).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids with special tokens for each text, without padding."""
        legal = [legal_text(text) for text in texts]
        return [encoding.ids for encoding in self._library_tokenizer().encode_batch_fast(legal)]

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[list[int]]:
        """Return token ids of `first` with each of `seconds`, joined as the model wants it."""
        head = legal_text(first)
        pairs = [(head, legal_text(second)) for second in seconds]
        return [encoding.ids for encoding in self._library_tokenizer().encode_batch_fast(pairs)]

    def second_start(self, first: str) -> int | None:
        """Return where the tokens of the second type begin in a pair with `first`.

        None where the model was not taught to tell the texts of a pair by their types.
        """
        types = self._library_tokenizer().encode(legal_text(first), "").type_ids
        return types.index(1) if 1 in types else None

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without special tokens."""
        return len(self._without_special(text))

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return the first character of every token, ascending, shape (tokens,).

        A token that stands for white space alone, or a character that became several tokens,
        repeats the place of its neighbour.
        """
        offsets = self._without_special(text).offsets
        return np.fromiter((start for start, _ in offsets), np.int64, len(offsets))

    def _without_special(self, text: str) -> Any:  # noqa: ANN401 - as above
        return self._library_tokenizer().encode(legal_text(text), add_special_tokens=False)


@lru_cache(maxsize=8)
def _read(path: str) -> Any:  # noqa: ANN401 - as above
    # Batches run on the library's own threads; without this it warns after a fork.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    from tokenizers import Tokenizer as LibraryTokenizer  # noqa: PLC0415 - only where it is used

    try:
        tokenizer = LibraryTokenizer.from_file(path)
    except Exception as error:  # the library raises bare Exception
        raise ModelError(
            f"cannot read the tokenizer {path}: {error}: reinstall or download the model again"
        ) from error
    # Many published files cut at 128 tokens and fill up to as many; both would go unnoticed.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
