"""What a user of a large file waits for: opening, searching, filtering, changing; and its bytes."""

from __future__ import annotations

import time
from collections import defaultdict
from statistics import fmean, median
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from mixture import EVALUATED
from report import progress

import localrag
from localrag.config import make_settings
from localrag.evaluate.datasets import read_set
from localrag.evaluate.metrics import ndcg
from localrag.records import StageRecord
from localrag.search import term_choice
from localrag.search.retrieve import Lexical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from report import Row

    from localrag.evaluate.datasets import EvaluationSet
    from localrag.records import Candidate

__all__ = ["measure", "words_alone"]

GROUPS = {
    "vectors": ("chunk_vectors",),
    "words": ("chunk_words",),
    "copies": ("chunk_keys", "chunk_copies"),
}
"""Tables by what they hold, named by their beginnings; the rest is text and its bookkeeping."""
TRAINING = (("squad_en", "train"), ("jaquad", "train"))
"""On whose questions the limits of the lexical arm were chosen."""
EXHAUSTIVE: dict[str, Any] = {"MANY_ROWS": 10**12, "MOST_ROWS": 10**12, "FREQUENT_SHARE": 1.0}
SHIPPED: dict[str, Any] = {name: getattr(term_choice, name) for name in EXHAUSTIVE}
FILTERS = {"0.5 % of the chunks": 'uri like "scifact/%"', "a language": 'lang = "ja"'}


def measure(path: Path, data: Path, limit: int) -> Iterator[Row]:
    """Yield the figures of the file at `path`, with `limit` questions of each set."""
    sets = [read_set(data, name, split).sample(limit) for name, split in EVALUATED.items()]
    yield from sizes(path)
    started = time.perf_counter()
    base = localrag.open(path, settings=make_settings(keep_traces=False))
    yield row("opened", 1000 * (time.perf_counter() - started), "ms")
    base.embedder.embed_query("loads the model, which is not what is measured")
    question = sets[0].questions[0].text
    yield row("first query after opening", timed(base, question)[-1].milliseconds, "ms")
    started = time.perf_counter()
    base.search(question, rerank=False)
    base.vectors.wait()
    yield row("matrix made after", time.perf_counter() - started, "s")
    yield row("memory of the matrix", base.vectors.bytes / 1e6, "MB")
    for found in sets:
        yield from searched(base, found, "")
    for name, where in FILTERS.items():
        yield from searched(base, sets[0], f", {name}", where)
    yield from changed(base)
    base.close()


def row(measure: str, value: float, unit: str, least: float | None = None) -> Row:
    """Return one line of the result."""
    return {
        "measure": measure,
        "value": value,
        "least": "" if least is None else least,
        "unit": unit,
    }


def sizes(path: Path) -> Iterator[Row]:
    """Yield bytes per chunk by what they are for."""
    with localrag.open(path, read_only=True) as base:
        connection = base.database.connection
        chunks, text = connection.execute(
            "SELECT count(*), sum(length(CAST(text AS BLOB)) + length(CAST(context AS BLOB))) "
            "FROM chunks"
        ).get
        pages = {
            str(name): int(str(size))
            for name, size in connection.execute(
                "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
            )
        }
    yield row("chunks", int(chunks), "")
    yield row("file", path.stat().st_size / chunks, "bytes/chunk")
    yield row("of that text and contexts", text / chunks, "bytes/chunk")
    for group, beginnings in GROUPS.items():
        size = sum(size for name, size in pages.items() if name.startswith(beginnings))
        yield row(group, size / chunks, "bytes/chunk")


def timed(
    base: localrag.KnowledgeBase, question: str, where: str | None = None
) -> list[StageRecord]:
    """Return the stages of a hybrid search with their times, and one for all of them."""
    started = time.perf_counter()
    result = base.search(question, rerank=False, where=where)
    elapsed = (time.perf_counter() - started) * 1000
    stages = result.trace.stages
    return [*stages, StageRecord("all", elapsed, (), "")]


def searched(
    base: localrag.KnowledgeBase, found: EvaluationSet, label: str, where: str | None = None
) -> Iterator[Row]:
    """Yield median and least time of each stage of a hybrid search, the embedding included."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for question in found.questions:
        for stage in timed(base, question.text, where):
            times[stage.name].append(stage.milliseconds)
    for name in ("1b. filter", "2a. bm25", "2b. vector", "all"):
        if name in times:
            yield row(f"{found.name}{label}: {name}", median(times[name]), "ms", min(times[name]))


def changed(base: localrag.KnowledgeBase) -> Iterator[Row]:
    """Yield how long it takes to add a document, to find it, and to remove it."""
    started = time.perf_counter()
    base.add("# Zyzzyva\n\nThe zyzzyva vexes quokkas at dusk.", uri="memory:zyzzyva.md")
    yield row("a document added", 1000 * (time.perf_counter() - started), "ms")
    stages = timed(base, "what vexes quokkas?")
    if not base.search("what vexes quokkas?", rerank=False)[0].document.endswith("zyzzyva.md"):
        raise RuntimeError("The new document is not found.")
    plan = next(stage.note for stage in stages if stage.name == "2b. vector")
    yield row(f"searched next ({plan})", stages[-1].milliseconds, "ms")
    started = time.perf_counter()
    base.remove("memory:zyzzyva.md")
    yield row("removed", 1000 * (time.perf_counter() - started), "ms")
    yield row("searched next", timed(base, "what vexes quokkas?")[-1].milliseconds, "ms")


def words_alone(path: Path, data: Path, limit: int) -> Iterator[Row]:
    """Yield what the lexical arm takes and finds, beside the exhaustive OR of all terms."""
    base = localrag.open(path, settings=make_settings(keep_traces=False))
    for name, split in (*EVALUATED.items(), *TRAINING):
        yield from lost(base, read_set(data, name, split).sample(limit))
    base.close()


def lost(base: localrag.KnowledgeBase, found: EvaluationSet) -> Iterator[Row]:
    """Yield the same for one set; times are those of the processor."""
    stage = Lexical(base.database.connection, 50)
    figures: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for number, question in enumerate(found.questions):
        if number % 20 == 0:
            progress(f"{found.name}: {number} of {len(found.questions)} questions")
        grades = grades_of(base, found, question.id)
        for way, limits in (("pruned", SHIPPED), ("exhaustive", EXHAUSTIVE)):
            with patch.multiple(term_choice, **limits):
                started = time.thread_time()
                candidates = stage.search(question.text).candidates
                elapsed = (time.thread_time() - started) * 1000
            figures[way].append((elapsed, ndcg(ids_of(candidates), grades, 10)))
    for way, measured in figures.items():
        name = f"{found.name} {found.split}, lexical, {way}"
        times = [elapsed for elapsed, _ in measured]
        yield row(name, median(times), "ms of a core", min(times))
        yield row(name, fmean(value for _, value in measured), "nDCG@10")


def ids_of(candidates: Sequence[Candidate]) -> list[str]:
    """Return the chunks as names, best first."""
    return [str(one.chunk_id) for one in candidates]


def grades_of(base: localrag.KnowledgeBase, found: EvaluationSet, question: str) -> dict[str, int]:
    """Return the judgements of a question by chunk."""
    connection = base.database.connection
    sql = "SELECT c.id FROM chunks AS c JOIN documents AS d ON d.id = c.document_id WHERE d.uri = ?"
    judged = found.judgements[question]
    chunks = {id_: connection.execute(sql, (f"{found.name}/{id_}",)).get for id_ in judged}
    return {str(chunk): judged[id_] for id_, chunk in chunks.items() if chunk is not None}
