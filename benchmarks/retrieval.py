"""Measures what each stage of a search lets through, on sets of judged questions.

    python benchmarks/retrieval.py --data ../shared/data --set scifact jaquad --limit 300

The stages are the product's own, with its own defaults, on a real knowledge base file:

    lexical    BM25, the best 50
    vector     embeddings, the best 50
    fused      reciprocal rank fusion of the two
    reranked   what the cross-encoder has read of the fused list, in its order, then the rest

hit@1 and recall@k are the share of questions with a relevant passage among the first k; answer@1,
where a set tells the answers, the share whose first passage is relevant or holds one of them;
gold_share@k is the mean share of a question's relevant passages among the first k. For the other
measures and for sources see localrag/evaluate/metrics.py. ms_per_query is the median time of the
stage's own work; that of fused contains lexical and vector, embedding the query included.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, get_args

from report import parser_of, print_json, print_table, progress
from set_index import CachedEmbedder, open_set, passage_ids

from localrag.errors import LocalragError
from localrag.evaluate.answers import holds_answer
from localrag.evaluate.datasets import PassageChoice, find_sets, read_set
from localrag.evaluate.metrics import summarise
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.expand import Expand
from localrag.search.pipeline import search_stages
from localrag.search.plan import Plan
from localrag.search.run import run_stages

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from report import Row

    import localrag
    from localrag.config import ContextLine
    from localrag.evaluate.datasets import EvaluationSet
    from localrag.inference.protocols import Reranker
    from localrag.records import Stage, Trace

CACHE = Path(__file__).parent / ".cache"

STAGES = {
    "lexical": ("2a",),
    "vector": ("2b",),
    "fused": ("1", "2a", "2b", "3"),
    "reranked": ("4",),
}
"""The product's stages whose time counts; the list is that of the last one."""

COLUMNS = ("set", "split", "stage", "questions", "hit@1", "recall@5", "recall@20", "recall@50")
MORE_COLUMNS = ("mrr@10", "ndcg@10", "ms_per_query")
SHARES = ("gold_share@5", "gold_share@10", "gold_share@20")
"""Shown where a question has several relevant passages: they equal recall where it has one."""
ANSWER = "answer@1"
"""Shown where answers are known."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = parse(arguments)
    try:
        rows = list(measure_all(options))
    except LocalragError as error:
        print(f"\nError: {error}", file=sys.stderr)
        return 1
    if options.json:
        print_json(rows)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="sets to measure, such as scifact or xquad/en; all of them by default",
    )
    parser.add_argument("--split", help="which questions; test, else dev, else valid by default")
    parser.add_argument("--limit", type=int, help="most questions of a set: a fixed random sample")
    parser.add_argument(
        "--passages",
        choices=get_args(PassageChoice),
        default="split",
        help="rank the passages of the split (default) or those of all splits",
    )
    parser.add_argument(
        "--context-line",
        choices=("full", "words", "none"),
        default="full",
        help="titles everywhere, not in the vectors, or nowhere",
    )
    parser.add_argument("--no-rerank", action="store_true", help="leave the cross-encoder out")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    return parser.parse_args(arguments)


def measure_all(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows of every set that was asked for; print them as tables on the way."""
    embedder = CachedEmbedder(load_embedder(), options.cache)
    reranker = None if options.no_rerank else load_reranker()
    for name in options.set or find_sets(options.data):
        found = read_set(options.data, name, options.split, options.passages)
        if options.limit is not None:
            found = found.sample(options.limit)
        rows = measure(found, options.cache, embedder, reranker, options.context_line)
        if not options.json:
            print_table(rows, columns_for(found))
            print(flush=True)
        yield from rows


def columns_for(found: EvaluationSet) -> tuple[str, ...]:
    """Return the columns of the table of a set."""
    several = any(len(passages) > 1 for passages in found.judgements.values())
    answers = (ANSWER,) if any(question.answers for question in found.questions) else ()
    return (*COLUMNS, *(SHARES if several else ()), *answers, *MORE_COLUMNS)


def measure(
    found: EvaluationSet,
    cache: Path,
    embedder: CachedEmbedder,
    reranker: Reranker | None,
    context: ContextLine = "full",
) -> list[Row]:
    """Return one row per stage."""
    base = open_set(found, cache, embedder, reranker or load_reranker(), progress, context=context)
    try:
        traces = trace_questions(base, found, rerank=reranker is not None)
        passages = passage_ids(base)
    finally:
        base.database.close()  # not the models: the next set uses them
    stages = [stage for stage in STAGES if stage != "reranked" or reranker is not None]
    return [row_of(stage, found, traces, passages) for stage in stages]


def trace_questions(
    base: localrag.KnowledgeBase, found: EvaluationSet, *, rerank: bool
) -> dict[str, Trace]:
    """Run every question through the stages; return the traces by question."""
    stages = ranking_stages(base, rerank=rerank)
    run_stages(stages, found.questions[0].text)  # loads the models, which no question pays for
    traces = {}
    for number, question in enumerate(found.questions):
        if number % 50 == 0:
            progress(f"{found.name}: {number:,} of {len(found.questions):,} questions")
        _, traces[question.id] = run_stages(stages, question.text)
    return traces


def ranking_stages(base: localrag.KnowledgeBase, *, rerank: bool) -> list[Stage]:
    """Return the product's stages up to the one that makes the final ranking."""
    stages = search_stages(
        base.database.connection, base.embedder, base.reranker, base.settings, Plan(rerank=rerank)
    )
    return [stage for stage in stages if not isinstance(stage, Expand)]


def row_of(
    stage: str, found: EvaluationSet, traces: dict[str, Trace], passages: dict[int, str]
) -> Row:
    """Return the figures of one stage."""
    rankings = {
        question: [passages[chunk] for chunk in ranking(stage, trace)]
        for question, trace in traces.items()
    }
    return {
        "set": found.name,
        "split": found.split,
        "stage": stage,
        "questions": len(found.questions),
        "passages": len(found.passages),
        **summarise(rankings, found.judgements),
        **answered_first(found, rankings),
        "ms_per_query": median(milliseconds(stage, trace) for trace in traces.values()),
    }


def answered_first(found: EvaluationSet, rankings: dict[str, list[str]]) -> Row:
    """Return the share of questions whose first passage is relevant or holds an answer."""
    texts = {passage.id: passage.text for passage in found.passages}
    known = [question for question in found.questions if question.answers]
    right = [
        any(
            found.judgements[question.id].get(id_, 0) > 0
            or holds_answer(texts[id_], question.answers)
            for id_ in rankings[question.id][:1]
        )
        for question in known
    ]
    return {ANSWER: fmean(right)} if right else {}


def ranking(stage: str, trace: Trace) -> list[int]:
    """Return a stage's list of chunks, best first."""
    lists = {
        record.name.partition(".")[0]: [candidate.chunk_id for candidate in record.survivors]
        for record in trace.stages
    }
    best = lists[STAGES[stage][-1]]
    # The cross-encoder reads the first 30; what it has not read keeps its place behind them.
    rest = lists["3"] if stage == "reranked" else []
    return list(dict.fromkeys([*best, *rest]))


def milliseconds(stage: str, trace: Trace) -> float:
    """Return the time of a stage's own work on one question."""
    return sum(
        record.milliseconds
        for record in trace.stages
        if record.name.partition(".")[0] in STAGES[stage]
    )


if __name__ == "__main__":
    sys.exit(main())
