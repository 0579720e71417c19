"""What a person types as a value becomes the value that is meant."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["typed_value"]

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_REAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_TRUTH: Final = {"true": True, "false": False}


def typed_value(text: str) -> str | int | float | bool:
    """Return a number for ``2024`` and ``3.5``, a truth value for ``true``, otherwise the text.

    ``007`` stays a text: it is a name that looks like a number.
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        return float(text)
    return _TRUTH.get(text.lower(), text)
