"""Finds the names of things in code that a question asks about, and where a text has them.

=========================================  =============================
question                                   names
=========================================  =============================
What does `both_require` check?            ``both_require``
What is special about `Store::open(path)`  ``Store``, ``open``, ``path``
How is an EnumMap made?                    ``EnumMap``
What does get_logger() return?             ``get_logger``
What does --no-cache do?                   ``no-cache``
What does the method on_add of Merger do?  ``on_add``
=========================================  =============================

A word without capitals or separators inside is a name where it is marked as one: by backticks, or
by the bracket of a call. A name is looked for as it is written, with nothing of a word around it.
"""

from __future__ import annotations

import re

__all__ = ["holds_name", "names_in"]

_MARKED = re.compile(r"`{1,2}([^`\n]+)`{1,2}")
_PIECE = re.compile(r"[^\W\d]\w*(?:-\w+)*", re.ASCII)
_SHORTEST = 2
_MOST = 16
"""Names that are looked for: what has more is no question."""
_OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]*\w)", re.ASCII)
_CALLED = re.compile(r"(?<!\w)([^\W\d]\w*)\(\)", re.ASCII)
_WORD = re.compile(r"(?:(?<=::)|(?<!\w))[^\W\d]\w*(?:::)?", re.ASCII)
_HUMPS = re.compile(r"[a-z]\d?[A-Z]|[A-Z]{2}[a-z]{2}")


def names_in(question: str) -> tuple[str, ...]:
    """Return the names of things in code that a question has, each once, at most sixteen."""
    found = [
        piece
        for marked in _MARKED.findall(question)
        for piece in _PIECE.findall(marked)
        if len(piece) >= _SHORTEST
    ]
    rest = _MARKED.sub(" ", question)
    found += _OPTION.findall(rest) + _CALLED.findall(rest)
    for match in _WORD.finditer(rest):
        word = match[0].removesuffix("::")
        is_of_path = word != match[0] or rest.endswith("::", 0, match.start())
        if is_of_path or _has_structure(word):
            found.append(word)
    return tuple(dict.fromkeys(found))[:_MOST]


def _has_structure(word: str) -> bool:
    inner = word.strip("_")
    return "_" in inner or (inner != "" and word.startswith("__")) or bool(_HUMPS.search(inner))


def holds_name(text: str, name: str) -> bool:
    """Return whether `text` has a name as it is written, with nothing of a word around it."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
