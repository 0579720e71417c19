"""The heading tree of a document, and the line of context that each section gives its chunks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from localrag.inference.protocols import TokenCounter
    from localrag.records import Block, Document

__all__ = ["SEPARATOR", "Heading", "Outline", "context_line", "outline_of"]

SEPARATOR = " > "
_LONGEST_CONTEXT = 64
_CONTEXT_SHARE = 4


@dataclass(frozen=True, slots=True)
class Heading:
    """A node of the tree."""

    text: str
    level: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a document, and which of them each block stands under."""

    headings: tuple[Heading, ...]
    """Index 0 is the document."""
    section_of: tuple[int, ...]
    """For each block, the index of its heading; a heading stands under itself."""

    def ancestors(self, section: int) -> list[int]:
        """Return the section and what encloses it, innermost first, the document last."""
        found = [section]
        while (parent := self.headings[found[-1]].parent) is not None:
            found.append(parent)
        return found

    def path(self, section: int) -> tuple[str, ...]:
        """Return the headings above and of a section, outermost first."""
        texts = [self.headings[index].text for index in reversed(self.ancestors(section)[:-1])]
        return tuple(text for text in texts if text)

    def joint_path(self, sections: Iterable[int]) -> tuple[str, ...]:
        """Return what the paths of several sections share, then what is left of each, as one.

        ``Shop > open`` and ``Shop > close`` give ``Shop`` and ``open, close``.
        """
        paths = list(dict.fromkeys(self.path(section) for section in sections))
        if len(paths) == 1:
            return paths[0]
        levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
        shared = tuple(level[0] for level in levels)
        rests = [path[len(shared) :] for path in paths]
        # A section that goes on in one that it encloses is named by that one.
        said = [
            SEPARATOR.join(rest)
            for rest, following in zip_longest(rests, rests[1:], fillvalue=())
            if rest and following[: len(rest)] != rest
        ]
        return (*shared, ", ".join(said)) if said else shared


def outline_of(document: Document) -> Outline:
    """Return the tree that the headings of `document` span."""
    headings = [Heading("", 0, None)]
    section_of: list[int] = []
    current = 0
    for block in document.blocks:
        if block.kind == "heading":
            current = _enclosing(headings, current, block)
            headings.append(Heading(block.heading, block.level, current))
            current = len(headings) - 1
        section_of.append(current)
    return Outline(tuple(headings), tuple(section_of))


def _enclosing(headings: Sequence[Heading], current: int, block: Block) -> int:
    while (
        headings[current].level >= block.level and (parent := headings[current].parent) is not None
    ):
        current = parent
    return current


def context_line(title: str, path: Sequence[str], counter: TokenCounter) -> str:
    """Return ``title > heading > heading`` in at most 64 tokens, a quarter of what the model takes.

    A title that is the first heading is not said twice. Where the line is too long the middle
    headings go first, then the ends of the title and of the last heading.
    """
    most = min(_LONGEST_CONTEXT, counter.max_tokens // _CONTEXT_SHARE)
    title, path = _one_line(title), [_one_line(heading) for heading in path]
    if path and path[0].casefold() == title.casefold():
        path = path[1:]
    while path and counter.count(SEPARATOR.join((title, *path))) > most:
        if len(path) == 1:
            title, path = _cut(title, most // 3, counter), [_cut(path[0], most // 2, counter)]
            break
        path = path[1:]
    line = SEPARATOR.join(part for part in (title, *path) if part)
    return _cut(line, most, counter)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, tokens: int, counter: TokenCounter) -> str:
    while text and counter.count(text) > tokens:
        starts = counter.token_starts(text)
        # One token less each time: the shorter text may be tokenised otherwise.
        end = int(starts[min(tokens, len(starts) - 1)])
        text = text[: min(end, len(text) - 1)].rstrip()
    return text
