"""Where the tokens of a document begin, so that spans are measured without tokenising again."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.inference.protocols import TokenCounter

__all__ = ["TokenIndex"]

# A piece may shrink by this share of its tokens to end at white space.
_SLACK = 8


class TokenIndex:
    """The tokens of one text."""

    def __init__(self, text: str, counter: TokenCounter) -> None:
        self.text = text
        self._starts: list[int] = counter.token_starts(text).tolist()

    def count(self, start: int, end: int) -> int:
        """Return the tokens of `text[start:end]`; a token that the start cuts counts whole.

        The span by itself may be tokenised otherwise: within a few tokens this is what it takes.
        """
        first, cut = self._first(start)
        return bisect_left(self._starts, end) - first + cut

    def pieces(self, start: int, end: int, tokens: int) -> Iterator[tuple[int, int]]:
        """Yield consecutive spans of at most `tokens` tokens that cover `start` to `end`.

        They end at white space where some is near, otherwise between two tokens.
        """
        while start < end:
            fits = self.count(start, end) <= tokens
            cut = end if fits else self._cut(start, end, tokens)
            yield start, cut
            start = cut

    def before(self, end: int, tokens: int) -> int:
        """Return where the last `tokens` tokens before `end` begin; `end` itself for none."""
        index = bisect_left(self._starts, end) - tokens
        return end if tokens < 1 else self._starts[max(0, index)]

    def _first(self, start: int) -> tuple[int, bool]:
        """Return the index of the first token from `start` on, and whether one lies across it."""
        first = bisect_left(self._starts, start)
        return first, first == len(self._starts) or self._starts[first] != start

    def _cut(self, start: int, end: int, tokens: int) -> int:
        """Return where the piece that begins at `start` ends: after it, and not after `end`."""
        first, cut = self._first(start)
        last = min(first + tokens - cut, len(self._starts) - 1)
        for index in range(last, max(first, last - tokens // _SLACK), -1):
            if self._is_at_blank(self._starts[index]):
                last = index
                break
        # Several tokens may begin at one character.
        return self._starts[last] if start < self._starts[last] < end else end

    def _is_at_blank(self, position: int) -> bool:
        return self.text[position].isspace() or self.text[position - 1 : position].isspace()
