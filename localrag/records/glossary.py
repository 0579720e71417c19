"""What the glossary holds, and what a search makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Alternative", "GlossaryEntry"]


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """An abbreviation with one of the terms that it stands for."""

    short: str
    long: str
    documents: int
    """How many documents explain it so."""
    source: Literal["found", "user"]
    """Whether it was found in documents only, or added by the user."""
    active: bool = True
    """Whether searches use it: the user can switch it off."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What retrieval looks for besides words of the query."""

    word: str
    """The words as the user typed them."""
    text: str
    """What may stand in a document in their place."""
    source: Literal["glossary", "spelling"]
