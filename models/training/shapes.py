"""Gives questions and passages the many shapes in which they come.

Passages: with and without their title or a part of it, whole or as a part of 90 to 320 tokens, and
most often cut into windows of 64 to 160 tokens, as a search reads the best. Questions: as they are,
without their question mark and capitals, or as keywords. Some groups are the sentences of a passage
instead, one of which holds the answer, as an answer is put together. Negatives that are made, not
found: the passage that answers, with a number or an identifier of the question changed in it, and
the same passage without the sentences that hold the answer.
"""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from localrag.evaluate.answers import fold, holds_answer
from localrag.records import passage_text
from localrag.text.sentences import sentence_spans
from localrag.text.stop_words import without_stop_words
from localrag.text.windows import even_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localrag.inference.protocols import TokenCounter

__all__ = ["Group", "Shaper"]

NEGATIVES = 4
HARDEST = 6
"""Negatives from the front of the list, of which most are drawn."""
WITH_TITLE = 0.7
WITHOUT_PATH = 0.3
"""Of the groups of code with titles: those lack the file, as a chunk does that came without one."""
CHANGED, WITHOUT_ANSWER = 0.3, 0.15
KEYWORDS, BARE = 0.08, 0.1
SENTENCES = 0.2
"""Of the groups whose answers are known: the sentence that holds one, among others."""
OWN_SENTENCES, OTHER_SENTENCES = 5, 3
"""Of the same passage and of the ones found, at most, beside the sentence that answers."""
SHORTEST, LONGEST = 90, 320
SHARE_WHOLE = 0.4
WHOLE = 288
"""Tokens up to which a passage is left whole, in so many of the groups."""
SHARE_UNCUT = 0.15
"""Of the groups whose passages are one window each, as of a model that reads no windows."""
WINDOW = (64, 160, 96)
"""Least, most and likeliest number of tokens of a window."""
IDENTIFIER = re.compile(r"[A-Za-z_]*\d[\w.\-]*|[A-Za-z]+_\w+")


@dataclass(frozen=True, slots=True)
class Group:
    """A question with passages, the relevant one first."""

    query: str
    passages: tuple[tuple[str, ...], ...]
    """Of each the windows in which it is read."""


