"""Reads the training questions that were written for this project, with their documents.

A file of `written/` holds several documents, each followed by its questions::

    # Title of a document               @ src/cache.go
    lang: en                            package cache
    ## Heading                          ...
    Text of a section, in Markdown.     ? When is an entry dropped?
    ? What a reader wants to know       = if e.age > limit {
    = the words that answer

A question of prose stands after its section, those of a source file stand after its end. The line
below a question repeats, word for word, a part of the text that answers it; several may follow.
Documents are cut into chunks by the product, and a chunk that holds the answer is the relevant one:
its neighbours, which share its words, are the negatives that matter.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.formats.registry import read_document
from models.training.cuts import cut_blindly, cut_by_product
from models.training.questions import Passage, TrainingQuestion, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk

__all__ = ["WRITTEN_SETS", "WrittenDocument", "read_documents", "read_written"]

WRITTEN = Path(__file__).parent / "written"
PROSE, CODE, NAMED = WRITTEN_SETS = ("written", "written_code", "written_named")
OVERLAP_TOKENS = (0, 50)
BLIND = 0.5
"""Share of the source files that are not cut by the product."""

_SPACE = r"\s+"
_FENCE = re.compile(r"\s*(?:```|~~~)")


@dataclass(slots=True)
class Asked:
    """A question and the parts of its document that answer it."""

    text: str
    answers: list[str] = field(default_factory=list)


@dataclass(slots=True)
class WrittenDocument:
    """A document with its questions."""

    name: str
    """Its path: that of a source file, or one made from its place in the file it is written in."""
    lines: list[str] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return what is indexed."""
        return "\n".join(self.lines).strip() + "\n"


def read_documents(path: Path) -> list[WrittenDocument]:
    """Return the documents of one file, in order.

    Raises:
        ValueError: something stands before any document, or an answer before any question.
    """
    documents: list[WrittenDocument] = []
    code = fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fenced ^= not code and _FENCE.match(line) is not None
        mark = "" if fenced else line[:2]
        if mark == "@ ":
            code = True
            documents.append(WrittenDocument(line[2:].strip()))
        elif mark == "# " and not code:
            documents.append(WrittenDocument(f"{path.stem}-{len(documents)}.md", [line]))
        elif documents:
            try:
                _add(documents[-1], mark, line)
            except IndexError:
                raise ValueError(f"{path.name}, line {number}: no question before it.") from None
        elif line.strip():
            raise ValueError(f"{path.name}, line {number}: a document begins with # or @.")
    return documents


def _add(document: WrittenDocument, mark: str, line: str) -> None:
    if mark == "? ":
        document.questions.append(Asked(line[2:].strip()))
    elif mark == "= ":
        document.questions[-1].answers.append(line[2:].strip())
    elif not (line.startswith("lang: ") and len(document.lines) == 1):
        document.lines.append(line)


def read_written(
    name: str, seed: int, counter: TokenCounter, folder: Path = WRITTEN
) -> TrainingSet:
    """Return the questions of one of `WRITTEN_SETS` and all their chunks.

    Questions of one document stay together, so that those that are held out are of other documents
    than those that are trained on.
    """
    generator = random.Random(f"{seed} {name}")  # noqa: S311 - it samples, it hides nothing
    documents = [
        document
        for path in sorted(folder.glob("*.txt"))
        for document in read_documents(path)
        if set_of(path, document) == name
    ]
    generator.shuffle(documents)
    passages: dict[str, Passage] = {}
    questions: list[TrainingQuestion] = []
    for number, document in enumerate(documents):
        chunks = list(_chunks(document, counter, generator, blind=name != PROSE))
        own = {
            f"{name}{number}.{place}": Passage(f"{name}{number}.{place}", chunk.context, chunk.text)
            for place, chunk in enumerate(chunks)
        }
        passages |= own
        questions += _questions(document, own, f"{name}{number}", known=name == PROSE)
    return TrainingSet(name, passages, tuple(questions))


def set_of(path: Path, document: WrittenDocument) -> str:
    """Return the set of a document: prose, code, or code with questions that name identifiers."""
    if document.name.endswith(".md"):
        return PROSE
    return NAMED if path.stem.startswith("n") else CODE


def _chunks(
    document: WrittenDocument, counter: TokenCounter, generator: random.Random, *, blind: bool
) -> Sequence[Chunk]:
    read = read_document(document.text.encode(), document.name)
    if blind and generator.random() < BLIND:
        return cut_blindly(read, counter, generator)
    return cut_by_product(read, counter, OVERLAP_TOKENS, generator)


def _questions(
    document: WrittenDocument, passages: dict[str, Passage], prefix: str, *, known: bool
) -> Iterator[TrainingQuestion]:
    """Yield the questions of which the answer lies in one chunk, whole."""
    for place, asked in enumerate(document.questions):
        patterns = [re.compile(_SPACE.join(map(re.escape, one.split()))) for one in asked.answers]
        found = [
            (id_, match[0])
            for id_, passage in passages.items()
            for pattern in patterns
            if (match := pattern.search(passage.text))
        ]
        if found:
            relevant = tuple(dict.fromkeys(id_ for id_, _ in found))
            # A line of code is no answer in words: where it stands is all that counts.
            words = tuple(dict.fromkeys(answer for _, answer in found)) if known else ()
            yield TrainingQuestion(f"{prefix}q{place}", asked.text, relevant, words)
