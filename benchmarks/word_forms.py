"""What the index of words takes in each form that FTS5 offers, and what each costs in nDCG@10.

    python benchmarks/word_forms.py --data ../shared/data --set scifact jaquad --limit 1000

An index without content and without positions tells FTS5 only in which chunks a word is
(`detail=none`), or in which column of them (`detail=column`). It takes no phrase, so that other
words of the glossary and of spelling are not looked for, and every score is 0: these forms are
scored here, by FTS5's formula. Forms with levels hold a token more for each word that a chunk has
twice, four times, ..., which tell how often it occurs.

Bytes are those of 8,000 passages in English and Japanese, optimised; figures of a set are those of
the product's lists, by words and fused, and processor milliseconds of a search by words.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from unittest.mock import patch

import apsw
from report import print_table, progress
from retrieval import CACHE, ranking_stages
from set_index import CachedEmbedder, open_set, passage_ids
from word_tables import FORMS, fill, search_of

from localrag.evaluate.datasets import read_set
from localrag.evaluate.metrics import summarise
from localrag.inference.load import load_embedder, load_reranker
from localrag.ingest.prepare import words_of
from localrag.records import SearchState
from localrag.search import retrieve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from report import Row
    from word_tables import Chunks, Form, Search

    from localrag.evaluate.datasets import EvaluationQuestion, EvaluationSet
    from localrag.inference.protocols import FloatArray
    from localrag.records import Allowed, Candidate, Stage

SIZED = (("squad_en", "dev"), ("jaquad", "dev"), ("clapnq_dev", "dev"), ("squad_en", "train"))
PASSAGES = 8_000


def bytes_per_chunk(form: Form, chunks: Chunks) -> float:
    """Return the size of the index of words once it is optimised."""
    connection = apsw.Connection(":memory:")
    fill(connection, "main", form, chunks)
    connection.execute(f"INSERT INTO {form.table}({form.table}) VALUES('optimize'); VACUUM")
    sql = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'form!_%' ESCAPE '!'"
    return int(connection.execute(sql).get) / len(chunks)


def sized_chunks(data: Path) -> Chunks:
    """Return the passages whose bytes are counted."""
    passages = [one for name, split in SIZED for one in read_set(data, name, split).passages]
    return {
        number: words_of(one.title, "", one.text)
        for number, one in enumerate(passages[:PASSAGES], start=1)
    }


class KeptQueries(CachedEmbedder):
    """Questions are embedded once, since every form is asked the same ones."""

    def __init__(self, cache: Path) -> None:
        super().__init__(load_embedder(), cache)
        self.queries: dict[str, FloatArray] = {}

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector, shape (dimensions,)."""
        if text not in self.queries:
            self.queries[text] = super().embed_query(text)
        return self.queries[text]


def measure(found: EvaluationSet, embedder: KeptQueries, cache: Path) -> Iterator[Row]:
    """Yield what each form finds of one set."""
    base = open_set(found, cache, embedder, load_reranker(), progress)
    connection = base.database.connection
    passages = passage_ids(base)
    sql = "SELECT id, context, preamble, text FROM chunks ORDER BY id"
    chunks = {
        int(id_): words_of(str(context), str(preamble), str(text))
        for id_, context, preamble, text in connection.execute(sql)
    }
    for form in FORMS:
        fill(connection, "temp", form, chunks)
    searches = {form.name: search_of(form, chunks) for form in FORMS}
    lists = Lists()
    for number, question in enumerate(found.questions):
        if number % 50 == 0:
            progress(f"{found.name}: {number:,} of {len(found.questions):,} questions")
        lists.add(ranking_stages(base, rerank=False), question, searches, passages)
    for form in FORMS:
        yield {
            "set": found.name,
            "form": form.name,
            "questions": len(found.questions),
            "lexical": summarise(lists.lexical[form.name], found.judgements)["ndcg@10"],
            "fused": summarise(lists.fused[form.name], found.judgements)["ndcg@10"],
            "ms": 1000 * median(lists.times[form.name]),
        }
    base.database.close()


class Lists:
    """What was found for each question, by the name of the form."""

    def __init__(self) -> None:
        self.lexical: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        self.fused: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        self.times: defaultdict[str, list[float]] = defaultdict(list)

    def add(
        self,
        stages: Sequence[Stage],
        question: EvaluationQuestion,
        searches: dict[str, Search],
        passages: dict[int, str],
    ) -> None:
        """Ask one question: the stages of words and of fusion once per form, the others once."""
        numbers = [stage.name[:2] for stage in stages]
        words, meaning = numbers.index("2a"), numbers.index("2b")
        asked = SearchState(query=question.text, queries=(question.text,))
        for stage in stages[:words]:
            asked = stage(asked)
        nearest = stages[meaning](asked).lists
        for form in FORMS:
            search = timed(searches[form.name], self.times[form.name])
            with ExitStack() as replaced:
                replaced.enter_context(patch.object(retrieve, "search_words", search))
                if not form.with_positions:
                    without = patch.object(retrieve, "instead_expression", return_value="")
                    replaced.enter_context(without)
                state = stages[words](asked)
            self.lexical[form.name][question.id] = named(state, passages)
            state = replace(state, lists=(*state.lists, *nearest))
            for stage in stages[meaning + 1 :]:
                state = stage(state)
            self.fused[form.name][question.id] = named(state, passages)


def named(state: SearchState, passages: dict[int, str]) -> list[str]:
    """Return the passages that a stage let through, best first."""
    return [passages[one.chunk_id] for one in state.survivors]


def timed(search: Search, times: list[float]) -> Search:
    """Return a search that notes its seconds of processor time."""

    def measured(
        connection: apsw.Connection, expression: str, k: int, allowed: Allowed | None
    ) -> tuple[Candidate, ...]:
        started = time.thread_time()
        found = search(connection, expression, k, allowed)
        times.append(time.thread_time() - started)
        return found

    return measured


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every form; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME", help="sets to measure")
    parser.add_argument("--limit", type=int, default=1_000, help="questions of each set")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    options = parser.parse_args(arguments)
    chunks = sized_chunks(options.data)
    sizes: list[Row] = [
        {"form": form.name, "bytes": bytes_per_chunk(form, chunks)} for form in FORMS
    ]
    print_table(sizes, ("form", "bytes"))
    embedder = KeptQueries(options.cache)
    for name in options.set:
        found = read_set(options.data, name).sample(options.limit)
        rows = list(measure(found, embedder, options.cache))
        print()
        print_table(rows, ("set", "form", "questions", "lexical", "fused", "ms"))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
