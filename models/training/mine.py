"""Finds hard negatives: what the product itself would bring up for a question and is wrong.

    python -m models.training.mine --data ../shared/data

Each set is indexed as the benchmarks do it. The candidates of a question are the fused list of
BM25 and the bi-encoder, so that words and meaning both mislead, and passages of the same article.
A passage that holds one of the known answers is no negative, nor is one that a split which is
reported on judges (see `questions`). Written is one file a set, below models/.work/mined.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.set_index import CachedEmbedder, open_set, passage_ids
from localrag.evaluate.answers import holds_answer
from localrag.evaluate.datasets import EvaluationPassage, EvaluationQuestion, EvaluationSet
from localrag.inference.fake import FakeEmbedder
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.fuse import Fuse
from localrag.search.retrieve import Lexical, Vector
from localrag.search.run import run_stages
from localrag.search.transform import PassThrough
from models.training.code_questions import read_code
from models.training.questions import SETS, read_training_set
from models.training.table_questions import read_tables
from models.training.written_questions import WRITTEN_SETS, read_written

if TYPE_CHECKING:
    from collections.abc import Iterable

    import localrag
    from localrag.inference.protocols import TokenCounter
    from models.training.questions import Passage, TrainingQuestion, TrainingSet

WORK = Path(__file__).resolve().parents[1] / ".work"
MINED = WORK / "mined"
SEED = 20_261
K = 50
KEPT = 14
"""Negatives kept of each question, hardest first."""
FROM_ARTICLE = 3
"""At least so many of them from the same article, where it has them."""
CODE_QUESTIONS = 5_000
TABLE_QUESTIONS = 1_500
MADE = ("code", "tables", *WRITTEN_SETS)
"""Sets that are made here: their titles are contexts, in which an underscore is part of a name."""
BY_MEANING = (*(name for name in SETS if SETS[name].by_meaning), "code", *WRITTEN_SETS)
"""Sets whose passages are embedded, so that meaning misleads too."""


def main() -> None:
    """Mine every set that has not been mined yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the data sets")
    parser.add_argument("--set", nargs="+", default=[*SETS, "code", "tables"])
    parser.add_argument("--cache", type=Path, default=WORK / "index")
    arguments = parser.parse_args()
    MINED.mkdir(parents=True, exist_ok=True)
    embedder = CachedEmbedder(load_embedder(), arguments.cache)
    for name in arguments.set:
        target = MINED / f"{name}.jsonl.gz"
        if target.exists():
            continue
        found = read_or_make(arguments.data, name, embedder.counter)
        by_meaning = name in BY_MEANING
        chosen = embedder if by_meaning else CachedEmbedder(FakeEmbedder(), arguments.cache)
        rows = mine(found, chosen, arguments.cache, by_meaning=by_meaning)
        partial = target.with_suffix(".partial")
        with gzip.open(partial, "wt", encoding="utf-8") as stream:
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        partial.rename(target)


def read_or_make(data: Path, name: str, counter: TokenCounter) -> TrainingSet:
    """Return one set, from the directory of the data or made here."""
    if name == "code":
        return read_code(SEED, CODE_QUESTIONS, counter)
    if name == "tables":
        return read_tables(SEED, TABLE_QUESTIONS)
    if name in WRITTEN_SETS:
        return read_written(name, SEED, counter)
    return read_training_set(data, name, SEED)


def mine(
    found: TrainingSet, embedder: CachedEmbedder, cache: Path, *, by_meaning: bool
) -> Iterable[dict[str, object]]:
    """Yield one row per question: its text, a relevant passage for each, and negatives."""
    progress = _Progress(found.name)
    base = open_set(as_evaluation(found), cache, embedder, load_reranker(), progress)
    names = passage_ids(base)
    articles: defaultdict[str, list[str]] = defaultdict(list)
    for passage in found.passages.values():
        articles[passage.title].append(passage.id)
    shown = found.passages if found.name in MADE else with_blanks(found.passages)
    for number, question in enumerate(found.questions):
        if number % 500 == 0:
            progress(f"{number:,} of {len(found.questions):,} questions")
        ranked = retrieve(base, names, question.text, by_meaning=by_meaning)
        yield row_of(question, shown, ranked, articles)
    base.database.close()


def read_mined(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one mined set that have negatives; the first ones are held out."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [row for row in rows if row["negatives"]]


def with_blanks(passages: dict[str, Passage]) -> dict[str, Passage]:
    """Return passages with the titles of articles as a reader writes them, not as file names."""
    return {
        id_: replace(passage, title=passage.title.replace("_", " "))
        for id_, passage in passages.items()
    }


def as_evaluation(found: TrainingSet) -> EvaluationSet:
    """Return a training set in the form in which the benchmarks index one."""
    return EvaluationSet(
        f"training-{found.name}",
        "train",
        tuple(EvaluationPassage(one.id, one.title, one.text) for one in found.passages.values()),
        tuple(EvaluationQuestion(one.id, one.text) for one in found.questions),
        {question.id: dict.fromkeys(question.relevant, 1) for question in found.questions},
    )


class _Progress:
    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, message: str) -> None:
        print(f"{self.name}: {message}", file=sys.stderr, flush=True)


def retrieve(
    base: localrag.KnowledgeBase, names: dict[int, str], text: str, *, by_meaning: bool
) -> list[str]:
    """Return passages in the order of the fused list, or of BM25 alone."""
    connection = base.database.connection
    vector = (Vector(connection, base.embedder, K),) if by_meaning else ()
    stages = (PassThrough(), Lexical(connection, K), *vector, Fuse())
    state, _ = run_stages(stages, text)
    return [names[one.chunk_id] for one in state.survivors]


def row_of(
    question: TrainingQuestion,
    passages: dict[str, Passage],
    ranked: list[str],
    articles: dict[str, list[str]],
) -> dict[str, object]:
    """Return a question as it is written."""
    relevant = set(question.relevant)
    generator = random.Random(question.id)  # noqa: S311 - it samples, it hides nothing
    own = {passages[id_].title for id_ in relevant}
    same = [id_ for title in sorted(own) for id_ in articles[title]]
    generator.shuffle(same)

    def wrong(ids: Iterable[str]) -> list[str]:
        return [
            id_
            for id_ in ids
            if id_ not in relevant
            and id_ not in question.neutral
            and (not question.group or passages[id_].title == question.group)
            and not holds_answer(passages[id_].text, question.answers)
        ]

    hard = wrong(ranked)[:KEPT]
    siblings = [id_ for id_ in wrong(same) if id_ not in hard]
    missing = FROM_ARTICLE - sum(passages[id_].title in own for id_ in hard)
    hard = [*hard[: KEPT - max(missing, 0)], *siblings[: max(missing, 0)]]
    return {
        "id": question.id,
        "text": question.text,
        "answers": question.answers,
        "relevant": [[passages[id_].title, passages[id_].text] for id_ in sorted(relevant)],
        "rank": next((rank for rank, id_ in enumerate(ranked, 1) if id_ in relevant), None),
        "negatives": [[passages[id_].title, passages[id_].text] for id_ in hard],
    }


if __name__ == "__main__":
    main()
