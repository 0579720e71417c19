"""Measures what the glossary gains where the user's abbreviation is not the document's.

    python benchmarks/glossary.py --data ../shared/data --set scifact medquad

Nothing here is chosen by hand. Where a question holds the abbreviation or the long form of a pair
that the set's own passages explain, that is exchanged for the other: first for the question with
all of its abbreviations written out, then with all of its terms abbreviated. Of several long forms
of one abbreviation the one that most passages explain is taken. The questions that can be exchanged
so are asked three times:

    as asked      the question as it stands in the set, glossary off
    off           exchanged, glossary off
    on            exchanged, glossary on

each by words alone, and by words and vectors fused, without the cross-encoder.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from report import parser_of, print_json, print_table, progress
from set_index import CachedEmbedder, open_set, passage_ids

from localrag.errors import LocalragError
from localrag.evaluate.datasets import read_set
from localrag.evaluate.metrics import summarise
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.expand import Expand
from localrag.search.glossary import glossary_alternatives
from localrag.search.pipeline import search_stages
from localrag.search.plan import Plan
from localrag.search.run import run_stages
from localrag.text.phrases import long_key, short_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationQuestion, EvaluationSet

CACHE = Path(__file__).parent / ".cache"
COLUMNS = ("set", "split", "exchanged", "questions", "mode", "glossary", "recall@5", "recall@20")
MORE_COLUMNS = ("mrr@10", "ndcg@10")
MODES: tuple[Literal["lexical", "hybrid"], ...] = ("lexical", "hybrid")
LONG_TO_SHORT = "long -> short"
SHORT_TO_LONG = "short -> long"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", default=["scifact"], metavar="NAME")
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
        return [
            row
            for direction in (LONG_TO_SHORT, SHORT_TO_LONG)
            for row in rows_of(base, found, direction)
        ]
    finally:
        base.database.close()  # not the models: the next set uses them


def rows_of(base: localrag.KnowledgeBase, found: EvaluationSet, direction: str) -> Iterator[Row]:
    """Yield the rows of one direction; none where no question can be exchanged."""
    exchanged = {
        question.id: text
        for question in found.questions
        if (text := exchange(base, question, direction)) is not None
    }
    asked = {question.id: question.text for question in found.questions if question.id in exchanged}
    for mode in MODES if exchanged else ():
        for label, texts, glossary in (
            ("as asked", asked, False),
            ("off", exchanged, False),
            ("on", exchanged, True),
        ):
            rankings = rank(base, texts, mode, glossary=glossary)
            judgements = {question: found.judgements[question] for question in texts}
            yield {
                "set": found.name,
                "split": found.split,
                "exchanged": direction,
                "questions": len(texts),
                "mode": mode,
                "glossary": label,
                **summarise(rankings, judgements),
            }


def exchange(
    base: localrag.KnowledgeBase, question: EvaluationQuestion, direction: str
) -> str | None:
    """Return the question with terms exchanged in one direction; None where it has none."""
    text = question.text
    connection = base.database.connection
    chosen: dict[str, str] = {}
    for alternative in glossary_alternatives(connection, text):
        written, other = short_key(alternative.word), alternative.text
        is_long_form = len(long_key(other)) > len(written)
        if is_long_form == (direction == SHORT_TO_LONG):
            chosen.setdefault(alternative.word, other)
    for word, other in chosen.items():
        text = text.replace(word, other)
    return text if text != question.text else None


def rank(
    base: localrag.KnowledgeBase,
    texts: dict[str, str],
    mode: Literal["lexical", "hybrid"],
    *,
    glossary: bool,
) -> dict[str, list[str]]:
    """Return the ranking of passages for every question."""
    settings = replace(base.settings, glossary=glossary, spelling=False)
    plan = Plan(mode=mode, rerank=False)
    stages = [
        stage
        for stage in search_stages(
            base.database.connection, base.embedder, base.reranker, settings, plan
        )
        if not isinstance(stage, Expand)
    ]
    passages = passage_ids(base)
    rankings = {}
    for number, (question, text) in enumerate(texts.items()):
        if number % 50 == 0:
            progress(f"{mode}: {number:,} of {len(texts):,} questions")
        state, _ = run_stages(stages, text)
        rankings[question] = [passages[one.chunk_id] for one in state.survivors]
    return rankings


if __name__ == "__main__":
    sys.exit(main())
