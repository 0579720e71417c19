"""The tokenizer of multilingual-e5 in its compiled form: the tokens of its tokenizer.json.

Reading the 250,000 pieces of tokenizer.json takes most of a second and 285 MB; mapping the
compiled file takes a few milliseconds. `models/export/compiled_tokenizer.py` writes it.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from localrag.errors import ModelError
from localrag.inference.legal_text import legal_text
from localrag.inference.normalization import Normalizer
from localrag.inference.unigram import Segmentation, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["CompiledTokenizer"]

WORD_START = "\u2581"
"""Stands in front of every word, as SentencePiece has it."""
WORD = re.compile(r"\S+")
CACHED_LENGTH = 24
"""Longer runs of characters, such as a sentence in Chinese, hardly ever come twice."""
CACHED_WORDS = 30_000
"""About 10 MB."""

_LOADING = threading.Lock()


class CompiledTokenizer:
    """A unigram tokenizer from a compiled file, which is read at first use.

    Args:
        path: the file; every tokenizer of one path in a process shares what was read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> None:
        """Read the file now rather than at first use. ModelError: it cannot be read."""
        self._rules()

    def encode(self, text: str) -> list[int]:
        """Return token ids with special tokens."""
        rules = self._rules()
        return [*rules.before, *rules.ids(text), *rules.after]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids with special tokens for each text, without padding."""
        return [self.encode(text) for text in texts]

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[list[int]]:
        """Return token ids of `first` with each of `seconds`, joined as the model wants it."""
        rules = self._rules()
        head = [*rules.before, *rules.ids(first), *rules.between]
        return [[*head, *rules.ids(second), *rules.after] for second in seconds]

    def second_start(self, first: str) -> int | None:
        """Return None: only tokenizers whose pairs have one type are compiled."""

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without special tokens."""
        return len(self._rules().ids(text))

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return the first character of every token, ascending, shape (tokens,)."""
        return self._rules().starts(text)

    def _rules(self) -> Rules:
        with _LOADING:
            return _read(self._path)


class Rules:
    """What the file says, and the words that were segmented last."""

    def __init__(self, path: Path) -> None:
        self._vocabulary = Vocabulary(path)
        header = self._vocabulary.header
        self._normalizer = Normalizer(header["normalisation"])
        template = header["template"]
        self.before: list[int] = template["before"]
        self.between: list[int] = template["between"]
        self.after: list[int] = template["after"]
        self._words: dict[str, Segmentation] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of `text` without special tokens."""
        ids: list[int] = []
        known, segment = self._words, self._segment
        for word in self._normalizer.text(legal_text(text)).split():
            ids += (known.get(word) or segment(word)).ids
        return ids

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return the first character of every token in the text as it was given."""
        legal = legal_text(text)
        normalised = self._normalizer.text(legal)
        found: list[int] = []
        known, segment = self._words, self._segment
        for match in WORD.finditer(normalised):
            first = match.start()
            word = match.group()
            # The mark in front of a word has no place of its own: it has the first character's.
            before = first - len(WORD_START)
            found += (
                max(first, before + start) for start in (known.get(word) or segment(word)).starts
            )
        places = np.array(found, np.int64)
        if normalised == legal:
            return places
        origins = np.array(self._normalizer.origins(legal), np.int64)
        return origins[places]

    def _segment(self, word: str) -> Segmentation:
        segmentation = self._vocabulary.segment(WORD_START + word)
        if len(word) <= CACHED_LENGTH:
            if len(self._words) >= CACHED_WORDS:
                self._words = {}
            self._words[word] = segmentation
        return segmentation


@lru_cache(maxsize=4)
def _read(path: Path) -> Rules:
    try:
        return Rules(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"cannot read the tokenizer {path}: {error}: reinstall or download the model again"
        ) from error
