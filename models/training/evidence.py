"""Chooses how much retrieval's own scores count beside the cross-encoder when it orders candidates.

    python -m models.training.mine --data ../shared/data
    python -m models.training.evidence --data ../shared/data

Candidates are ordered by the cross-encoder's log-odds + B * standing among BM25's + V * standing
among the vectors' (see localrag/search/evidence.py). Printed is nDCG@10 of training questions that
were held out, so that no set whose scores are reported has a part in the choice, for the best pairs
of weights by the mean over the sets. `fused` is the list before reranking, `alone` the
cross-encoder's own order, `rank 1` reciprocal rank fusion of those two, and `ln W` its log-odds
+ W * ln(fused score).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.report import print_json, print_table, progress
from benchmarks.set_index import CachedEmbedder, open_set, passage_ids
from localrag.evaluate.metrics import ndcg
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.evidence import standings
from localrag.search.fuse import RRF_K, Fuse
from localrag.search.retrieve import Lexical, Vector
from localrag.search.run import run_stages
from localrag.search.transform import PassThrough
from localrag.store.chunks import fetch_chunks
from models.training.mine import BY_MEANING, MINED, WORK, K, as_evaluation, read_or_make
from models.training.questions import HELD_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationSet
    from localrag.inference.protocols import TokenCounter

LOGARITHM_WEIGHTS = (4, 12, 24)
BM25_WEIGHTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
VECTOR_WEIGHTS = BM25_WEIGHTS
SHOWN = 8
"""Pairs of weights that are printed."""
TOP = 30
INDEX = WORK / "index"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reranker and the fused list say of one question's candidates."""

    question: str
    passages: tuple[str, ...]
    """In the fused order; the first `TOP` were read."""
    fused: NDArray[np.float64]
    """Fused scores of those that were read."""
    odds: NDArray[np.float64]
    """Log-odds of the cross-encoder for the same."""
    words: NDArray[np.float64]
    """Standing of the same among BM25's candidates."""
    meaning: NDArray[np.float64]
    """Standing among the vectors'."""

    def keys(self) -> dict[str, NDArray[np.float64]]:
        """Return what each way sorts by, highest first."""
        own_ranks = 1 / (RRF_K + 1 + np.argsort(np.argsort(-self.odds, kind="stable")))
        by_ranks = 1 / (RRF_K + np.arange(1, len(self.odds) + 1)) + own_ranks
        logarithms = np.log(self.fused)
        return {
            "fused": self.fused,
            "alone": self.odds,
            "rank 1": by_ranks,
            **{f"ln {weight}": self.odds + weight * logarithms for weight in LOGARITHM_WEIGHTS},
            **{
                f"{bm25:g} {vector:g}": self.odds + bm25 * self.words + vector * self.meaning
                for bm25 in BM25_WEIGHTS
                for vector in VECTOR_WEIGHTS
            },
        }

    def rankings(self) -> dict[str, list[str]]:
        """Return the passages in the order of each way; what was not read stays behind."""
        orders = {way: np.argsort(-key, kind="stable") for way, key in self.keys().items()}
        unread = self.passages[len(self.odds) :]
        return {
            way: [*(self.passages[place] for place in order), *unread]
            for way, order in orders.items()
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", help="sets that were mined; all by default")
    parser.add_argument("--reranker", type=Path, help="folder of another cross-encoder")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    rows = list(measure_all(options))
    rows.append(mean_of(rows))
    if options.json:
        print_json(rows)
    else:
        print_table(turned(rows), ["way", *(str(row["set"]) for row in rows)])
    return 0


def turned(rows: Sequence[Row]) -> list[Row]:
    """Return a row a way: those that take no weights of lists, then the best pairs of weights."""
    ways = [name for name in rows[0] if name not in {"set", "questions"}]
    pairs = [way for way in ways if way[0].isdigit()]
    best = sorted(pairs, key=lambda way: -float(str(rows[-1][way])))[:SHOWN]
    shown = [*(way for way in ways if way not in pairs), *best]
    return [{"way": way, **{str(row["set"]): row[way] for row in rows}} for way in shown]


def measure_all(options: argparse.Namespace) -> Iterator[Row]:
    """Yield one row per set."""
    embedder = CachedEmbedder(load_embedder(), INDEX)
    reranker = load_reranker(options.reranker)
    for name in options.set or sorted(BY_MEANING):
        found = held_out(options.data, name, embedder.counter)
        base = open_set(found, INDEX, embedder, reranker, progress)
        readings = [read(base, found, question.id, question.text) for question in found.questions]
        base.database.close()  # not the models: the next set uses them
        yield row_of(name, found, readings)


def held_out(data: Path, name: str, counter: TokenCounter) -> EvaluationSet:
    """Return a training set with the questions that were held out of it."""
    found = as_evaluation(read_or_make(data, name, counter))
    with gzip.open(MINED / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    chosen = {row["id"] for row in [row for row in rows if row["negatives"]][:HELD_OUT]}
    return replace(found, questions=tuple(one for one in found.questions if one.id in chosen))


def read(base: localrag.KnowledgeBase, found: EvaluationSet, question: str, text: str) -> Reading:
    """Let the product's stages retrieve and the cross-encoder read the best candidates."""
    progress(f"{found.name}: {text[:60]}")
    connection = base.database.connection
    stages = (PassThrough(), Lexical(connection, K), Vector(connection, base.embedder, K), Fuse())
    state, _ = run_stages(stages, text)
    names = passage_ids(base)
    top = state.survivors[:TOP]
    chunks = fetch_chunks(connection, [one.chunk_id for one in top])
    probabilities = base.reranker.relevance(text, [chunks[one.chunk_id].passage for one in top])
    words, meaning = (standings(ranked) for ranked in state.lists)
    return Reading(
        question,
        tuple(names[one.chunk_id] for one in state.survivors),
        np.array([one.score for one in top]),
        np.log(probabilities / (1 - probabilities)).astype(np.float64),
        np.array([words.get(one.chunk_id, 0.0) for one in top]),
        np.array([meaning.get(one.chunk_id, 0.0) for one in top]),
    )


def row_of(name: str, found: EvaluationSet, readings: Sequence[Reading]) -> Row:
    """Return the figures of one set."""
    figures: defaultdict[str, list[float]] = defaultdict(list)
    for one in readings:
        for way, ranking in one.rankings().items():
            figures[way].append(ndcg(ranking, found.judgements[one.question], 10))
    means = {way: float(np.mean(values)) for way, values in figures.items()}
    return {"set": name, "questions": len(readings), **means}


def mean_of(rows: Sequence[Row]) -> Row:
    """Return the mean over the sets."""
    figures = [name for name in rows[0] if name not in ("set", "questions")]
    means = {name: float(np.mean([float(str(row[name])) for row in rows])) for name in figures}
    return {"set": "mean", "questions": sum(int(str(row["questions"])) for row in rows), **means}


if __name__ == "__main__":
    sys.exit(main())
