"""Tokens for tests: simple enough to count by hand."""

import re

import numpy as np
from numpy.typing import NDArray


class WordCounter:
    """A token is a word, a mark, or a single ideograph or kana."""

    pattern = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")

    def __init__(self, max_tokens: int = 60) -> None:
        self.max_tokens = max_tokens

    def count(self, text: str) -> int:
        return len(self.pattern.findall(text))

    def token_starts(self, text: str) -> NDArray[np.int64]:
        starts = [match.start() for match in self.pattern.finditer(text)]
        return np.array(starts, dtype=np.int64)


class PieceCounter(WordCounter):
    """Pieces of up to four characters that begin with the blank before them, as SentencePiece's.

    A text cut inside a piece, or at its blank, has other pieces than the whole.
    """

    pattern = re.compile(r"\s?\S{1,4}")


class WastefulCounter(WordCounter):
    """Three tokens for each character beyond ASCII, all of which start at the same place."""

    def token_starts(self, text: str) -> NDArray[np.int64]:
        starts = [
            match.start() for match in self.pattern.finditer(text) for _ in range(_cost(match[0]))
        ]
        return np.array(starts, dtype=np.int64)

    def count(self, text: str) -> int:
        return len(self.token_starts(text))


def _cost(token: str) -> int:
    return 1 if token.isascii() else 3
