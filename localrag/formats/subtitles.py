# ruff: noqa: RUF001 - sentences end in many scripts
"""Subtitles: what is said, in paragraphs that end where nobody speaks, each behind its time.

Cue numbers, end times, settings and tags are left out. The time of a paragraph is that of its first
cue; the line of a sentence leads to its own cue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from localrag.errors import ReadError
from localrag.formats.encoding import decode
from localrag.formats.line_document import Lines
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_subtitles"]

MEDIA_TYPE: Final = "text/x-subtitles"

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_CUE: Final = re.compile(rf"^\s*(?P<start>{_TIME})(?P<rest>\s*-->\s*(?P<end>{_TIME}).*)$")
_EVENT: Final = re.compile(
    r"^(?P<kind>Dialogue|Comment):(?P<layer>\s*[^,]*,)(?P<start>[^,]*),(?P<end>[^,]*),[^,]*,"
    r"(?P<name>[^,]*),[^,]*,[^,]*,[^,]*,[^,]*,(?P<text>.*)$"
)
_TITLE: Final = re.compile(r"^Title:\s*(\S.*)$|^WEBVTT[ \t]+-[ \t]*(\S.*)$", re.MULTILINE)
_VOICE: Final = re.compile(r"<v(?:\.[\w.]+)?[ \t]+([^<>\n]{1,100})>")
_MARKUP: Final = re.compile(r"</?[A-Za-z][^<>]*>|</?\d[\d:.]*>|\{\\[^{}]*\}")
_ESCAPES: Final = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&lrm;": "", "&rlm;": ""}
_ESCAPE: Final = re.compile("|".join(_ESCAPES))
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”»」]*\s*$")

_LONGEST_GAP = 2.5
_LONG_ENOUGH = 30.0
_TOO_LONG = 60.0


@dataclass(frozen=True, slots=True)
class _Cue:
    first: int
    """Line of its time, from 0."""
    end: int
    """One past its last line of text."""
    start_time: float
    """Seconds."""
    end_time: float


def read_subtitles(data: bytes, uri: str) -> Document:
    """Return the document in `data`: SubRip, WebVTT or Advanced SubStation.

    Raises:
        ReadError: it is not text, or there are no cues in it.
    """
    lines = Lines(decode(data))
    is_ass = any(_EVENT.match(line) for line in lines.lines)
    cues = list(_events(lines) if is_ass else _cues(lines))
    if not cues:
        raise ReadError("damaged", "no subtitle cues (start --> end) in it")
    _tags(lines)
    for group in _paragraphs(cues, lines):
        lines.add("paragraph", group[0].first, group[-1].end)
        for cue in group[1:]:
            _drop_time(lines, cue, is_ass=is_ass)
    title = _TITLE.search(lines.source[:2000])
    name = (title[1] or title[2]).strip() if title else ""
    metadata = {"duration": cues[-1].end_time}
    return lines.document(name or stem_of(uri), MEDIA_TYPE, metadata)


def _cues(lines: Lines) -> Iterator[_Cue]:
    """Yield the cues, and leave out everything else."""
    starts = [(row, cue) for row, line in enumerate(lines.lines) if (cue := _CUE.match(line))]
    done = 0
    rows = [*(row for row, _ in starts[1:]), len(lines)]
    for (row, cue), following in zip(starts, rows, strict=False):
        end = next((one for one in range(row + 1, following) if lines.is_blank(one)), following)
        lines.cut_span(lines.index.start(done), lines.index.start(row))
        lines.cut_span(
            lines.index.start(row) + cue.start("rest"), lines.index.start(row) + cue.end("rest")
        )
        done = end
        if end > row + 1:
            yield _Cue(row, end, _seconds(cue["start"]), _seconds(cue["end"]))
        else:
            lines.cut_span(lines.index.start(row), lines.index.start(row + 1))
    lines.cut_span(lines.index.start(done), len(lines.source))


def _events(lines: Lines) -> Iterator[_Cue]:
    """Yield the spoken events of a script, and leave out everything else."""
    for row, line in enumerate(lines.lines):
        start = lines.index.start(row)
        event = _EVENT.match(line)
        if not event or event["kind"] == "Comment" or not _MARKUP.sub("", event["text"]).strip():
            lines.cut_span(start, lines.index.start(row + 1))
            continue
        name = event["name"].strip()
        lines.cut_span(start, start + event.start("start"))
        said = f" {name}: " if name else " "
        lines.cut_span(start + event.end("start"), start + event.start("text"), said)
        for found in re.finditer(r"\\[Nnh]", event["text"]):
            text = start + event.start("text")
            lines.cut_span(text + found.start(), text + found.end(), " ")
        yield _Cue(row, row + 1, _seconds(event["start"]), _seconds(event["end"]))


def _tags(lines: Lines) -> None:
    for found in _VOICE.finditer(lines.source):
        lines.cut_span(found.start(), found.start(1))
        lines.cut_span(found.end(1), found.end(), ": ")
    for found in _MARKUP.finditer(lines.source):
        if not _VOICE.match(found[0]):
            lines.cut_span(*found.span())
    for found in _ESCAPE.finditer(lines.source):
        lines.cut_span(*found.span(), _ESCAPES[found[0]])


def _paragraphs(cues: Sequence[_Cue], lines: Lines) -> Iterator[list[_Cue]]:
    group = [cues[0]]
    for cue in cues[1:]:
        last = group[-1]
        spoken = last.end_time - group[0].start_time
        ends = _SENTENCE_END.search(lines.line(last.end - 1)) is not None
        pause = cue.start_time - last.end_time
        if pause > _LONGEST_GAP or (spoken > _LONG_ENOUGH and ends) or spoken > _TOO_LONG:
            yield group
            group = []
        group.append(cue)
    yield group


def _drop_time(lines: Lines, cue: _Cue, *, is_ass: bool) -> None:
    start, end = lines.index.start(cue.first), lines.index.start(cue.first + 1)
    event = _EVENT.match(lines.line(cue.first)) if is_ass else None
    if event:
        name = event["name"].strip()
        lines.cut_span(start, start + event.start("text"), f"{name}: " if name else "")
    else:
        lines.cut_span(start, end)


def _seconds(time: str) -> float:
    total = 0.0
    for part in time.strip().replace(",", ".").split(":"):
        total = total * 60 + float(part if part.strip(".").replace(".", "", 1).isdigit() else 0)
    return total
