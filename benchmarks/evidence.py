"""Chooses how much the fused list counts beside the cross-encoder when candidates are reranked.

    python benchmarks/evidence.py --data ../shared/data

The reranked order is that of  log-odds of the cross-encoder + weight * ln(fused score). Weight 0 is
the cross-encoder alone; the larger it is, the more the order of the fused list stays. Printed is
nDCG@10 for each weight on sets whose scores are not reported anywhere: training splits, of which
the cross-encoder has seen a part. Fused is the list before reranking.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from report import print_json, print_table, progress
from retrieval import CACHE, ranking_stages
from set_index import CachedEmbedder, open_set, passage_ids

from localrag.evaluate.datasets import read_set
from localrag.evaluate.metrics import ndcg
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.rerank import log_odds
from localrag.search.run import run_stages
from localrag.store.chunks import fetch_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationSet

SETS = ("scifact:train", "policyqa:dev", "nq_oracle:", "jsquad:valid", "drcd:dev", "fairytaleqa:")
WEIGHTS = (0, 1, 2, 3, 4, 6, 8, 12)
TOP = 30


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

    def ranking(self, weight: float | None) -> list[str]:
        """Return the passages in the order of a weight; None is the fused order."""
        if weight is None:
            return list(self.passages)
        order = np.argsort(-(self.odds + weight * np.log(self.fused)), kind="stable")
        return [*(self.passages[place] for place in order), *self.passages[len(order) :]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", default=SETS, metavar="NAME:SPLIT")
    parser.add_argument("--limit", type=int, default=100, help="questions of each set")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    options = parser.parse_args(arguments)
    rows = list(measure_all(options))
    columns = ("set", "questions", "fused", *(f"weight {weight}" for weight in WEIGHTS))
    if options.json:
        print_json(rows)
    else:
        print_table([*rows, mean_of(rows)], columns)
    return 0


def measure_all(options: argparse.Namespace) -> Iterator[Row]:
    """Yield one row per set."""
    embedder = CachedEmbedder(load_embedder(), options.cache)
    reranker = load_reranker()
    for name in options.set:
        folder, _, split = name.partition(":")
        found = read_set(options.data, folder, split or None, "split").sample(options.limit)
        base = open_set(found, options.cache, embedder, reranker, progress)
        readings = [read(base, found, question.id, question.text) for question in found.questions]
        base.database.close()  # not the models: the next set uses them
        yield row_of(name, found, readings)


def read(base: localrag.KnowledgeBase, found: EvaluationSet, question: str, text: str) -> Reading:
    """Let the product's stages retrieve and the cross-encoder read the best candidates."""
    progress(f"{found.name}: {text[:60]}")
    state, _ = run_stages(ranking_stages(base, rerank=False), text)
    names = passage_ids(base)
    top = state.survivors[:TOP]
    chunks = fetch_chunks(base.database.connection, [one.chunk_id for one in top])
    probabilities = base.reranker.relevance(text, [chunks[one.chunk_id].passage for one in top])
    return Reading(
        question,
        tuple(names[one.chunk_id] for one in state.survivors),
        np.array([one.score for one in top]),
        np.array([log_odds(float(one)) for one in probabilities]),
    )


def row_of(name: str, found: EvaluationSet, readings: Sequence[Reading]) -> Row:
    """Return the figures of one set."""

    def quality(weight: float | None) -> float:
        judged = [(one.ranking(weight), found.judgements[one.question]) for one in readings]
        return float(np.mean([ndcg(ranking, grades, 10) for ranking, grades in judged]))

    weights = {f"weight {weight}": quality(weight) for weight in WEIGHTS}
    return {"set": name, "questions": len(readings), "fused": quality(None), **weights}


def mean_of(rows: Sequence[Row]) -> Row:
    """Return the mean over the sets."""
    figures = [name for name in rows[0] if name not in ("set", "questions")]
    means = {name: float(np.mean([float(str(row[name])) for row in rows])) for name in figures}
    return {"set": "mean", "questions": sum(int(str(row["questions"])) for row in rows), **means}


if __name__ == "__main__":
    sys.exit(main())
