"""Reads judged questions from a folder in the form of the BEIR benchmark.

::

    corpus.jsonl    {"_id": ..., "title": ..., "text": ...}       one passage a line
    queries.jsonl   {"_id": ..., "text": ..., "metadata": ...}    one question a line
    qrels.tsv       query-id, corpus-id, score                    header line optional

Each file may be compressed (``.jsonl.gz``). A set with several splits has ``qrels_dev.tsv``,
``qrels_test.tsv`` and so on, or, as BEIR publishes them, ``qrels/dev.tsv``. Where passages
are parts of files, ``documents.jsonl`` may hold the files; ``metadata.doc`` names that of a
passage. Format: Thakur et al., "BEIR: a heterogeneous benchmark for zero-shot evaluation of
information retrieval models", 2021.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from localrag.errors import ReadError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = [
    "EvaluationPassage",
    "EvaluationQuestion",
    "EvaluationSet",
    "PassageChoice",
    "find_sets",
    "read_set",
]

PassageChoice = Literal["split", "all"]
"""Which passages are ranked: those that belong to the split, or the whole corpus."""

EVALUATION_SPLITS = ("test", "dev", "valid", "validation")
"""Splits taken when none is named, in this order."""

SampleGrades = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class EvaluationPassage:
    """A passage to rank."""

    id: str
    title: str
    text: str
    document: str = ""
    """Id of the file that it is a part of; empty where the file is not known."""
    start: int = 0
    """First character of it in the file."""

    @property
    def end(self) -> int:
        """One past its last character in the file."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class EvaluationQuestion:
    """A question with at least one relevant passage."""

    id: str
    text: str
    answers: tuple[str, ...] = ()
    """Strings that answer it, as far as the set tells (``metadata.answers``)."""


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """The questions of one split, what they are asked of, and which passages answer them."""

    name: str
    """The folder, relative to the folder of all sets: ``xquad/en``."""
    split: str
    passages: tuple[EvaluationPassage, ...]
    questions: tuple[EvaluationQuestion, ...]
    judgements: Mapping[str, Mapping[str, int]]
    """Question id to passage id to grade, for exactly the questions above."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """The files that the passages are parts of, where the set has them."""

    def sample(self, limit: int) -> EvaluationSet:
        """Return the set with at most `limit` of its questions, and all of its passages.

        The choice looks random but depends on the questions' ids alone: it is the same for every
        order of the file and on every machine, and a smaller sample is a part of a larger one.
        """
        chosen = tuple(sorted(self.questions, key=lottery_number)[:limit])
        judgements = {question.id: self.judgements[question.id] for question in chosen}
        return replace(self, questions=chosen, judgements=judgements)


def lottery_number(question: EvaluationQuestion) -> str:
    """Return a string whose order has nothing to do with that of the ids."""
    return hashlib.sha256(f"localrag {question.id}".encode()).hexdigest()


def find_sets(folder: Path) -> list[str]:
    """Return the names of all sets in `folder`, at any depth, sorted."""
    corpora = (path for path in folder.rglob("corpus.jsonl*") if find_splits(path.parent))
    return sorted({path.parent.relative_to(folder).as_posix() for path in corpora})


def read_set(
    folder: Path, name: str, split: str | None = None, passages: PassageChoice = "split"
) -> EvaluationSet:
    """Read one set.

    Args:
        folder: holds all sets.
        name: the set's folder below it; ``"."`` where `folder` is itself a set.
        split: which questions; by default test, else dev, else valid, else the only split there
            is. Questions for training are only read when they are named.
        passages: ``"all"`` ranks the whole corpus. ``"split"`` leaves out the passages that only
            other splits judge, provided that no passage is judged in two splits: then the corpus
            is several corpora in one file (JaQuAD, SQuAD), and published figures rank one of them.
            Where splits share passages (SciFact) the corpus is one, and all of it is ranked.

    Raises:
        SettingsError: the set, or its split, does not exist.
        ReadError: a line of a file cannot be understood.
    """
    if passages not in get_args(PassageChoice):
        raise SettingsError(f"passages is {passages!r}; choose one of {get_args(PassageChoice)}.")
    home = folder / name
    splits = find_splits(home)
    chosen = choose_split(home, splits, split)
    judged = {one: read_judgements(path) for one, path in splits.items()}
    foreign = passages_of_other_splits(judged, chosen) if passages == "split" else set()
    documents = read_documents(home)
    found = tuple(one for one in read_passages(home, documents) if one.id not in foreign)
    questions = tuple(q for q in read_questions(home) if q.id in judged[chosen])
    return EvaluationSet(
        name=home.name if name == "." else name,
        split=chosen,
        passages=found,
        questions=questions,
        judgements={question.id: judged[chosen][question.id] for question in questions},
        documents=documents,
    )


def find_splits(home: Path) -> dict[str, Path]:
    """Return the judgement file of each split."""
    found = {path.stem.removeprefix("qrels_"): path for path in sorted(home.glob("qrels_*.tsv"))}
    found |= {path.stem: path for path in sorted(home.glob("qrels/*.tsv"))}
    if not found and (home / "qrels.tsv").is_file():
        found[name_of_only_split(home)] = home / "qrels.tsv"
    return found


def name_of_only_split(home: Path) -> str:
    """Return what META.json calls the split of a plain ``qrels.tsv``, or ``"all"``."""
    description = home / "META.json"
    if not description.is_file():
        return "all"
    names = list(json.loads(description.read_text(encoding="utf-8")).get("splits", {}))
    return str(names[0]) if len(names) == 1 else "all"


def choose_split(home: Path, splits: Mapping[str, Path], wanted: str | None) -> str:
    """Return `wanted`, or the split to evaluate on.

    Raises:
        SettingsError: there is no such split, or none that was not made for training.
    """
    if not splits:
        raise SettingsError(f"{home} holds no judgements; name a folder with a qrels.tsv.")
    if wanted is not None:
        if wanted not in splits:
            raise SettingsError(f"{home} has no split {wanted!r}; choose one of {sorted(splits)}.")
        return wanted
    known = [split for split in EVALUATION_SPLITS if split in splits]
    others = [split for split in splits if split != "train"]
    if known or len(others) == 1:
        return (known or others)[0]
    raise SettingsError(f"{home} has no split made for evaluation; name one of {sorted(splits)}.")


def passages_of_other_splits(judged: Mapping[str, SampleGrades], chosen: str) -> set[str]:
    """Return the passages to leave out, none where two splits judge the same passage."""
    seen: set[str] = set()
    for grades in judged.values():
        here = {passage for passages in grades.values() for passage in passages}
        if seen & here:
            return set()
        seen |= here
    return seen - {passage for passages in judged[chosen].values() for passage in passages}


def read_judgements(path: Path) -> SampleGrades:
    """Return question id to passage id to grade, for questions with a relevant passage."""
    grades: SampleGrades = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fields = line.split("\t")
        if not line.strip() or (number == 1 and fields[-1] == "score"):
            continue
        try:
            question, passage, grade = fields
            grades.setdefault(question, {})[passage] = int(grade)
        except ValueError as error:
            raise ReadError("unreadable", f"{path}, line {number}: {error}") from error
    return {question: found for question, found in grades.items() if max(found.values()) > 0}


def read_documents(home: Path) -> dict[str, str]:
    """Return the whole files of a set by id; none where it has only passages."""
    if not any(home.glob("documents.jsonl*")):
        return {}
    return {str(one["_id"]): one["text"] for one in read_records(home, "documents.jsonl")}


def read_passages(home: Path, documents: Mapping[str, str]) -> Iterator[EvaluationPassage]:
    """Yield the corpus in the order of the file.

    The passages of a document follow each other without a gap, in the order of the file.

    Raises:
        ReadError: a passage does not stand in its document where the one before it ends.
    """
    ends: dict[str, int] = {}
    for record in read_records(home, "corpus.jsonl"):
        id_, title, text = str(record["_id"]), record.get("title") or "", record["text"]
        document = record.get("metadata", {}).get("doc", "") if documents else ""
        start = ends.get(document, 0)
        if documents and not documents.get(document, "").startswith(text, start):
            raise ReadError("unreadable", f"{home}: {id_} is not at {start} of {document}")
        ends[document] = start + len(text)
        yield EvaluationPassage(id_, title, text, document, start if documents else 0)


def read_questions(home: Path) -> Iterator[EvaluationQuestion]:
    """Yield the questions of all splits in the order of the file."""
    for record in read_records(home, "queries.jsonl"):
        metadata = record.get("metadata")
        answers = metadata.get("answers") if isinstance(metadata, dict) else None
        known = tuple(map(str, answers)) if isinstance(answers, list) else ()
        yield EvaluationQuestion(str(record["_id"]), record["text"], known)


def read_records(home: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines, compressed or not."""
    path = home / name if (home / name).is_file() else home / f"{name}.gz"
    if not path.is_file():
        raise SettingsError(f"{home} has no {name}; name a folder in the form of BEIR.")
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield record_of(json.loads(line))
            except ValueError as error:
                raise ReadError("unreadable", f"{path}, line {number}: {error}") from error


def record_of(value: object) -> dict[str, Any]:
    """Return `value` if it is an object with the two fields that all records have.

    Raises:
        ValueError: it is not.
    """
    if not isinstance(value, dict) or "_id" not in value or not isinstance(value.get("text"), str):
        raise ValueError("expected an object with _id and text")
    return value
