"""Reads the training splits: questions, the passages that answer them, and what may not be used.

Nothing that a reported score is measured on is read: of squad_en and jaquad only the questions and
passages of the training split, of scifact no abstract that a test claim is judged with, and no set
that exists for evaluation alone.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "HELD_OUT",
    "SETS",
    "Passage",
    "Source",
    "TrainingQuestion",
    "TrainingSet",
    "read_training_set",
]


HELD_OUT = 60
"""The first mined questions of each set: never trained on, so that choices can be made on them."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that may answer a question."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question with what is known about its answer."""

    id: str
    text: str
    relevant: tuple[str, ...]
    """Ids of the passages that answer it."""
    answers: tuple[str, ...] = ()
    """Strings one of which a passage must contain to answer it; empty where they are not known."""
    group: str = ""
    """Where not empty, only passages with this title are compared with it."""
    neutral: tuple[str, ...] = ()
    """Ids of passages that answer a part of it: neither relevant nor wrong."""


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Questions and the passages among which they are asked."""

    name: str
    passages: dict[str, Passage]
    questions: tuple[TrainingQuestion, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """How one set is used."""

    splits: tuple[str, ...]
    """Names of the files of judgements: ``train`` for ``qrels_train.tsv``, ``""`` for the only."""
    most_questions: int
    most_passages: int | None = None
    """Passages are taken article by article until there are so many."""
    passed_over: int = 0
    """Passages of the articles that another part of the same data has taken."""
    folder: str = ""
    """Where it lies; its own name where empty."""
    barred_splits: tuple[str, ...] = ()
    """Passages judged in these are not used at all."""
    within_title: bool = False
    """Whether a question only makes sense among the passages of one title."""
    by_meaning: bool = True
    """Whether the bi-encoder looks for negatives too: embedding takes most of the time."""


# policyqa is left out: of its questions' 14 nearest passages about half answer them as well as the
# ones that are marked, and three in four of those marked are not among the nearest 50.
SETS = {
    "squad_en": Source(("train",), 6000, 1800, barred_splits=("dev",)),
    "jaquad": Source(("train",), 6000, 1800, barred_splits=("dev",)),
    "squad_en_more": Source(("train",), 6000, 1800, 1800, "squad_en", barred_splits=("dev",)),
    "jaquad_more": Source(("train",), 6000, 1800, 1800, "jaquad", barred_splits=("dev",)),
    "squad_en_third": Source(("train",), 6000, 1800, 3600, "squad_en", barred_splits=("dev",)),
    "jaquad_third": Source(("train",), 6000, 1800, 3600, "jaquad", barred_splits=("dev",)),
    "scifact": Source(("train",), 809, barred_splits=("test",)),
    "nq_oracle": Source(("",), 2655),
    "medquad": Source(("",), 1200, 1000, by_meaning=False),
    "fairytaleqa": Source(("",), 1200, within_title=True),
    "cmrc2018": Source(("dev", "trial"), 900, 600, by_meaning=False),
    "drcd": Source(("dev", "test"), 1500),
    "jsquad": Source(("valid",), 1000),
}


def read_training_set(folder: Path, name: str, seed: int) -> TrainingSet:
    """Return a random part of the set `name` in `folder`, as large as `SETS` says."""
    source = SETS[name]
    home = folder / (source.folder or name)
    generator = random.Random(f"{seed} {home.name}")  # noqa: S311 - it samples, it hides nothing
    judged = _judgements(home, source.splits)
    barred = {
        passage
        for passages in _judgements(home, source.barred_splits).values()
        for passage in passages
    }
    passages = {
        row["_id"]: Passage(row["_id"], row.get("title", ""), row["text"])
        for row in _rows(home / "corpus.jsonl.gz")
        if row["_id"] not in barred
    }
    if source.most_passages is not None:
        judged_passages = {id_ for ids in judged.values() for id_ in ids}
        usable = {id_: passages[id_] for id_ in sorted(judged_passages & passages.keys())}
        passages = _whole_articles(usable, source.passed_over, source.most_passages, generator)
    questions = [
        _question(row, judged[row["_id"]], passages, within_title=source.within_title)
        for row in _rows(home / "queries.jsonl.gz")
        if row["_id"] in judged and judged[row["_id"]] & passages.keys()
    ]
    generator.shuffle(questions)
    return TrainingSet(name, passages, tuple(questions[: source.most_questions]))


def _question(
    row: dict[str, object], relevant: set[str], passages: dict[str, Passage], *, within_title: bool
) -> TrainingQuestion:
    metadata = row.get("metadata")
    facts = metadata if isinstance(metadata, dict) else {}
    answers = facts.get("answers") or [facts.get("answer")]
    known = tuple(sorted(relevant & passages.keys()))
    return TrainingQuestion(
        str(row["_id"]),
        str(row["text"]),
        known,
        tuple(str(answer) for answer in answers if answer),
        passages[known[0]].title if within_title else "",
    )


def _judgements(home: Path, splits: tuple[str, ...]) -> dict[str, set[str]]:
    judged: defaultdict[str, set[str]] = defaultdict(set)
    for split in splits:
        path = home / (f"qrels_{split}.tsv" if split else "qrels.tsv")
        with path.open(encoding="utf-8") as stream:
            for row in csv.reader(stream, delimiter="\t"):
                if row[2].isdigit() and int(row[2]) > 0:
                    judged[row[0]].add(row[1])
    return dict(judged)


def _whole_articles(
    passages: dict[str, Passage], passed_over: int, most: int, generator: random.Random
) -> dict[str, Passage]:
    articles: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages.values():
        articles[passage.title].append(passage)
    titles = sorted(articles)
    generator.shuffle(titles)
    before: set[str] = set()
    chosen: dict[str, Passage] = {}
    for title in titles:
        if len(before) < passed_over:
            before |= {passage.id for passage in articles[title]}
            continue
        if len(chosen) >= most:
            break
        chosen |= {passage.id: passage for passage in articles[title]}
    return chosen


def _rows(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)
