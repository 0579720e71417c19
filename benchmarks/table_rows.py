"""Measures in which form the rows of tables are best shown to the cross-encoder.

    python benchmarks/table_rows.py --files ../shared/files

Questions are made of the tables in sample/ and in some of the shared files: "What is the <column>
of <row>?" or its Japanese equivalent, for cells that only one row of the file answers. Each is
asked twice, the second time with the chunk that holds the row taken out of what was retrieved.

found is the share of questions whose own chunk reaches the threshold, first the share that has it
on top; false is the share in which another chunk reaches the threshold after the chunk was taken
out; above is the share of pairs of a right and a wrong chunk (the best one of another question)
that are in order; tokens is the mean length of what is read of the right chunk.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from report import print_json, print_table, progress

import localrag
from localrag.formats.registry import read_document
from localrag.ingest.discover import uri_of
from localrag.search.evidence import evidence
from localrag.search.expand import Expand
from localrag.search.pipeline import search_stages
from localrag.search.plan import Plan
from localrag.search.reading import as_read
from localrag.search.run import run_stages
from localrag.store.chunks import fetch_chunks
from localrag.text.rows import cells_of, header_of, is_piped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from report import Row

    from localrag.records import Document, SearchState, StoredChunk

SAMPLE = Path(__file__).parents[1] / "sample"
SHARED: Final = (
    "csv/cp932.csv",
    "csv/utf16-le-bom.csv",
    "csv/semicolon-with-commas.csv",
    "csv/surplus-2000-rows.csv",
    "xlsx/nestle-half-year-segments.xlsx",
    "html/utf16-with-lying-meta.html",
    "markdown/crlf-tilde-fence.md",
    "pptx/table-slide.pptx",
    "pdf/two-column-latex.pdf",
    "pdf/nics-wide-table.pdf",
    "corpus/rustbook-en/appendix-02-operators.md",
    "corpus/rustbook-en/ch03-02-data-types.md",
    "corpus/rustbook-ja/appendix-02-operators.md",
    "corpus/rustbook-ja/ch03-02-data-types.md",
)
KEYS: Final = {"surplus-2000-rows.csv": "item_name"}
"""Column that names a row, where it is not the first."""
MOST_LINES: Final = 150
"""Lines of a CSV file that are indexed: more of the same only take time."""
LONGEST: Final = 60
"""Characters of a name in a question."""
ALL: Final = 1_000_000

FORMS: Final[dict[str, Callable[[StoredChunk, str], str]]] = {
    "as written": lambda chunk, _: chunk.passage,
    "named": lambda chunk, query: as_read(chunk, query, ALL),
    "named, best 3": lambda chunk, query: as_read(chunk, query, 3),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the row that answers it."""

    text: str
    lang: str
    uri: str
    start: int
    end: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=Path, required=True, help="the shared files")
    parser.add_argument("--per-file", type=int, default=2, help="questions about one file")
    parser.add_argument("--candidates", type=int, default=6, help="chunks that are read")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        paths = list(documents(options.files, Path(folder)))
        asked = [one for path in paths for one in questions(path)[: options.per_file]]
        rows = measure(Path(folder) / "rows.db", paths, asked, options.candidates)
    if options.json:
        print_json(rows)
    else:
        print_table(rows, list(rows[0]))
    return 0


def documents(files: Path, folder: Path) -> Iterator[Path]:
    """Yield the files; of a long CSV file its beginning, in `folder`."""
    yield from sorted(path for path in SAMPLE.rglob("*") if path.is_file())
    for name in SHARED:
        path = files / name
        lines = path.read_bytes().splitlines(keepends=True) if path.suffix == ".csv" else []
        if len(lines) > MOST_LINES:
            path = folder / path.name
            path.write_bytes(b"".join(lines[:MOST_LINES]))
        yield path


def questions(path: Path) -> list[Question]:
    """Return the questions about a file, in an order that has nothing to do with its own."""
    document = read_document(path.read_bytes(), str(path))
    cells: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for columns, row, start in rows_of(document):
        key = KEYS.get(path.name, columns[0])
        if columns.count(key) != 1:
            continue
        values = cells_of(row)
        name = values[columns.index(key)].strip("`")
        for column, value in zip(columns, values, strict=True):
            if value and column != key and columns.count(column) == 1:
                cells[column, name].append((start, start + len(row)))
    single = {(column, name): found[0] for (column, name), found in cells.items() if not found[1:]}
    by_row: dict[tuple[int, int], Question] = {}
    for column, name in sorted(single, key=lottery_number):
        if askable(column) and askable(name):
            span = single[column, name]
            by_row.setdefault(span, question(column, name, uri_of(path), *span))
    return list(by_row.values())


