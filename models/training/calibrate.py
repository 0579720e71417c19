"""Fits the calibration that turns the cross-encoder's logits into probabilities.

    python -m models.training.calibrate --data ../shared/data

Questions come from training splits, so that no reported score depends on them, and from articles
that the model was not trained on. Each question meets its own passage and nine that a search would
bring up: those of the same article or, where it is short, of the corpus, that share most words with
the question. One in ten is relevant, much as among the candidates that are reranked. Passages are
read whole and in windows, as the best of a search are. One half fits scale and bias, the other is
what the printed fit and the reliability plot are measured on. The result is written into the card.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from localrag.inference.load import load_embedder, load_reranker
from localrag.search.reading import OF_WHOLE
from models.training.mine import SEED as TRAINING_SEED
from models.training.platt import fit_platt, log_loss
from models.training.questions import SETS as TRAINED
from models.training.questions import read_training_set
from models.training.reliability import draw_reliability
from models.training.shapes import Shaper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

CARD = Path(__file__).resolve().parents[1] / "multilingual-e5-small" / "cross-encoder.json"
SETS = ("squad_en", "jaquad")
SEED = 20_260
NEGATIVES = 9
POOL = 400


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its relevant passage, and others that are not."""

    text: str
    passages: tuple[tuple[str, str], ...]
    """Title and text; the relevant one first."""


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Return the objects of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def bigrams(text: str) -> set[str]:
    """Return pairs of neighbouring characters: a measure of overlap that needs no words."""
    folded = text.casefold()
    return {folded[start : start + 2] for start in range(len(folded) - 1)}


def sample_questions(directory: Path, number: int) -> list[Question]:
    """Return `number` questions of the training split in `directory`, unseen in training."""
    parts = [name for name in TRAINED if directory.name in {name, TRAINED[name].folder}]
    seen_titles = {
        passage.title
        for name in parts
        for passage in read_training_set(directory.parent, name, TRAINING_SEED).passages.values()
    }
    generator = random.Random(SEED)  # noqa: S311 - it samples, it hides nothing
    corpus = {row["_id"]: row for row in read_rows(directory / "corpus.jsonl.gz")}
    texts = {row["_id"]: row["text"] for row in read_rows(directory / "queries.jsonl.gz")}
    with (directory / "qrels_train.tsv").open(encoding="utf-8") as stream:
        rows = [row[:2] for row in csv.reader(stream, delimiter="\t") if row[0] in texts]
    pairs = [row for row in rows if corpus[row[1]]["title"] not in seen_titles]
    train = sorted({passage for _, passage in pairs})
    chosen = generator.sample(pairs, number)
    return [
        _question(texts[query], corpus[passage], [corpus[id_] for id_ in train], generator)
        for query, passage in chosen
    ]


def _question(
    query: str, relevant: dict[str, str], train: list[dict[str, str]], generator: random.Random
) -> Question:
    article = [row for row in train if row["title"] == relevant["title"]]
    others = [row for row in [*article, *generator.sample(train, POOL)] if row is not relevant]
    wanted = bigrams(query)
    others.sort(key=lambda row: -len(wanted & bigrams(row["text"])))
    rows = [relevant, *others[:NEGATIVES]]
    return Question(query, tuple((row["title"], row["text"]) for row in rows))


def score(questions: list[Question]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return logits and labels (1 for the relevant passage), shape (pairs,) each."""
    reranker = load_reranker(CARD)
    shaper = Shaper(load_embedder().counter)
    logits = []
    for question in questions:
        looks = []
        for tokens in (None, reranker.window_tokens):
            windows = [shaper.windows(*one, tokens) for one in question.passages]
            texts = [one for of_passage in windows for one in of_passage]
            starts = [0, *np.cumsum([len(one) for one in windows])[:-1]]
            looks.append(np.maximum.reduceat(reranker.logits(question.text, texts), starts))
        logits.append(np.average(looks, axis=0, weights=(OF_WHOLE, 1 - OF_WHOLE)))
    labels = np.tile([1.0] + [0.0] * NEGATIVES, len(questions))
    return np.concatenate(logits).astype(np.float64), labels


def main() -> None:
    """Fit scale and bias, print how well they fit, and write them into the card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the data sets")
    parser.add_argument("--questions", type=int, default=200, help="from each set")
    parser.add_argument("--plot", type=Path, help="reliability diagram to draw, .svg")
    arguments = parser.parse_args()
    questions = [
        question
        for name in SETS
        for question in sample_questions(arguments.data / name, arguments.questions)
    ]
    random.Random(SEED).shuffle(questions)  # noqa: S311 - it samples, it hides nothing
    half = len(questions) // 2
    logits, labels = score(questions[:half])
    scale, bias = fit_platt(logits, labels)
    logits, labels = score(questions[half:])
    before, after = log_loss(logits, labels, 1, 0), log_loss(logits, labels, scale, bias)
    print(f"{scale=:.4f} {bias=:.4f}; log loss of {labels.size} others {before:.4f} -> {after:.4f}")
    if arguments.plot:
        probabilities = 1 / (1 + np.exp(-(scale * logits + bias)))
        error = draw_reliability(probabilities, labels, arguments.plot)
        print(f"expected calibration error {error:.4f}")
    _write(scale, bias, half * (NEGATIVES + 1))


def _write(scale: float, bias: float, pairs: int) -> None:
    card = json.loads(CARD.read_text(encoding="utf-8"))
    card["calibration"] = {
        "scale": round(scale, 4),
        "bias": round(bias, 4),
        "fitted_on": f"{pairs} pairs of training questions, {' and '.join(SETS)}, 1 in 10 relevant",
    }
    CARD.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
