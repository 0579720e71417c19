"""Tells whether a passage holds a known answer to a question.

Sets made from reading comprehension mark one passage for a question, the one that it was asked
about, although others may answer it as well. The accuracy of Karpukhin et al., "Dense passage
retrieval for open-domain question answering", EMNLP 2020, counts a passage that contains one of the
answers. It errs on the other side: a short answer, such as a year, stands in passages about other
things.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["fold", "holds_answer"]

SHORT: Final = 3
"""Characters up to which an answer in Latin letters is looked for as a whole word."""


def holds_answer(text: str, answers: Iterable[str]) -> bool:
    """Tell whether `text` holds one of the known `answers`, whatever its case and width."""
    folded = fold(text)
    for answer in map(fold, answers):
        if len(answer) <= SHORT and answer.isascii():
            if re.search(rf"(?<![a-z0-9]){re.escape(answer)}(?![a-z0-9])", folded):
                return True
        elif answer in folded:
            return True
    return False


def fold(text: str) -> str:
    """Return `text` in the form in which answers are compared."""
    return unicodedata.normalize("NFKC", text).casefold().strip()
