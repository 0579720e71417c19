"""What an abbreviation is, and where one is explained: in brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["BRACKETS", "ShortForm"]


@dataclass(frozen=True, slots=True, order=True)
class ShortForm:
    """An abbreviation with what it stands for, both as they were written."""

    short: str
    long: str


BRACKETS: Final = re.compile(r"[(\[]\s*([^()\[\]]{2,120}?)\s*[)\]]")
"""What stands in brackets, of text that was normalised (NFKC): full-width ones count."""
