"""The text of a message: what its writer says, apart from what is quoted of others."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.records import BlockKind

__all__ = ["body_blocks"]

_MOST_QUOTED_LINES = 60
_DEEPEST_QUOTE = 2
_QUOTE: Final = re.compile(r"^[ \t]*(?P<marks>(?:[>|][ \t]?)+)")
_SIGNED: Final = re.compile(
    r"^-----BEGIN PGP SIGNATURE-----$.{0,5000}?^-----END PGP SIGNATURE-----$"
    r"|^-----BEGIN PGP SIGNED MESSAGE-----\n(?:Hash:[^\n]*\n)?",
    re.MULTILINE | re.DOTALL,
)


def body_blocks(text: str) -> Iterator[tuple[BlockKind, str]]:
    """Yield the paragraphs of a message, quoted ones as ``"quote"``.

    Replies to replies to replies are dropped, and so is all but the beginning of a long quotation:
    they stand in messages of their own. What is forwarded is text.
    """
    for quoted, lines in groupby(_SIGNED.sub("", text).split("\n"), key=_is_quoted):
        kept = list(lines)
        if quoted:
            kept = [line for line in kept if _depth(line) <= _DEEPEST_QUOTE]
            if len(kept) > _MOST_QUOTED_LINES:
                kept = [*kept[:_MOST_QUOTED_LINES], "> …"]
        for filled, paragraph in groupby(kept, key=_says_something):
            if filled:
                yield "quote" if quoted else "paragraph", "\n".join(paragraph)


def _is_quoted(line: str) -> bool:
    return line.lstrip().startswith(">")


def _depth(line: str) -> int:
    match = _QUOTE.match(line)
    return match["marks"].count(">") if match else 0


def _says_something(line: str) -> bool:
    return bool(line.strip(" \t>|\r\xa0"))
