"""Measures what a misspelled word costs, and how much of it the search for near words gives back.

    python benchmarks/spelling.py --data ../shared/data --set scifact squad_en

Into each question one typing error is put, always the same on every machine: of one of its words of
four letters or more that is no stop word, a letter is left out, doubled, exchanged for a neighbour
on the keyboard, or two neighbours change places. `changed` says what becomes of it:

    as asked      the question as it stands in the set
    off           with the error, spelling off
    on            with the error, spelling on

each by words alone, and by words and vectors fused, without the cross-encoder. `milliseconds` is
the median time of stage 1.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Literal

from report import parser_of, print_json, print_table, progress
from set_index import CachedEmbedder, open_set, passage_ids

from localrag.errors import LocalragError
from localrag.evaluate.datasets import read_set
from localrag.evaluate.metrics import summarise
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.expand import Expand
from localrag.search.pipeline import search_stages
from localrag.search.plan import Plan
from localrag.search.run import run_stages
from localrag.text.folding import normalise
from localrag.text.spelling import plain_words
from localrag.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationSet

CACHE = Path(__file__).parent / ".cache"
COLUMNS = ("set", "split", "questions", "mode", "changed", "recall@5", "mrr@10", "ndcg@10")
MORE_COLUMNS = ("milliseconds",)
MODES: tuple[Literal["lexical", "hybrid"], ...] = ("lexical", "hybrid")
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""Of the keyboard: neighbours in a row are hit for each other."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", default=["scifact", "squad_en"], metavar="NAME")
    parser.add_argument("--split", help="which questions; test, else dev, else valid by default")
    parser.add_argument("--limit", type=int, help="most questions of a set: a fixed random sample")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    embedder = CachedEmbedder(load_embedder(), options.cache)
    rows: list[Row] = []
    try:
        for name in options.set:
            found = read_set(options.data, name, options.split)
            found = found if options.limit is None else found.sample(options.limit)
            rows += measure(found, options.cache, embedder)
    except LocalragError as error:
        print(f"\nError: {error}", file=sys.stderr)
        return 1
    if options.json:
        print_json(rows)
    else:
        print_table(rows, (*COLUMNS, *MORE_COLUMNS))
    return 0


def measure(found: EvaluationSet, cache: Path, embedder: CachedEmbedder) -> list[Row]:
    """Return the rows of one set."""
    base = open_set(found, cache, embedder, load_reranker(), progress)
    try:
        return list(rows_of(base, found))
    finally:
        base.database.close()  # not the models: the next set uses them


def rows_of(base: localrag.KnowledgeBase, found: EvaluationSet) -> Iterator[Row]:
    """Yield a row for each mode and what was done to the questions."""
    asked = {question.id: question.text for question in found.questions}
    mistyped = {id_: with_error(text, seed=id_) for id_, text in asked.items()}
    changed = {id_: text for id_, text in mistyped.items() if text != asked[id_]}
    judgements = {id_: found.judgements[id_] for id_ in changed}
    for mode in MODES:
        for label, texts, spelling in (
            ("as asked", {id_: asked[id_] for id_ in changed}, False),
            ("off", changed, False),
            ("on", changed, True),
        ):
            rankings, milliseconds = rank(base, texts, mode, spelling=spelling)
            yield {
                "set": found.name,
                "split": found.split,
                "questions": len(texts),
                "mode": mode,
                "changed": label,
                **summarise(rankings, judgements),
                "milliseconds": milliseconds,
            }


def with_error(question: str, *, seed: str) -> str:
    """Return the question with one typing error; unchanged where no word can have one."""
    choice = random.Random(f"localrag {seed}")  # noqa: S311 - the same on every machine
    small = frozenset().union(*STOP_WORDS.values())
    words = [word for word in plain_words(normalise(question)) if word.lower() not in small]
    words = [word for word in words if word in question]
    if not words:
        return question
    word = choice.choice(words)
    # People seldom mistype the first letter.
    at = choice.randrange(1, len(word) - 1)
    return question.replace(word, mistyped(word, at, choice), 1)


def mistyped(word: str, at: int, choice: random.Random) -> str:
    """Return the word with an error at the letter `at`."""
    kind = choice.choice(("omit", "double", "neighbour", "exchange"))
    if kind == "omit":
        return word[:at] + word[at + 1 :]
    if kind == "double":
        return word[: at + 1] + word[at] + word[at + 1 :]
    if kind == "exchange" and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    row = next((row for row in ROWS if word[at] in row), "ae")
    place = row.find(word[at])
    return word[:at] + row[place - 1 if place else 1] + word[at + 1 :]


def rank(
    base: localrag.KnowledgeBase,
    texts: Mapping[str, str],
    mode: Literal["lexical", "hybrid"],
    *,
    spelling: bool,
) -> tuple[dict[str, list[str]], float]:
    """Return the ranking of passages for every question, and the median time of stage 1."""
    settings = replace(base.settings, glossary=False, spelling=spelling)
    stages = [
        stage
        for stage in search_stages(
            base.database.connection,
            base.embedder,
            base.reranker,
            settings,
            Plan(mode=mode, rerank=False),
        )
        if not isinstance(stage, Expand)
    ]
    passages = passage_ids(base)
    rankings = {}
    times = []
    for number, (question, text) in enumerate(texts.items()):
        if number % 50 == 0:
            progress(f"{mode}: {number:,} of {len(texts):,} questions")
        state, trace = run_stages(stages, text)
        rankings[question] = [passages[one.chunk_id] for one in state.survivors]
        times.append(trace.stages[0].milliseconds)
    return rankings, median(times)


if __name__ == "__main__":
    sys.exit(main())