def rows_of(document: Document) -> Iterator[tuple[list[str], str, int]]:
    """Yield the names of columns, the line and the position of every row below a header."""
    for block in document.blocks:
        if block.kind != "table" or not block.header_rows:
            continue
        lines = document.text[block.start : block.end].split("\n")
        columns = header_of(lines[: 1 if is_piped(lines[0]) else block.header_rows])
        start = block.start
        for at, line in enumerate(lines):
            if at >= block.header_rows and len(cells_of(line)) == len(columns):
                yield columns, line, start
            start += len(line) + 1


def askable(name: str) -> bool:
    """Whether a name can stand in a question: neither long, nor a number, nor signs alone."""
    return len(name) < LONGEST and not name.isdigit() and re.search(r"\w\w", name) is not None


def question(column: str, name: str, uri: str, start: int, end: int) -> Question:
    """Return the question after a cell, in the language of the column's name."""
    if re.search("[\u3040-\u9fff]", column):
        return Question(f"{name}の{column}は何ですか。", "ja", uri, start, end)
    return Question(f"What is the {column} of {name}?", "en", uri, start, end)


def lottery_number(names: tuple[str, str]) -> str:
    """Return a string whose order has nothing to do with that of the names."""
    return sha256("\0".join(names).encode()).hexdigest()


def measure(
    database: Path, paths: Sequence[Path], asked: Sequence[Question], candidates: int
) -> list[Row]:
    """Return one row per form and language."""
    relevance: dict[str, list[dict[str, float]]] = {form: [] for form in FORMS}
    with localrag.open(database) as base:
        for path in paths:
            base.sync(path)
        plan = Plan(rerank=False)
        stages = [
            stage
            for stage in search_stages(
                base.database.connection, base.embedder, base.reranker, base.settings, plan
            )
            if not isinstance(stage, Expand)
        ]
        for one in asked:
            progress(one.text)
            state, _ = run_stages(stages, one.text)
            for form in FORMS:
                relevance[form].append(read(base, one, state, candidates, form))
        threshold = base.settings.min_relevance
    return [
        row_of(
            form,
            lang,
            [r for r, one in zip(read_, asked, strict=True) if lang in ("all", one.lang)],
            threshold,
        )
        for lang in ("en", "ja", "all")
        for form, read_ in relevance.items()
    ]


def read(
    base: localrag.KnowledgeBase,
    asked: Question,
    state: SearchState,
    candidates: int,
    form: str,
) -> dict[str, float]:
    """Return what the cross-encoder makes of the first candidates in one form."""
    found = state.survivors[:candidates]
    chunks = fetch_chunks(base.database.connection, [one.chunk_id for one in found])
    texts = [FORMS[form](chunks[one.chunk_id], asked.text) for one in found]
    scores = [float(score) for score in base.reranker.relevance(asked.text, texts)]
    right = [holds(chunks[one.chunk_id], asked) for one in found]
    order = {
        at: evidence(score, one.score)
        for at, (score, one) in enumerate(zip(scores, found, strict=True))
    }
    best = max(order, key=lambda at: order[at], default=-1)
    own = [at for at, yes in enumerate(right) if yes]
    count = base.embedder.counter.count
    return {
        "right": max((scores[at] for at in own), default=0.0),
        "wrong": max(
            (score for score, yes in zip(scores, right, strict=True) if not yes), default=0.0
        ),
        "first": float(best in own),
        "tokens": float(max((count(texts[at]) for at in own), default=0)),
    }


def holds(chunk: StoredChunk, asked: Question) -> bool:
    """Tell whether a chunk holds the row that answers a question."""
    return chunk.uri == asked.uri and chunk.start <= asked.start and asked.end <= chunk.end


def row_of(form: str, lang: str, read_: Sequence[Mapping[str, float]], threshold: float) -> Row:
    """Return the figures of one form."""
    right, wrong = [one["right"] for one in read_], [one["wrong"] for one in read_]
    return {
        "form": form,
        "lang": lang,
        "questions": len(read_),
        "found": fmean(value >= threshold for value in right),
        "first": fmean(one["first"] for one in read_),
        "false": fmean(value >= threshold for value in wrong),
        "above": fmean(mine > other for mine in right for other in wrong),
        "tokens": fmean(one["tokens"] for one in read_),
    }


if __name__ == "__main__":
    sys.exit(main())
