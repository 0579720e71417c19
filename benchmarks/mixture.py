"""Passages for a base of any size: real ones first, then new ones of shuffled real sentences.

Sentences of evaluated passages are not shuffled: otherwise a made passage would say what a question
asks for as well as the one that is judged.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from localrag.evaluate.datasets import EvaluationPassage, read_set
from localrag.records import passage_text
from localrag.text.analysis import analyse
from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["EVALUATED", "Mixture", "Passage"]

EVALUATED = {"scifact": "test", "squad_en": "dev", "jaquad": "dev", "clapnq_dev": "dev"}
"""Sets whose questions are asked, with their split; their passages are real to the vector."""
SHUFFLED = {
    "squad_en": "train",
    "jaquad": "train",
    "medquad": "train",
    "fairytaleqa": "all",
    "nq_oracle": "all",
    "policyqa": "dev",
    "jsquad": "valid",
    "cmrc2018": "dev",
    "drcd": "dev",
}
"""Sets whose sentences are shuffled, after they stood in the base as they are."""
DISTRACTORS = "distractors_en/wiki_2wiki_6119.jsonl.gz"
LANGUAGES = {"jaquad": "ja", "jsquad": "ja", "cmrc2018": "zh", "drcd": "zh"}
LONGEST = {"en": 1_200, "ja": 500, "zh": 500}
"""Characters of a made passage at most; as many as a real one of its language has, below that."""
SOURCES = 3
"""Passages whose sentences a made one takes."""
DEVIATION = 0.49
"""Length of what tells an embedding from the mean of all: real ones have a mean cosine of .756."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk of the base."""

    uri: str
    title: str
    text: str
    language: str
    body: str
    """The analysed words of the text."""


@dataclass(slots=True)
class _Sentences:
    """The sentences of the shuffled passages of one language."""

    passages: list[EvaluationPassage] = field(default_factory=list)
    first: list[int] = field(default_factory=lambda: [0])
    """Where each passage's sentences begin."""
    texts: list[str] = field(default_factory=list)
    words: dict[int, str] = field(default_factory=dict)
    """Analysed at first use."""

    def add(self, passage: EvaluationPassage) -> None:
        """Take a passage apart."""
        self.passages.append(passage)
        self.texts += [passage.text[start:end] for start, end in sentence_spans(passage.text)]
        self.first.append(len(self.texts))

    def analysed(self, sentence: int) -> str:
        """Return the words of a sentence."""
        if sentence not in self.words:
            self.words[sentence] = " ".join(analyse(self.texts[sentence]))
        return self.words[sentence]


class Mixture:
    """Any number of passages with vectors; the same ones in every run.

    Args:
        data: the folder of evaluation sets.
        kept: returns the cached embedding of a text, or None.
    """

    def __init__(self, data: Path, kept: Callable[[str], Floats | None]) -> None:
        self.real: list[tuple[str, str, EvaluationPassage]] = []
        self.kept = kept
        self.sentences = {language: _Sentences() for language in LONGEST}
        for name, split in EVALUATED.items():
            self._read(name, read_set(data, name, split).passages)
        for name, split in SHUFFLED.items():
            self._read(name, read_set(data, name, split).passages, shuffled=True)
        self._read("distractors_en", _lines(data / DISTRACTORS), shuffled=True)
        self.sources = self._sources()
        sizes = [len(self.sentences[language].passages) for language in LONGEST]
        self.shares = np.cumsum(sizes) / sum(sizes)

    def _read(
        self, name: str, passages: Sequence[EvaluationPassage], *, shuffled: bool = False
    ) -> None:
        language = LANGUAGES.get(name, "en")
        for passage in passages:
            self.real.append((name, language, passage))
            if shuffled:
                self.sentences[language].add(passage)

    def _sources(self) -> dict[str, Floats]:
        """Return the cached embeddings by language, shape (n, dimensions)."""
        found: dict[str, list[Floats]] = {language: [] for language in LONGEST}
        for _, language, passage in self.real:
            vector = self.kept(passage_text(passage.title, "", passage.text))
            if vector is not None:
                found[language].append(vector)
        return {language: np.stack(vectors) for language, vectors in found.items()}

    def batch(self, first: int, size: int) -> tuple[list[Passage], Floats]:
        """Return passages number `first` and on, at most `size`, and their vectors."""
        random = np.random.default_rng(first)
        real = self.real[first : first + size]
        if real:
            passages = [_as_it_is(*one) for one in real]
            kept = [self.kept(passage_text(one.title, "", one.text)) for one in passages]
        else:
            passages = list(self._made(first, size, random))
            kept = [None] * size
        vectors = self._near_sources([one.language for one in passages], random)
        for row, vector in enumerate(kept):
            if vector is not None:
                vectors[row] = vector
        return passages, vectors

    def _made(self, first: int, size: int, random: np.random.Generator) -> Iterator[Passage]:
        for number in range(first, first + size):
            language = list(LONGEST)[int(np.searchsorted(self.shares, random.random()))]
            pool = self.sentences[language]
            chosen = random.integers(len(pool.passages), size=SOURCES)
            title = pool.passages[chosen[0]].title
            longest = min(len(pool.passages[chosen[-1]].text), LONGEST[language])
            own = [np.arange(pool.first[one], pool.first[one + 1]) for one in chosen]
            sentences: list[int] = []
            characters = 0
            for sentence in random.permutation(np.concatenate(own)).tolist():
                if sentences and characters >= longest:
                    break
                sentences.append(sentence)
                characters += len(pool.texts[sentence])
            space = " " if language == "en" else ""
            yield Passage(
                uri=f"made/{number}",
                title=title,
                text=space.join(pool.texts[one] for one in sentences),
                language=language,
                body=" ".join(pool.analysed(one) for one in sentences),
            )

    def _near_sources(self, languages: Sequence[str], random: np.random.Generator) -> Floats:
        """Return perturbed means of two cached embeddings of the language, of length one."""
        pairs = [
            self.sources[one][random.integers(len(self.sources[one]), size=2)] for one in languages
        ]
        means = np.stack(pairs).mean(axis=1)
        # The mean of two strays 1 / sqrt(2) as far from the centre: noise makes up for it.
        noise = random.standard_normal(means.shape, np.float32)
        means += noise * (DEVIATION / (2 * means.shape[1]) ** 0.5)
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)


def _as_it_is(name: str, language: str, passage: EvaluationPassage) -> Passage:
    body = " ".join(analyse(passage.text))
    return Passage(f"{name}/{passage.id}", passage.title, passage.text, language, body)


def _lines(path: Path) -> list[EvaluationPassage]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [EvaluationPassage(one["_id"], one["title"], one["text"]) for one in records]
