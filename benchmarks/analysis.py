"""How well BM25 alone finds the right passage, for each choice of the text analysis.

Run from the checkout, with the evaluation data at hand::

    python benchmarks/analysis.py --data ../shared/data

Prints one table per measure. Terms that occur in more than three tenths of the passages are
dropped from queries where others remain.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import random
import re
import statistics
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from localrag.text.analysis import Analyser, QueryTerm
from localrag.text.match import match_expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_RETRIEVED = 10
_MOST_FREQUENT = 0.3


@dataclass(frozen=True, slots=True)
class DataSet:
    """Passages, and questions with the passages that answer them."""

    name: str
    folder: str
    judgements: str
    """Name of the file that says which passage answers which question."""
    passages: str = ""
    """Beginning of the ids of the passages that are ranked."""
    questions: int = 1_000
    """Most questions; a fixed random sample where there are more."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to analyse passages and queries."""

    name: str
    analyse: Callable[[str], list[str]]
    analyse_query: Callable[[str], list[QueryTerm]]


_SETS = (
    DataSet("codebase", "anthropic_codebase", "qrels.tsv"),
    DataSet("scifact", "scifact", "qrels_test.tsv"),
    DataSet("clapnq", "clapnq_dev", "qrels.tsv"),
    DataSet("squad-en", "squad_en", "qrels_dev.tsv", "sqd", 500),
    DataSet("jaquad", "jaquad", "qrels_dev.tsv", "jqd"),
    DataSet("xquad-zh", "xquad/zh", "qrels.tsv"),
    DataSet("xquad-de", "xquad/de", "qrels.tsv"),
    DataSet("xquad-ru", "xquad/ru", "qrels.tsv"),
)


def _variants() -> Iterator[Variant]:
    def of(name: str, analyser: Analyser) -> Variant:
        return Variant(name, analyser.analyse, analyser.analyse_query)

    yield Variant("plain words", _plain, lambda text: [QueryTerm(word) for word in _plain(text)])
    yield of("shipped", Analyser())
    yield of("question words kept", Analyser(stop_words=False))
    yield of("no stems", Analyser(stems=False))
    yield of("no whole names", Analyser(names=False))
    yield of("no single ideographs", Analyser(ideographs=False))


def _plain(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


class Index:
    """Passages in memory, as the product indexes them."""

    def __init__(self, passages: Sequence[tuple[str, str]], variant: Variant) -> None:
        self._ids = [passage_id for passage_id, _ in passages]
        self._variant = variant
        self._frequency: Counter[str] = Counter()
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5"
            "(body, content='', contentless_delete=1, tokenize='ascii')"
        )
        with self._connection:
            for row, (_, text) in enumerate(passages):
                self._add(row, text)

    def _add(self, row: int, text: str) -> None:
        tokens = self._variant.analyse(text)
        self._frequency.update(set(tokens))
        self._connection.execute(
            "INSERT INTO words(rowid, body) VALUES (?, ?)", (row, " ".join(tokens))
        )

    def search(self, query: str) -> list[str]:
        """Return the ids of the best passages."""
        terms = self._variant.analyse_query(query)
        most = _MOST_FREQUENT * len(self._ids)
        rare = [term for term in terms if self._frequency[term.term] <= most]
        expression = match_expression(rare or terms)
        if not expression:
            return []
        rows = self._connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (expression, _RETRIEVED),
        )
        return [self._ids[int(str(row))] for (row,) in rows]


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _passages(data: Path, of: DataSet) -> list[tuple[str, str]]:
    return [
        (line["_id"], f"{line['title']}\n{line['text']}")
        for line in _lines(data / of.folder / "corpus.jsonl.gz")
        if line["_id"].startswith(of.passages)
    ]


def _questions(data: Path, of: DataSet) -> list[tuple[str, set[str]]]:
    texts = {line["_id"]: line["text"] for line in _lines(data / of.folder / "queries.jsonl.gz")}
    gold: dict[str, set[str]] = {}
    with (data / of.folder / of.judgements).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                gold.setdefault(row["query-id"], set()).add(row["corpus-id"])
    ids = sorted(gold)
    if len(ids) > of.questions:
        ids = random.Random(0).sample(ids, of.questions)  # noqa: S311 - a sample, not a secret
    return [(texts[query_id], gold[query_id]) for query_id in ids]


def _measures(found: Sequence[str], gold: set[str]) -> dict[str, float]:
    """Return R@1, the share of gold passages among the first ten, and nDCG@10."""
    gains = [1 / math.log2(rank + 2) for rank, hit in enumerate(found) if hit in gold]
    ideal = [1 / math.log2(rank + 2) for rank in range(min(len(gold), _RETRIEVED))]
    return {
        "R@1": float(bool(found) and found[0] in gold),
        "Pass@10": len(gold & set(found)) / len(gold),
        "nDCG@10": sum(gains) / sum(ideal),
    }


def _means(results: Iterable[Mapping[str, float]]) -> dict[str, float]:
    rows = list(results)
    return {name: statistics.fmean(row[name] for row in rows) for name in rows[0]}


def _print(measure: str, results: Mapping[tuple[str, str], Mapping[str, float]]) -> None:
    sets = list(dict.fromkeys(name for name, _ in results))
    print(f"\n{measure:22}" + "".join(f"{name:>10}" for name in sets))
    for variant in dict.fromkeys(variant for _, variant in results):
        values = "".join(f"{results[name, variant][measure]:10.3f}" for name in sets)
        print(f"{variant:22}{values}")


def main() -> None:
    """Measure every set with every variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    data: Path = parser.parse_args().data
    results: dict[tuple[str, str], dict[str, float]] = {}
    for of in _SETS:
        passages, questions = _passages(data, of), _questions(data, of)
        for variant in _variants():
            index = Index(passages, variant)
            scores = (_measures(index.search(query), gold) for query, gold in questions)
            results[of.name, variant.name] = _means(scores)
    for measure in ("R@1", "Pass@10", "nDCG@10"):
        _print(measure, results)


if __name__ == "__main__":
    main()
