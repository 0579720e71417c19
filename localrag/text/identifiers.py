"""Names with a structure are found whole and by their parts.

======================  ======================================  ==========================
written                 whole (inner separators kept)           parts
======================  ======================================  ==========================
``max_seq_len``         ``max_seq_len``                         ``max seq len``
``HttpServer``          ``httpserver``                          ``http server``
``2026.4.10``           ``2026.4.10``                           ``2026 4 10``
``1,234.5``             ``1234.5``                              ``1234 5``
``C++``, ``C#``         ``c++``, ``c#``                         ``c``
``.NET``, ``node.js``   ``.net``, ``node.js``                   ``net``, ``node js``
``KX-1234``             ``kx-1234``                             ``kx 1234``
``src/foo_bar.py``      ``src/foo_bar.py foo_bar.py foo_bar``   ``src foo bar py``
``ada@example.org``     ``ada@example.org example.org``         ``ada example org``
======================  ======================================  ==========================

The full-text index splits at ASCII punctuation and at nothing else beyond ASCII. A separator inside
a whole name is therefore written as a private-use character, one for each: ``private`` below.
"""

from __future__ import annotations

import re
import string

__all__ = ["LONGEST_TOKEN", "parts", "private", "wholes"]

LONGEST_TOKEN = 128
"""Characters; holds a SHA-512 in hexadecimal. A longer part is cut, a longer whole left out."""

_PRIVATE = {ord(mark): 0xE000 + ord(mark) for mark in string.punctuation}

_SEPARATORS = (
    re.compile(r"[/\\:@&=]+"),  # paths, addresses, scopes
    re.compile(r"[.#]+"),  # file extensions, attributes, versions
    re.compile(r"[-_+~]+"),  # words of a name
)
_ANY_SEPARATOR = re.compile(rf"[{re.escape(string.punctuation)}]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")
_CAMEL = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


def private(token: str) -> str:
    """Return `token` with each ASCII punctuation mark as a private-use character of its own."""
    return token if token.isalnum() else token.translate(_PRIVATE)


def wholes(name: str) -> list[str]:
    """Return `name` and those of its levels that still have structure, longest first."""
    pieces = [_THOUSANDS.sub("", name)]
    found: list[str] = []
    for separator in _SEPARATORS:
        trimmed = (piece.strip("_-") for piece in pieces)
        found += [piece for piece in trimmed if _ANY_SEPARATOR.search(piece)]
        pieces = [part for piece in pieces for part in separator.split(piece) if part]
    return [whole for whole in dict.fromkeys(found) if len(whole) <= LONGEST_TOKEN]


def parts(name: str) -> list[str]:
    """Return the words of `name`; a word in camel case is followed by the words inside it."""
    pieces = [_THOUSANDS.sub("", name)]
    for separator in _SEPARATORS:
        pieces = [part for piece in pieces for part in separator.split(piece) if part]
    return [word[:LONGEST_TOKEN] for piece in pieces for word in _camel_words(piece)]


def _camel_words(piece: str) -> list[str]:
    if piece.islower() or piece.isupper() or not piece.isascii():
        return [piece]
    words = _CAMEL.findall(piece)
    return [piece, *words] if len(words) > 1 else [piece]
