"""Chooses how much the fused list counts beside the cross-encoder when it orders candidates.

    python -m models.training.mine --data ../shared/data
    python -m models.training.evidence --data ../shared/data

Candidates are ordered by the cross-encoder's log-odds, doubted as in the product, + W * fused
score + N * share of the question's names of code. Printed is nDCG@10 of training questions that
were held out, so that no set whose scores are reported has a part in the choice. `fused` is the
list before reranking, `alone` the cross-encoder's own order, `ranks` the reciprocal rank fusion of
the two, `undoubted` the plain log-odds + 75 * fused score; a number is W, `names` and a number N.
"""

from __future__ import annotations

import argparse
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
from localrag.search.evidence import FUSED_WEIGHT, NAMES_WEIGHT, evidence, share_of_names
from localrag.search.fuse import RRF_K, Fuse
from localrag.search.rerank import Rerank
from localrag.search.retrieve import Lexical, Vector
from localrag.search.run import run_stages
from localrag.search.transform import PassThrough
from localrag.store.chunks import fetch_chunks
from models.training.mine import BY_MEANING, MINED, WORK, K, as_evaluation, read_mined, read_or_make
from models.training.questions import HELD_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationSet
    from localrag.inference.protocols import TokenCounter

WEIGHTS = (30, 45, 60, 75, 100, 150)
NAMES_WEIGHTS = (0, 1, 2, 5)
UNDOUBTED_WEIGHT = 75
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
    probabilities: NDArray[np.float64]
    """Of the cross-encoder for the same."""
    names: NDArray[np.float64]
    """Shares of the question's names that these have."""

    def keys(self) -> dict[str, NDArray[np.float64]]:
        """Return what each way sorts by, highest first."""
        own = self.probabilities
        own_ranks = 1 / (RRF_K + 1 + np.argsort(np.argsort(-own, kind="stable")))
        return {
            "fused": self.fused,
            "alone": own,
            "ranks": 1 / (RRF_K + np.arange(1, len(own) + 1)) + own_ranks,
            "undoubted": np.log(own / (1 - own)) + UNDOUBTED_WEIGHT * self.fused,
            **{str(weight): self.evidence(weight) for weight in WEIGHTS},
            **{f"names {weight}": self.evidence(names=weight) for weight in NAMES_WEIGHTS},
        }

    def evidence(
        self, weight: float = FUSED_WEIGHT, names: float = NAMES_WEIGHT
    ) -> NDArray[np.float64]:
        """Return what the product sorts by, with other weights."""
        known = zip(self.probabilities, self.fused, self.names, strict=True)
        return np.array([evidence(*one, weight, names) for one in known])

    def rankings(self) -> dict[str, list[str]]:
        """Return the passages in the order of each way; what was not read stays behind."""
        orders = {way: np.argsort(-key, kind="stable") for way, key in self.keys().items()}
        unread = self.passages[len(self.probabilities) :]
        return {
            way: [*(self.passages[place] for place in order), *unread]
            for way, order in orders.items()
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", help="sets that were mined; all by default")
    parser.add_argument(
        "--questions",
        type=int,
        default=HELD_OUT,
        help="of each set; more than are held out only where the model was trained on none",
    )
    parser.add_argument("--reranker", type=Path, help="folder of another cross-encoder")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    rows = list(measure_all(options))
    rows.append(mean_of(rows))
    if options.json:
        print_json(rows)
    else:
        print_table(rows, list(rows[0]))
    return 0


def measure_all(options: argparse.Namespace) -> Iterator[Row]:
    """Yield one row per set."""
    embedder = CachedEmbedder(load_embedder(), INDEX)
    reranker = load_reranker(options.reranker)
    mined = [name for name in sorted(BY_MEANING) if (MINED / f"{name}.jsonl.gz").exists()]
    for name in options.set or mined:
        found = held_out(options.data, name, embedder.counter, options.questions)
        base = open_set(found, INDEX, embedder, reranker, progress)
        readings = [read(base, found, question.id, question.text) for question in found.questions]
        base.database.close()  # not the models: the next set uses them
        yield row_of(name, found, readings)


def held_out(data: Path, name: str, counter: TokenCounter, most: int = HELD_OUT) -> EvaluationSet:
    """Return a training set with the questions that were held out of it, its first `most`."""
    found = as_evaluation(read_or_make(data, name, counter))
    chosen = {row["id"] for row in read_mined(MINED / f"{name}.jsonl.gz")[:most]}
    return replace(found, questions=tuple(one for one in found.questions if one.id in chosen))


def read(base: localrag.KnowledgeBase, found: EvaluationSet, question: str, text: str) -> Reading:
    """Let the product's stages retrieve and the cross-encoder read the best candidates."""
    progress(f"{found.name}: {text[:60]}")
    connection = base.database.connection
    stages = (PassThrough(), Lexical(connection, K), Vector(connection, base.embedder, K), Fuse())
    state, _ = run_stages(stages, text)
    names = passage_ids(base)
    top = state.survivors[:TOP]
    reranked = Rerank(connection, base.reranker, TOP)(state)
    known = {one.chunk_id: one.score for one in reranked.survivors}
    named = share_of_names(text, fetch_chunks(connection, known).values())
    return Reading(
        question,
        tuple(names[one.chunk_id] for one in state.survivors),
        np.array([one.score for one in top]),
        np.array([known[one.chunk_id] for one in top]),
        np.array([named[one.chunk_id] for one in top]),
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
