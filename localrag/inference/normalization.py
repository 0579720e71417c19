"""The normalisation that multilingual-e5's tokenizer asks for, and the way back to the original.

Control characters go, invisible blanks become spaces, and the rest is brought to Unicode's
composed compatibility form (NFKC). Characters that the tokenizer's version of Unicode did not know
stay as they are, whatever Python's version makes of them: the same text is to give the same tokens
on every machine.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Normalizer"]

FORM: Final = "NFKC"


class Normalizer:
    """Normalises texts by the rules in a compiled vocabulary's header.

    Args:
        rules: `deleted` and `blank`, character classes as regular expressions have them; `kept`, a
            character that NFKC would change and that stays; `stand_in`, what takes its place
            meanwhile; `changing`, the characters that NFKC changes, reorders or composes with the
            one before, also a character class.
    """

    def __init__(self, rules: Mapping[str, Any]) -> None:
        self._deleted = re.compile(rules["deleted"])
        self._blank = re.compile(rules["blank"])
        self._kept: str = rules["kept"]
        self._stand_in: str = rules["stand_in"]
        self._changing = re.compile(rules["changing"] + "+")

    def text(self, text: str) -> str:
        """Return `text` normalised."""
        plain = self._prepared(self._deleted.sub("", text))
        if plain.isascii():
            return plain
        parts: list[str] = []
        done = 0
        for start, end in self._clusters(plain):
            parts += plain[done:start], unicodedata.normalize(FORM, plain[start:end])
            done = end
        parts.append(plain[done:])
        return self._restored("".join(parts))

    def origins(self, text: str) -> Sequence[int]:
        """Return the place in `text` of every character of the normalised text, ascending."""
        plain = self._prepared(text)
        places: Sequence[int] = range(len(text))
        if self._deleted.search(plain):
            places = [place for place in places if not self._deleted.match(plain[place])]
            plain = self._deleted.sub("", plain)
        if plain.isascii():
            return places
        found: list[int] = []
        done = 0
        for start, end in self._clusters(plain):
            found += places[done:start]
            found += (places[start + origin] for origin in _origins(plain[start:end]))
            done = end
        found += places[done:]
        return found

    def _prepared(self, text: str) -> str:
        return self._blank.sub(" ", text).replace(self._kept, self._stand_in)

    def _restored(self, text: str) -> str:
        return text.replace(self._stand_in, self._kept)

    def _clusters(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield spans outside of which nothing changes: changing characters and the one before."""
        for match in self._changing.finditer(text):
            start, end = match.span()
            # One that changes by itself is unknown to the tokenizer's version of Unicode.
            if start and not _changes(text[start - 1]):
                start -= 1
            yield start, end


def _changes(character: str) -> bool:
    changed = not unicodedata.is_normalized(FORM, character)
    return changed or unicodedata.combining(character) > 0


def _origins(text: str) -> list[int]:
    """Return the place in `text` of every character of its NFKC form.

    A character that became several gives each of them its own place, several that became one give
    the first one's. Marks that were reordered keep the places of the original order.
    """
    place = 0
    places = []
    for change in _changes_of_place(text):
        if change > 0:
            places.append(max(place - 1, 0))
        else:
            places.append(place)
            place += 1 - change
    return places


def _changes_of_place(text: str) -> list[int]:
    """Return for every character of the NFKC form: 1 if it was inserted, -n if it swallowed n.

    Source: the canonical composition algorithm, The Unicode Standard, section 3.11, D117.
    """
    changes: list[int] = []
    starter = ""
    at = -1
    last_class = -1
    for character, class_, change in _decomposed(text):
        if at >= 0 and last_class < class_:
            composed = unicodedata.normalize("NFC", starter + character)
            if len(composed) == 1:
                starter = composed
                changes[at] += change - 1
                continue
        if class_ == 0:
            starter, at, last_class = character, len(changes), -1
        else:
            last_class = class_
        changes.append(change)
    return changes


def _decomposed(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the characters that `text` is made of, their combining class, and 1 for inserted ones.

    Marks between two starters are in the order of their classes.
    """
    marks: list[tuple[str, int, int]] = []
    for character in text:
        for number, part in enumerate(unicodedata.normalize("NFKD", character)):
            item = part, unicodedata.combining(part), int(number > 0)
            if item[1] == 0:
                yield from sorted(marks, key=lambda mark: mark[1])
                marks.clear()
                yield item
            else:
                marks.append(item)
    yield from sorted(marks, key=lambda mark: mark[1])
