"""Measures whether what is given as an answer holds it, on sets that tell the answers.

    python benchmarks/answers.py --data ../shared/data --limit 200

Every question is asked of the passages of its set, by all six stages with the product's defaults.
answered is the share of questions for which something was found, first the share of all questions
whose first sentence holds one of the known answers, any the share in which one of the sentences
does, and passage the share in which one of the passages does that the sentences were taken from:
what is lost between the two is stage 6's. sentences is their mean number where there are any.

A short answer, such as a year, stands in sentences about other things, too: the shares are upper
bounds. What the cross-encoder read is kept in the cache, by the hash of its weights.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from cached_reranker import CachedReranker
from report import parser_of, print_json, print_table, progress
from retrieval import CACHE
from set_index import CachedEmbedder, open_set

from localrag.evaluate.answers import holds_answer
from localrag.evaluate.datasets import read_set
from localrag.inference.load import load_embedder, load_reranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationQuestion

SETS = ("squad_en", "jaquad")
FIGURES = ("answered", "first", "any", "passage")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", default=SETS, help="sets whose answers are known")
    parser.add_argument("--limit", type=int, default=200, help="questions of each set")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    options = parser.parse_args(arguments)
    sets = [
        read_set(options.data, name, None, "split").sample(options.limit) for name in options.set
    ]
    for found in sets:  # before any is measured: a refusal later would lose what came before
        if not any(one.answers for one in found.questions):
            parser.error(f"{found.name} does not tell the answers: name another set")
    embedder = CachedEmbedder(load_embedder(), options.cache)
    reranker = CachedReranker(load_reranker(), options.cache)
    rows = []
    for found in sets:
        base = open_set(found, options.cache, embedder, reranker, progress)
        asked = [one for one in found.questions if one.answers]
        rows.append(row_of(found.name, [outcome(base, one) for one in asked]))
        base.database.close()  # not the models: the next set uses them
    if options.json:
        print_json(rows)
    else:
        print_table(rows, list(rows[0]))
    return 0


def outcome(base: localrag.KnowledgeBase, question: EvaluationQuestion) -> dict[str, int]:
    """Return what one question adds to the counts."""
    progress(question.text[:70])
    answer = base.ask(question.text)
    right = [holds_answer(one.text, question.answers) for one in answer.citations]
    hits = base.search(question.text, limit=base.settings.answer_passages)
    passages = [holds_answer(one.text, question.answers) for one in hits]
    return {
        "answered": int(answer.found),
        "first": int(right[:1] == [True]),
        "any": int(any(right)),
        "passage": int(answer.found and any(passages)),
        "sentences": len(right),
    }


def row_of(name: str, outcomes: Sequence[dict[str, int]]) -> Row:
    """Return the figures of one set."""
    numbers = [one["sentences"] for one in outcomes if one["answered"]]
    return {
        "set": name,
        "questions": len(outcomes),
        **{figure: fmean(one[figure] for one in outcomes) for figure in FIGURES},
        "sentences": fmean(numbers) if numbers else 0.0,
    }


if __name__ == "__main__":
    sys.exit(main())
