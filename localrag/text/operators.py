"""A query with operators is taken apart: words to rank by, and what a chunk must or must not hold.

=======================  ==========================================================
written                  read as
=======================  ==========================================================
``"rotate keys"``        the phrase must be in the chunk, in any form of its words
``-draft``, ``-"a b"``   the word, or the phrase, must not
``rotat*``               a word that begins so must be in the chunk
``title:guide``          the document's title must contain it
``path:notes/2024``      the document's path must contain it
``heading:"key store"``  it must be in the title or headings above the chunk
``body:rotate``          it must be in the chunk's own text
``-title:draft*``        all of them together
=======================  ==========================================================

Whatever is none of these is a word: a quotation mark that is not closed, an unknown field, a hyphen
inside a word, ``--dry-run``, ``*``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, cast

from localrag.text.analysis import analyse_phrase

__all__ = ["Asked", "Condition", "Field", "read_operators"]

Field = Literal["", "title", "path", "heading", "body"]
"""Where a condition looks; the empty one is title, headings and text."""

QUOTES: Final = str.maketrans("“”„‟＂", '"""""')  # noqa: RUF001 - as editors write them
"""Quotation marks that programs put in place of the typed one."""

_PART = re.compile(
    r"""(?<!\S)
    (?P<excluded>[-－](?!-))?
    (?:(?P<field>title|path|heading|body):)?
    (?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+?)(?P<prefix>\*)?)
    (?!\S)""",  # noqa: RUF001 - a full-width hyphen, as Japanese keyboards write it
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a chunk must hold, or must not."""

    text: str
    field: Field = ""
    excluded: bool = False
    prefix: bool = False
    """Whether the last word of `text` need only be the beginning of one."""
    quoted: bool = False

    def __str__(self) -> str:
        text = f'"{self.text}"' if self.quoted else self.text
        field = f"{self.field}:" if self.field else ""
        return f"{'-' if self.excluded else ''}{field}{text}{'*' if self.prefix else ''}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with operators, read."""

    words: str
    """What to rank by: the query without its operators, what is excluded, and paths."""
    conditions: tuple[Condition, ...] = ()


def read_operators(query: str) -> Asked:
    """Return how a query reads; any text is legal."""
    conditions: list[Condition] = []

    def plain(match: re.Match[str]) -> str:
        condition = _condition(match)
        if condition is None:
            return match[0]
        conditions.append(condition)
        return "" if condition.excluded or condition.field == "path" else condition.text

    words = _PART.sub(plain, query.translate(QUOTES))
    return Asked(" ".join(words.split()), tuple(dict.fromkeys(conditions)))


def _condition(match: re.Match[str]) -> Condition | None:
    """Return what a part of a query asks for; None where it is a plain word."""
    quoted = match["phrase"] is not None
    condition = Condition(
        " ".join((match["phrase"] if quoted else match["word"]).split()),
        cast("Field", (match["field"] or "").lower()),
        excluded=bool(match["excluded"]),
        prefix=bool(match["prefix"]),
        quoted=quoted,
    )
    is_operator = quoted or condition.excluded or condition.field or condition.prefix
    # Without a word there is nothing that a chunk could hold.
    return condition if is_operator and analyse_phrase(condition.text).words else None
