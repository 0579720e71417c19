"""LaTeX: sections, lists, code, tables and captions; the words without the markup around them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from localrag.formats.encoding import decode
from localrag.formats.latex_markup import braces, inline_cuts, masked, plain, silent_spans
from localrag.formats.line_document import Lines, titled
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_latex"]

MEDIA_TYPE: Final = "application/x-latex"

_LEVELS: Final = (
    "part",
    "chapter",
    "section",
    "subsection",
    "subsubsection",
    "paragraph",
    "subparagraph",
)
_HEADING: Final = re.compile(
    rf"\\(?P<name>{'|'.join(_LEVELS)})\*?\s*(?:\[[^\]]{0, 200}\])?\s*(?=\{{)"
)
_ENVIRONMENT: Final = re.compile(
    r"\\(?P<edge>begin|end)\{(?P<name>[\w@-]+\*?)\}(?:\[(?P<option>[^\]\n]{0,200})\])?(?:\{[^{}\n]{0,200}\})*"
)
_ITEM: Final = re.compile(r"\\item(?![A-Za-z])(?:[ \t]*\[(?P<label>[^\]\n]{0,200})\])?")
_CAPTION: Final = re.compile(r"\\caption\*?(?:\[[^\]]{0,200}\])?(?=\{)")
_PROPERTY: Final = re.compile(r"\\(?P<name>title|author|date)\s*(?:\[[^\]]{0,200}\])?\s*(?=\{)")
_THEOREM: Final = re.compile(r"\\newtheorem\*?\{(\w+)\}(?:\[\w+\])?\{([^{}]+)\}")
_RULE: Final = re.compile(r"\\(?:hline|midrule)")

_TABLES: Final = frozenset(["tabular", "tabular*", "tabularx", "longtable", "array", "tabu"])
_LISTS: Final = frozenset(["itemize", "enumerate", "description", "compactitem", "compactenum"])
_QUOTES: Final = frozenset(("quote", "quotation", "verse"))
_LAYOUT_WORDS: Final = """
    document center flushleft flushright figure figure* table table* minipage abstract titlepage
    multicols spacing singlespace small footnotesize
"""
_LAYOUT: Final = frozenset(_LAYOUT_WORDS.split())
_NAMED: Final = {
    "thm": "Theorem", "theorem": "Theorem", "lem": "Lemma", "lemma": "Lemma", "prop": "Proposition",
    "proposition": "Proposition", "cor": "Corollary", "corollary": "Corollary",
    "defn": "Definition", "definition": "Definition", "dfn": "Definition", "proof": "Proof",
    "eg": "Example", "example": "Example", "rmk": "Remark", "remark": "Remark", "ex": "Exercise",
    "exercise": "Exercise", "abstract": "Abstract",
}  # fmt: skip


def read_latex(data: bytes, uri: str) -> Document:
    """Return the document in `data`.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    reader = _Reader(Lines(decode(data)))
    reader.read()
    title = titled([str(reader.metadata.pop("title", ""))], reader.lines.spans, stem_of(uri))
    return reader.lines.document(title, MEDIA_TYPE, reader.metadata)


