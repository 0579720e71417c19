"""Measures ways of cutting: is the answer in what a search returns, and how much must be read.

    python benchmarks/chunking.py --data ../shared/data --articles 8 --questions 80

Whole articles (CovidQA) are indexed as text files, by the product itself, once for each way of
cutting. `in@5` and `in@10` are the share of questions whose answer lies, with all its characters,
in one of the first 5 or 10 passages that a search returns; `tokens@5` and `tokens@10` are the mean
tokens of those passages. A way that returns more finds more: compare rows of about equal tokens.
`chunks` are the vectors that must be kept. The sample is the same on every machine. Fused ranking,
unless --rerank is given; --mode lexical embeds nothing, so that many articles take minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from report import print_json, print_table, progress
from set_index import CachedEmbedder

import localrag
from localrag.config import make_settings
from localrag.formats.registry import read_document
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.plan import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from report import Row

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder, FloatArray
    from localrag.records import Hit

Record = dict[str, Any]
CACHE = Path(__file__).parent / ".cache"
TOPS = (5, 10)
WAYS: dict[str, dict[str, object]] = {
    "structural 200": {"chunk_tokens": 200},
    "structural 300": {},
    "structural 400": {"chunk_tokens": 400},
    "structural 200, no overlap": {"chunk_tokens": 200, "overlap_tokens": 0},
    "structural 300, no overlap": {"overlap_tokens": 0},
    "structural 400, no overlap": {"chunk_tokens": 400, "overlap_tokens": 0},
    "fixed 300": {"chunking": "fixed"},
    "sentence-window": {"chunking": "sentence-window"},
    "parent-child": {"chunking": "parent-child"},
}
COLUMNS = (
    "way",
    "chunks",
    "questions",
    *(f"{what}@{top}" for what in ("in", "tokens") for top in TOPS),
)


class WordsOnly:
    """An embedder for searches by words: it counts tokens as the real one and embeds nothing."""

    def __init__(self, embedder: Embedder) -> None:
        self.dimensions = embedder.dimensions
        self.fingerprint = embedder.fingerprint
        self.counter = embedder.counter
        self.close = embedder.close
        self._any: FloatArray = np.eye(1, self.dimensions, dtype=np.float32)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Return any unit vectors, shape (texts, dimensions): nobody compares them."""
        return np.repeat(self._any, len(texts), axis=0)

    def embed_query(self, text: str) -> FloatArray:
        """Return the same vector, shape (dimensions,)."""
        del text
        found: FloatArray = self._any[0]
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--articles", type=int, default=8)
    parser.add_argument("--questions", type=int, default=80)
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--mode", choices=get_args(Mode), default="hybrid", help="how it searches")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where vectors are kept")
    parser.add_argument("--rerank", action="store_true", help="let the cross-encoder order them")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    articles, questions = sample(options.data / "covidqa_docs", options.articles, options.questions)
    model = load_embedder()
    lexical = options.mode == "lexical"
    embedder = WordsOnly(model) if lexical else CachedEmbedder(model, options.cache)
    plan = {"mode": options.mode, "rerank": options.rerank}
    rows: list[Row] = []
    for way in options.way:
        settings = make_settings(keep_traces=False, **WAYS[way])
        figures = measure(articles, questions, settings, embedder, plan)
        rows.append({"way": way, **figures})
        progress(f"{way}: {rows[-1]}\n")
    if options.json:
        print_json(rows)
    else:
        print_table(rows, COLUMNS)
    return 0


def sample(home: Path, articles: int, questions: int) -> tuple[list[Record], list[Record]]:
    """Return some articles and some questions about them, whose answers can be located."""
    chosen = sorted(records(home / "documents.jsonl.gz"), key=lottery_number)[:articles]
    texts = {article["_id"]: article["text"] for article in chosen}
    known = [one for one in records(home / "questions.jsonl.gz") if one["doc"] in texts]
    located = [one for one in known if one["answer"] in texts[one["doc"]]]
    return chosen, sorted(located, key=lottery_number)[:questions]


def records(path: Path) -> Iterable[Record]:
    """Yield the objects of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def lottery_number(record: Record) -> str:
    """Return a string whose order has nothing to do with that of the ids."""
    return sha256(f"localrag {record['_id']}".encode()).hexdigest()


def measure(
    articles: Sequence[Record],
    questions: Sequence[Record],
    settings: Settings,
    embedder: Embedder,
    plan: dict[str, Any],
) -> Row:
    """Return the figures of one way of cutting."""
    sums: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for article in articles:
            Path(folder, f"{article['_id']}.txt").write_text(article["text"], encoding="utf-8")
        base = localrag.KnowledgeBase(
            Path(folder, "base.db"), settings=settings, embedder=embedder, reranker=load_reranker()
        )
        try:
            chunks = base.sync(folder).chunks
            spans = answers(articles, questions)
            for number, question in enumerate(questions):
                progress(f"{number} of {len(questions)} questions")
                for top in TOPS:
                    # A search of its own: matches that touch are one hit, and a larger limit lets
                    # more of them in.
                    hits = base.search(question["text"], limit=top, **plan).hits
                    answered = any(
                        holds(hit, question["doc"], spans[question["_id"]]) for hit in hits
                    )
                    sums[f"in@{top}"] += int(answered)
                    sums[f"tokens@{top}"] += sum(embedder.counter.count(hit.text) for hit in hits)
        finally:
            base.database.close()  # not the models: the next way uses them
    means = {name: total / len(questions) for name, total in sums.items()}
    return {"chunks": chunks, "questions": len(questions), **means}


def answers(articles: Sequence[Record], questions: Sequence[Record]) -> dict[str, tuple[int, int]]:
    """Return where each answer stands in the text that the reader makes of its article."""
    texts = {
        article["_id"]: read_document(article["text"].encode(), "article.txt").text
        for article in articles
    }
    spans = {}
    for question in questions:
        text, answer = texts[question["doc"]], question["answer"].strip()
        # The place nearest to the given one, which counts the characters of the file.
        places = [match.start() for match in re.finditer(re.escape(answer), text)]
        _, start = min((abs(place - question["start"]), place) for place in places)
        spans[question["_id"]] = start, start + len(answer)
    return spans


def holds(hit: Hit, article: str, answer: tuple[int, int]) -> bool:
    """Tell whether a hit contains the whole answer."""
    same = Path(hit.document).stem == article
    return same and hit.start <= answer[0] and answer[1] <= hit.end


if __name__ == "__main__":
    sys.exit(main())