class Shaper:
    """Makes groups out of mined questions; the same seed gives the same group."""

    def __init__(self, counter: TokenCounter, negatives: int = NEGATIVES) -> None:
        self.counter = counter
        self.negatives = negatives

    def group(self, row: dict[str, object], seed: str, *, code: bool = False) -> Group:
        """Return one group of a mined row (see `mine.row_of`); `code` is cut between lines."""
        generator = random.Random(seed)  # noqa: S311 - it samples, it hides nothing
        known = row["answers"]
        query = row["text"]
        title, text = generator.choice(row["relevant"])
        titled = generator.random() < WITH_TITLE
        if known and generator.random() < SENTENCES:
            sentences = self._sentences(title, text, row, generator)
            if sentences:
                passages = tuple(
                    (passage_text(name if titled else "", "", one),) for name, one in sentences
                )
                return Group(self._query(query, generator), passages)
        limit = self._limit(generator)
        relevant = self._window(text, limit, known, generator)
        passages = [relevant]
        made = self._made(query, relevant, known, generator)
        if made is not None:
            passages.append(made)
        found = row["negatives"]
        front, rest = found[:HARDEST], found[HARDEST:]
        generator.shuffle(front)
        generator.shuffle(rest)
        wanted = self.negatives + 1 - len(passages)
        near = front[: wanted - min(len(rest), wanted // 3)]
        chosen = [*near, *rest[: wanted - len(near)]]
        titles = [title] * len(passages) + [one for one, _ in chosen]
        if code and generator.random() < WITHOUT_PATH:
            titles = [one.partition(" > ")[2] for one in titles]
        passages += [self._window(other, limit, (), generator) for _, other in chosen]
        tokens = self._window_tokens(generator)
        return Group(
            self._query(query, generator),
            tuple(
                self.windows(name if titled else "", one, tokens, code=code)
                for name, one in zip(titles, passages, strict=True)
            ),
        )

    @staticmethod
    def _sentences(
        title: str, text: str, row: Mapping[str, Any], generator: random.Random
    ) -> list[tuple[str, str]]:
        """Return sentences as an answer is chosen from, the right one first, each with its title.

        There are none where several sentences hold an answer, or too few do not.
        """
        own = [text[start:end] for start, end in sentence_spans(text)]
        right = [one for one in own if holds_answer(one, row["answers"])]
        wrong = [one for one in own if one not in right]
        if len(right) != 1 or len(wrong) < 2:  # noqa: PLR2004 - a choice
            return []
        found = [
            (name, other[start:end])
            for name, other in row["negatives"][:HARDEST]
            for start, end in sentence_spans(other)
        ]
        wrong = generator.sample(wrong, min(len(wrong), OWN_SENTENCES))
        others = generator.sample(found, min(len(found), OTHER_SENTENCES))
        return [(title, one) for one in [*right, *wrong]] + others

    def windows(
        self, title: str, text: str, tokens: int | None, *, code: bool = False
    ) -> tuple[str, ...]:
        """Return a passage in windows of about `tokens` tokens, each below the title."""
        wanted = ceil(self.counter.count(text) / tokens) if tokens else 1
        parts = even_parts(text, wanted, by_lines=code)
        return tuple(passage_text(title, "", part.strip("\n")) for part in parts)

    @staticmethod
    def _window_tokens(generator: random.Random) -> int | None:
        least, most, likeliest = WINDOW
        if generator.random() < SHARE_UNCUT:
            return None
        return int(generator.triangular(least, most, likeliest))

    def _limit(self, generator: random.Random) -> int:
        if generator.random() < SHARE_WHOLE:
            return WHOLE
        return int(generator.triangular(SHORTEST, LONGEST, SHORTEST))

    def _window(self, text: str, limit: int, known: Sequence[str], generator: random.Random) -> str:
        starts = self.counter.token_starts(text)
        if len(starts) <= limit:
            return text
        folded = fold(text) if known else ""
        places = [folded.find(fold(answer)) for answer in known]
        # Folding can change the length a little; a window that misses the answer is tried again.
        place = next((place for place in places if place >= 0), None)
        last = len(starts) - limit
        for _ in range(4):
            if place is None:
                first = 0 if generator.random() < 0.6 else generator.randrange(last)  # noqa: PLR2004 - a share
            else:
                token = int((starts < place).sum())
                first = min(max(0, token - generator.randrange(limit)), last)
            end = int(starts[first + limit]) if first + limit < len(starts) else len(text)
            window = text[int(starts[first]) : end].strip()
            if place is None or holds_answer(window, known):
                return window
        return text[: int(starts[limit])]

    def _made(
        self, query: str, relevant: str, known: Sequence[str], generator: random.Random
    ) -> str | None:
        """Return a passage that looks right and is not, or None."""
        shared = [one for one in IDENTIFIER.findall(query) if len(one) > 1 and one in relevant]
        if shared and generator.random() < CHANGED:
            one = generator.choice(shared)
            other = changed(one, generator)
            return relevant.replace(one, other) if other != one else None
        if known and generator.random() < WITHOUT_ANSWER:
            spans = [(start, end) for start, end in sentence_spans(relevant)]
            kept = [relevant[start:end] for start, end in spans]
            kept = [one for one in kept if not holds_answer(one, known)]
            if len(kept) >= 2 and len(kept) < len(spans):  # noqa: PLR2004 - a passage, not a phrase
                return " ".join(kept)
        return None

    def _query(self, query: str, generator: random.Random) -> str:
        draw = generator.random()
        if draw < KEYWORDS:
            return " ".join(without_stop_words(query).split()) or query
        if draw < KEYWORDS + BARE:
            return unicodedata.normalize("NFKC", query).rstrip("?。. ").lower()
        return query


def changed(identifier: str, generator: random.Random) -> str:
    """Return `identifier` with one digit, or where it has none one letter, changed."""
    places = [at for at, one in enumerate(identifier) if one.isdigit()]
    alphabet = "0123456789" if places else "abcdefghijklmnopqrstuvwxyz"
    at = generator.choice(places or [i for i, one in enumerate(identifier) if one.isalpha()])
    return identifier[:at] + generator.choice(alphabet) + identifier[at + 1 :]