@dataclass(slots=True)
class _Reader:
    lines: Lines
    text: str = field(init=False)
    """The source without comments, code and math, as long as it."""
    pairs: dict[int, int] = field(init=False)
    metadata: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.text = masked(self.lines.source)
        self.pairs = braces(self.text)

    def read(self) -> None:
        start, end = self.body()
        for kind, first, last in silent_spans(self.lines.source):
            if start <= first < end and kind != "inline":
                self.silent(kind, first, last)
        self.headings(start, end)
        self.environments(start, end)
        self.lines.cuts += inline_cuts(self.text, self.pairs, start, end)
        self.lines.cut_emptied()

    def body(self) -> tuple[int, int]:
        """Return where the text lies; what stands before it is read for title and author."""
        begin = self.text.find("\\begin{document}")
        end = self.text.find("\\end{document}", begin)
        for match in _PROPERTY.finditer(self.text):
            if match.end() in self.pairs:
                value = plain(self.text[match.end() + 1 : self.pairs[match.end()]])
                self.metadata.setdefault(match["name"], value)
        for name in [
            name for name, value in self.metadata.items() if not value or value == "\\today"
        ]:
            del self.metadata[name]
        start = max(begin, 0)
        end = end if end >= 0 else len(self.text)
        self.lines.cut_span(0, start)
        self.lines.cut_span(end, len(self.text))
        first, last = self.number(start), self.number(end)
        self.lines.lines[:first] = [""] * first
        self.lines.lines[last + 1 :] = [""] * (len(self.lines) - last - 1)
        return start, end

    def number(self, position: int) -> int:
        """Return the line of a position, from 0."""
        return self.lines.index.number(position) - 1

    def silent(self, kind: str, start: int, end: int) -> None:
        """Drop comments, and note code."""
        first, last = self.number(start), self.number(max(start, end - 1)) + 1
        if kind == "code":
            self.lines.add("code", first, last)
            return
        whole = not self.lines.source[self.lines.index.start(first) : start].strip()
        if whole and not self.lines.source[end : self.lines.index.start(last)].strip():
            # A line that holds nothing else parts no paragraph.
            self.lines.cut_span(self.lines.index.start(first), self.lines.index.start(last))
        else:
            while self.lines.source[start - 1 : start] in (" ", "\t"):
                start -= 1
            self.lines.cut_span(start, end)

    def headings(self, start: int, end: int) -> None:
        found = [
            match for match in _HEADING.finditer(self.text, start, end) if match.end() in self.pairs
        ]
        ranks = {_LEVELS.index(match["name"]) for match in found}
        for match in found:
            closing = self.pairs[match.end()]
            level = _LEVELS.index(match["name"]) - min(ranks) + 1
            title = plain(self.lines.source[match.end() + 1 : closing])
            first, last = self.number(match.start()), self.number(closing) + 1
            self.lines.add_heading(first, last, title, level)
            self.lines.cut_span(match.start(), match.end() + 1, f"{'#' * min(level, 6)} ")
            self.lines.cut_span(closing, closing + 1)

    def environments(self, start: int, end: int) -> None:
        names = _NAMED | dict(_THEOREM.findall(self.text))
        opened: list[tuple[str, int]] = []
        waiting: Counter[str] = Counter()
        for match in _ENVIRONMENT.finditer(self.text, start, end):
            name, row = match["name"], self.number(match.start())
            if match["edge"] == "begin":
                opened.append((name, row))
                waiting[name] += 1
            elif waiting[name]:
                while (begun := opened.pop())[0] != name:
                    waiting[begun[0]] -= 1
                waiting[name] -= 1
                self.environment(name, begun[1], row + 1)
            if name in _LAYOUT | _LISTS | _QUOTES or name in names:
                shown = names.get(name, "") if match["edge"] == "begin" else ""
                option = f" ({plain(match['option'])})" if shown and match["option"] else ""
                self.lines.cut_span(*match.span(), f"{shown}{option}." if shown else "")
        self.items(start, end)
        for match in _CAPTION.finditer(self.text, start, end):
            if (closing := self.pairs.get(match.end())) is not None:
                self.lines.add("caption", self.number(match.start()), self.number(closing) + 1)

    def environment(self, name: str, first: int, end: int) -> None:
        """Note tables and quotations; other environments are made of paragraphs."""
        if name in _TABLES:
            rules = [row for row in range(first, end) if _RULE.search(self.lines.line(row))]
            header = next((row + 1 - first for row in rules if row > first + 1), 0)
            self.lines.add("table", first, end, header_rows=header if header < end - first else 0)
        elif name in _QUOTES:
            self.lines.add("quote", first + 1, end - 1)

    def items(self, start: int, end: int) -> None:
        edges = sorted(
            {self.number(match.start()) for match in _ENVIRONMENT.finditer(self.text, start, end)}
            | {span.first for span in self.lines.spans}
        )
        found = list(_ITEM.finditer(self.text, start, end))
        starts = sorted({self.number(match.start()) for match in found})
        stops = sorted({*edges, *starts})
        for match in found:
            label = f" {plain(match['label'])}:" if match["label"] else ""
            self.lines.cut_span(*match.span(), f"-{label}")
        position = 0
        for first in starts:
            while position < len(stops) and stops[position] <= first:
                position += 1
            stop = stops[position] if position < len(stops) else len(self.lines)
            row = first + 1
            while row < stop and not self.lines.is_blank(row):
                row += 1
            self.lines.add("list_item", first, row)
