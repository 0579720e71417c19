"""Compares words with pairs of characters as the tokens of Japanese text.

    python benchmarks/segmenters.py --data ../shared/data --set jaquad jaquad_mteb
    localrag index ../shared/files/corpus/rustbook-ja --db rust-ja.db
    python benchmarks/segmenters.py --golden rust-ja.db ../shared/files/corpus/rustbook-golden.jsonl

Each analysis of japanese_words.py is put into a copy of a real knowledge base and asked by the
product's own stages, with its weights; stage 1 passes the question on as it is. The vectors' list
of a question is the same for all of them, and looked up once.

    words      BM25, the best 50
    fused      the fusion of that with the vectors, as a search without the cross-encoder ranks

hit@1 and recall@k are the share of questions with a relevant passage among the first k. `gain` is
what the analysis adds to the nDCG@10 of the pairs that ship, `low` and `high` its 95 % interval by
a paired bootstrap over the questions, `better` and `worse` the numbers of questions. Bytes are
those of the words in the file, merged; times are processor time of the analysis alone, once its
dictionary is in memory.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import TYPE_CHECKING

from golden import lies_in_section, read_questions
from japanese_words import SHIPPED, variants
from paired import paired_difference
from report import parser_of, print_json, print_table, progress
from retrieval import CACHE, ranking_stages
from set_index import CachedEmbedder, open_set, passage_ids

import localrag
from localrag.errors import LocalragError
from localrag.evaluate.datasets import read_set
from localrag.evaluate.metrics import hit, ndcg
from localrag.inference.load import load_embedder, load_reranker
from localrag.ingest.prepare import words_of
from localrag.records import SearchState
from localrag.search.retrieve import Lexical, Vector, with_lists
from localrag.search.run import run_stages
from localrag.search.transform import PassThrough, Transform
from localrag.store.chunks import fetch_chunks
from localrag.store.words import insert_words

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from analysis import Variant
    from report import Row

    from localrag.inference.protocols import Reranker
    from localrag.records import RankedList, Stage, Trace

LISTS = {"words": "2a. bm25", "fused": "3. fuse"}
QUALITY = ("ndcg@10", "hit@1", "recall@5", "recall@50")
GAIN = ("gain", "low", "high", "better", "worse")
COST = ("bytes/chunk", "tokens/chunk", "s/1000_chunks", "ms/question")


@dataclass(frozen=True, slots=True)
class Task:
    """Questions to a knowledge base, with the chunks that answer them."""

    name: str
    base: localrag.KnowledgeBase
    questions: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, int]]
    """Question id to chunk id to grade."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Stage 2b, with lists that it made before."""

    lists: Mapping[str, RankedList]
    name: str = "2b. vector"

    def __call__(self, state: SearchState) -> SearchState:
        """Add the list of each query."""
        return with_lists(state, [self.lists[query] for query in state.queries])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = parse(arguments)
    embedder, reranker = CachedEmbedder(load_embedder(), options.cache), load_reranker()
    rows: list[Row] = []
    try:
        for task in tasks(options, embedder, reranker):
            found = measure(task)
            rows += found
            if not options.json:
                print_task(found)
    except LocalragError as error:
        print(f"\nError: {error}", file=sys.stderr)
        return 1
    if options.json:
        print_json(rows)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME", help="sets to measure")
    parser.add_argument("--split", help="which questions; test, else dev, else valid by default")
    parser.add_argument("--limit", type=int, help="most questions of a set: a fixed random sample")
    parser.add_argument(
        "--golden",
        nargs=2,
        type=Path,
        metavar=("DATABASE", "QUESTIONS"),
        help="a knowledge base, and questions whose section is known, as benchmarks/golden.py",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    options = parser.parse_args(arguments)
    if options.set and options.data is None:
        parser.error("--set needs --data")
    return options


def tasks(
    options: argparse.Namespace, embedder: CachedEmbedder, reranker: Reranker
) -> Iterator[Task]:
    """Yield what was asked for, one open knowledge base at a time."""
    for name in options.set:
        found = read_set(options.data, name, options.split)
        base = open_set(found, options.cache, embedder, reranker, progress)
        if options.limit is not None:
            found = found.sample(options.limit)
        chunks = {passage: str(chunk) for chunk, passage in passage_ids(base).items()}
        judgements = {
            question: {chunks[passage]: grade for passage, grade in grades.items()}
            for question, grades in found.judgements.items()
        }
        yield Task(name, base, {one.id: one.text for one in found.questions}, judgements)
        base.database.close()
    if options.golden:
        path, questions = options.golden
        base = localrag.open(path, read_only=True, embedder=embedder, reranker=reranker)
        yield golden_task(base, questions)
        base.database.close()


def golden_task(base: localrag.KnowledgeBase, path: Path) -> Task:
    """Return the Japanese questions of a file whose section the knowledge base has."""
    asked = read_questions(path)
    ids = [row[0] for row in base.database.connection.execute("SELECT id FROM chunks")]
    chunks = fetch_chunks(base.database.connection, ids).values()
    judgements = {
        one["id"]: {str(c.id): 1 for c in chunks if lies_in_section(c.uri, c.headings, one)}
        for one in asked
        if one["lang"] == "ja" and one["file"] is not None
    }
    judged = {question: grades for question, grades in judgements.items() if grades}
    texts = {one["id"]: one["question"] for one in asked if one["id"] in judged}
    return Task(path.stem, base, texts, judged)


def measure(task: Task) -> list[Row]:
    """Return one row for each analysis and list."""
    remembered = Remembered(nearest(task))
    shipped: dict[str, dict[str, list[float]]] = {}
    rows: list[Row] = []
    for variant in variants():
        progress(f"{task.name}: {variant.name}")
        traces, cost = ask(task, variant, remembered)
        for name, stage in LISTS.items():
            figures = {
                measure: [
                    figure_of(measure, ranking(traces[question], stage), task.judgements[question])
                    for question in task.questions
                ]
                for measure in QUALITY
            }
            if variant is SHIPPED:
                shipped[name] = figures
            difference = paired_difference(figures["ndcg@10"], shipped[name]["ndcg@10"])
            rows.append(
                {
                    "set": task.name,
                    "questions": len(task.questions),
                    "analysis": variant.name,
                    "list": name,
                    **{measure: fmean(values) for measure, values in figures.items()},
                    "gain": difference.mean,
                    "low": difference.low,
                    "high": difference.high,
                    "better": difference.better,
                    "worse": difference.worse,
                    **cost,
                }
            )
    return rows


def nearest(task: Task) -> dict[str, RankedList]:
    """Return the vectors' list of every question."""
    [stage] = [one for one in ranking_stages(task.base, rerank=False) if isinstance(one, Vector)]
    texts = dict.fromkeys(task.questions.values())
    return {text: stage(SearchState(text, (text,))).lists[0] for text in texts}


def ask(task: Task, variant: Variant, vectors: Remembered) -> tuple[dict[str, Trace], Row]:
    """Ask a copy of the knowledge base whose words are those of `variant`; return traces, costs."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        task.base.database.connection.execute("VACUUM INTO ?", (str(copy),))
        base = localrag.open(copy, embedder=task.base.embedder, reranker=task.base.reranker)
        cost = put_words(base, variant)
        cost["ms/question"] = 1000 * seconds_for(variant.analyse_query, task.questions.values())
        stages = [
            with_variant(stage, variant, vectors) for stage in ranking_stages(base, rerank=False)
        ]
        traces = {id_: run_stages(stages, text)[1] for id_, text in task.questions.items()}
        base.database.close()  # not the models: the next analysis uses them
    return traces, cost


def put_words(base: localrag.KnowledgeBase, variant: Variant) -> Row:
    """Exchange the words of all chunks; return what they take."""
    with base.database.atomic() as connection:
        rows = list(connection.execute("SELECT id, context, preamble, text FROM chunks"))
        started = process_time()
        words = [
            words_of(str(context), str(preamble), str(text), variant.analyse)
            for _, context, preamble, text in rows
        ]
        seconds = process_time() - started
        connection.execute("INSERT INTO chunk_words(chunk_words) VALUES('delete-all')")
        insert_words(connection, [int(str(row[0])) for row in rows], words)
    connection = base.database.connection
    connection.execute("INSERT INTO chunk_words(chunk_words) VALUES('optimize')")
    size = connection.execute(
        "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'chunk@_words@_%' ESCAPE '@'"
    ).get
    tokens = sum(len(text.split()) for pair in words for text in pair)
    return {
        "bytes/chunk": int(str(size)) / len(rows),
        "tokens/chunk": tokens / len(rows),
        "s/1000_chunks": 1000 * seconds / len(rows),
    }


def seconds_for(work: Callable[[str], object], texts: Iterable[str]) -> float:
    """Return the processor time of a text, in the mean."""
    times = []
    for text in texts:
        started = process_time()
        work(text)
        times.append(process_time() - started)
    return fmean(times)


def with_variant(stage: Stage, variant: Variant, vectors: Remembered) -> Stage:
    """Return a stage as it works for an analysis."""
    if isinstance(stage, Lexical):
        return replace(stage, analysis=variant.analyse_query)
    if isinstance(stage, Vector):
        return vectors
    # The other words of stage 1 are looked up as pairs, which not every analysis stores.
    return PassThrough() if isinstance(stage, Transform) else stage


def ranking(trace: Trace, stage: str) -> list[str]:
    """Return the chunks that a stage let through, best first."""
    [record] = [one for one in trace.stages if one.name == stage]
    return [str(one.chunk_id) for one in record.survivors]


def figure_of(measure: str, ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return one of the measures in `QUALITY` for one question."""
    name, _, k = measure.partition("@")
    return (ndcg if name == "ndcg" else hit)(ranked, grades, int(k))


def print_task(rows: Sequence[Row]) -> None:
    """Print what the analyses find, and what they cost."""
    print(f"{rows[0]['set']}, {rows[0]['questions']:,} questions\n")
    for name in LISTS:
        chosen = [row for row in rows if row["list"] == name]
        print_table(chosen, ("list", "analysis", *QUALITY, *GAIN))
        print()
    print_table([row for row in rows if row["list"] == "words"], ("analysis", *COST))
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
