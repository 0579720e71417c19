"""Units fill chunks, in order, within one section."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localrag.chunking.token_index import TokenIndex
    from localrag.chunking.units import Limits, Unit

__all__ = ["Draft", "pack"]

_LONGEST_INTRODUCTION = 50
_SMALL_REST = 6
_STRETCH = 1.25


@dataclass(slots=True)
class Draft:
    """A chunk in the making: units in order, after the overlap with the chunk before."""

    start: int
    units: list[Unit] = field(default_factory=list)

    @property
    def end(self) -> int:
        """One past the last character."""
        return self.units[-1].end

    @property
    def only_headings(self) -> bool:
        """Whether there is nothing yet that the headings head."""
        return all(unit.kind == "heading" for unit in self.units)


def pack(units: Iterable[Unit], tokens: TokenIndex, limits: Limits) -> list[Draft]:
    """Return drafts that hold every unit once, each within the limits."""
    drafts: list[Draft] = []
    for unit in units:
        draft = drafts[-1] if drafts else None
        if draft and _takes(draft, unit, tokens, limits):
            draft.units.append(unit)
        elif draft and (introduction := _introduction(draft, unit, tokens, limits)):
            draft.units.remove(introduction)
            drafts.append(Draft(introduction.start, [introduction, unit]))
        else:
            start = _overlap_start(draft, unit, tokens, limits) if draft else unit.start
            drafts.append(Draft(start, [unit]))
    return _without_small_rest(drafts, tokens, limits)


def _takes(draft: Draft, unit: Unit, tokens: TokenIndex, limits: Limits) -> bool:
    if draft.units[-1].alone or (unit.alone and (unit.preamble or not draft.only_headings)):
        return False
    most = limits.model if draft.only_headings and unit.kind != "heading" else limits.chunk
    return tokens.count(draft.start, unit.end) <= most


def _introduction(draft: Draft, unit: Unit, tokens: TokenIndex, limits: Limits) -> Unit | None:
    """Return the line at the end of the draft that belongs to the table or code that follows."""
    last = draft.units[-1]
    if unit.is_prose or unit.alone or not last.is_prose or len(draft.units) == 1:
        return None
    is_line = "\n" not in tokens.text[last.start : last.end]
    is_short = tokens.count(last.start, last.end) <= _LONGEST_INTRODUCTION
    fits = tokens.count(last.start, unit.end) <= limits.model
    return last if is_line and is_short and fits else None


def _overlap_start(draft: Draft, unit: Unit, tokens: TokenIndex, limits: Limits) -> int:
    """Return where the chunk of `unit` starts: a few whole sentences before it, in prose."""
    if not (unit.is_prose and draft.units[-1].is_prose):
        return unit.start
    earliest = draft.end
    for previous in reversed(draft.units):
        if not previous.is_prose or tokens.count(earliest, draft.end) > limits.overlap:
            break
        earliest = previous.start
    for sentence, _ in sentence_spans(tokens.text[earliest : draft.end]):
        start = earliest + sentence
        short = tokens.count(start, draft.end) <= limits.overlap
        if start > draft.start and short and tokens.count(start, unit.end) <= limits.chunk:
            return start
    return unit.start


def _without_small_rest(drafts: list[Draft], tokens: TokenIndex, limits: Limits) -> list[Draft]:
    """Give a last chunk of a few words to the chunk before, which may grow by a quarter."""
    if len(drafts) < len(("chunk", "rest")):
        return drafts
    *others, last = drafts
    previous = others[-1]
    rest = tokens.count(last.units[0].start, last.end)
    most = min(limits.model, int(limits.chunk * _STRETCH))
    if (
        previous.units[-1].alone
        or last.units[0].alone
        or rest > limits.chunk // _SMALL_REST
        or tokens.count(previous.start, last.end) > most
    ):
        return drafts
    previous.units += last.units
    return others
