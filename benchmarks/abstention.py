"""Measures how well "not found" can be told, for every threshold of relevance.

    python benchmarks/abstention.py --data ../shared/data

squad2_noanswer has questions with a passage that misleads and no answer. clapnq_dev has answers to
all of its questions: each is asked twice, the second time with its own passages taken out of what
was retrieved. A question counts as found when the best of the passages that an answer is made from
reaches the threshold, as stage 6 decides.

answered is the share of answerable questions that are found; precision and recall are those of
"not found": the share of its uses that are right, and of the unanswerable questions that get it.
balanced is the mean of answered and recall, which is .5 for any answer that ignores the question.

What the cross-encoder read is kept in the cache by the hash of its weights: an interrupted run goes
on, and other thresholds or another calibration take a minute (see cached_reranker.py).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cached_reranker import CachedReranker
from report import print_json, print_table, progress
from retrieval import CACHE
from set_index import CachedEmbedder, open_set, passage_ids

from localrag.evaluate.datasets import read_set
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.pipeline import search_stages
from localrag.search.plan import Plan
from localrag.search.run import run_stages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationSet
    from localrag.records import SearchState

THRESHOLDS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--limit", type=int, default=250, help="answerable questions of each set")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    options = parser.parse_args(arguments)
    embedder = CachedEmbedder(load_embedder(), options.cache)
    reranker = CachedReranker(load_reranker(), options.cache)
    rows: list[Row] = []
    for name, measured in (("squad2_noanswer", misleading), ("clapnq_dev", bereft)):
        found = read_set(options.data, name, None, "split").sample(options.limit)
        base = open_set(found, options.cache, embedder, reranker, progress)
        answerable = [best(base, question.text) for question in found.questions]
        unanswerable = list(measured(base, found, options.data / name))
        base.database.close()  # not the models: the next set uses them
        rows += (row_of(name, limit, answerable, unanswerable) for limit in THRESHOLDS)
    if options.json:
        print_json(rows)
    else:
        print_table(rows, list(rows[0]))
    return 0


def misleading(base: localrag.KnowledgeBase, found: EvaluationSet, folder: Path) -> Iterator[float]:
    """Yield the best relevance for as many questions that a passage only seems to answer."""
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    texts = sorted(row["text"] for row in rows if row["metadata"]["impossible"])
    step = max(1, len(texts) // len(found.questions))
    for text in texts[::step][: len(found.questions)]:
        yield best(base, text)


def bereft(base: localrag.KnowledgeBase, found: EvaluationSet, _: Path) -> Iterator[float]:
    """Yield the best relevance for every question when its own passages cannot be found."""
    passages = passage_ids(base)
    for question in found.questions:
        own = found.judgements[question.id]
        gold = {chunk for chunk, passage in passages.items() if passage in own}
        yield best(base, question.text, without=gold)


def best(base: localrag.KnowledgeBase, text: str, without: set[int] | None = None) -> float:
    """Return the relevance of the best passage that an answer would be made from."""
    progress(text[:70])
    settings = base.settings
    plan = Plan(limit=settings.answer_passages, neighbours=settings.answer_neighbours)
    stages = list(
        search_stages(base.database.connection, base.embedder, base.reranker, settings, plan)
    )
    if without:
        fused = next(at for at, stage in enumerate(stages) if stage.name.startswith("3."))
        stages.insert(fused + 1, _Without(without))
    state, _ = run_stages(stages, text)
    return max((passage.relevance or 0.0 for passage in state.passages), default=0.0)


class _Without:
    """A stage that takes some chunks out of the list."""

    name = "3b. without gold"

    def __init__(self, chunks: set[int]) -> None:
        self.chunks = chunks

    def __call__(self, state: SearchState) -> SearchState:
        kept = tuple(one for one in state.survivors if one.chunk_id not in self.chunks)
        return replace(state, survivors=kept)


def row_of(
    name: str, threshold: float, answerable: Sequence[float], unanswerable: Sequence[float]
) -> Row:
    """Return the figures of one threshold."""
    refused = sum(value < threshold for value in unanswerable)
    wrongly = sum(value < threshold for value in answerable)
    answered, recall = 1 - wrongly / len(answerable), refused / len(unanswerable)
    return {
        "set": name,
        "threshold": threshold,
        "answerable": len(answerable),
        "unanswerable": len(unanswerable),
        "answered": answered,
        "precision": refused / (refused + wrongly) if refused + wrongly else 1.0,
        "recall": recall,
        "balanced": (answered + recall) / 2,
    }


if __name__ == "__main__":
    sys.exit(main())
