"""Checks that the models give the same results on another processor.

    python benchmarks/cpu_check.py --data ../shared/data --cpu Haswell

A file that was built on one machine is queried on another. The models therefore run twice over a
sample of JaQuAD's development set: on this processor, and on one that QEMU emulates (Debian's
package qemu-user). The default, Haswell, has AVX2 but none of the newer instructions for products
of bytes (VNNI, AMX), and sums of such products overflow there when the weights use all eight bits.
Emulation is some hundred times slower, so that few passages are embedded on both. The questions,
which are short, also search all passages of the set as this processor embedded them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from report import print_table, progress
from retrieval import CACHE
from set_index import CachedEmbedder

from localrag.evaluate.datasets import read_set
from localrag.inference.load import load_embedder, load_reranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from report import Row

NEEDED_COSINE = 0.999
TOP = 10
PART = 256
"""Passages that are embedded between two looks at the progress."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the models read."""

    questions: list[str]
    passages: list[str]
    pairs: int
    """Questions that the cross-encoder reads with the first ten passages each."""


@dataclass(frozen=True, slots=True)
class Results:
    """What the models made of it on one processor."""

    questions: NDArray[np.float32]
    passages: NDArray[np.float32]
    logits: NDArray[np.float32]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the two processors; return 1 when they differ by more than is allowed."""
    options = parse(arguments)
    if options.worker:
        work(options.worker)
        return 0
    sample = read_sample(options.data, options.questions, options.passages, options.pairs)
    with TemporaryDirectory() as folder:
        progress("running on this processor")
        native = run_worker(Path(folder), sample, [])
        progress(f"running on an emulated {options.cpu}")
        emulated = run_worker(Path(folder), sample, [options.qemu, "-cpu", options.cpu])
    rows = compare(native, emulated)
    rows += compare_searches(native, emulated, embed_set(options.data, options.cache))
    print_table(rows, ("measure", "value", "needed"))
    return 0 if all(row["passed"] for row in rows) else 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cpu", default="Haswell", help="a model that QEMU knows")
    parser.add_argument("--qemu", default="qemu-x86_64", help="the emulator")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--passages", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=2, help="questions for the cross-encoder")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where vectors are kept")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def read_sample(data: Path, questions: int, passages: int, pairs: int) -> Sample:
    """Return some questions of JaQuAD dev and its shortest passages."""
    judged = read_set(data, "jaquad")
    texts = sorted((one.text for one in judged.passages), key=lambda text: (len(text), text))
    asked = [question.text for question in judged.sample(questions).questions]
    return Sample(asked, texts[:passages], pairs)


def run_worker(folder: Path, sample: Sample, emulator: list[str]) -> Results:
    """Run the models in a process of their own, below `emulator` where one is given."""
    work_file = folder / "sample.json"
    work_file.write_text(
        json.dumps([sample.questions, sample.passages, sample.pairs]), encoding="utf-8"
    )
    command = [*emulator, sys.executable, __file__, "--worker", str(work_file)]
    # QEMU warns, for every thread, of each feature that it does not emulate.
    finished = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own program
    if finished.returncode != 0:
        raise SystemExit(f"{command[0]} failed:\n{finished.stderr[-2000:]}")
    with np.load(work_file.with_suffix(".npz")) as stored:
        return Results(stored["questions"], stored["passages"], stored["logits"])


def work(path: Path) -> None:
    """Embed and score the sample at `path`; write the results beside it."""
    questions, passages, pairs = json.loads(path.read_text(encoding="utf-8"))
    embedder, reranker = load_embedder(threads=1), load_reranker(threads=1)
    vectors = [embedder.embed_query(question) for question in questions]
    embedded = np.concatenate([embedder.embed_passages([passage]) for passage in passages])
    logits = [reranker.logits(question, passages[:TOP]) for question in questions[:pairs]]
    np.savez(path.with_suffix(".npz"), questions=vectors, passages=embedded, logits=logits)


def compare(native: Results, emulated: Results) -> list[Row]:
    """Return what was compared, with what is needed."""
    cosines = np.concatenate(
        [
            (native.questions * emulated.questions).sum(axis=1),
            (native.passages * emulated.passages).sum(axis=1),
        ]
    )
    scores = native.questions @ native.passages.T
    here = top(scores)
    # A file that was built on one processor and is queried on the other, both ways.
    elsewhere = [
        top(native.questions @ emulated.passages.T),
        top(emulated.questions @ native.passages.T),
    ]
    pairs = [(row, ids, ranked[row]) for ranked in elsewhere for row, ids in enumerate(here)]
    same = [set(ids) == set(others) for _, ids, others in pairs]
    gaps = [float(scores[row, ids].min() - scores[row, others].min()) for row, ids, others in pairs]
    difference = np.abs(native.logits - emulated.logits).max()
    return [
        line("lowest cosine of one text", float(cosines.min()), NEEDED_COSINE),
        line("mean cosine", float(cosines.mean()), NEEDED_COSINE),
        line("share of questions with the same top 10", float(np.mean(same)), 1.0),
        # Where they differ, two passages that are as near as this have changed places.
        line("largest gap in cosine between those that differ", max(gaps)),
        line("largest difference of a logit", float(difference)),
    ]


def embed_set(data: Path, cache: Path) -> NDArray[np.float32]:
    """Return the vectors of all passages of JaQuAD dev, made or kept on this processor."""
    texts = [passage.text for passage in read_set(data, "jaquad").passages]
    embedder = CachedEmbedder(load_embedder(), cache)
    parts = []
    for start in range(0, len(texts), PART):
        progress(f"{start:,} of {len(texts):,} passages embedded here")
        parts.append(embedder.embed_passages(texts[start : start + PART]))
    return np.concatenate(parts)


def compare_searches(
    native: Results, emulated: Results, passages: NDArray[np.float32]
) -> list[Row]:
    """Return how far questions of both processors find the same among many passages."""
    here, there = (top(one.questions @ passages.T) for one in (native, emulated))
    shared = [len(set(one) & set(other)) / TOP for one, other in zip(here, there, strict=True)]
    among = f"among {len(passages):,} passages"
    return [
        line(f"{among}: share of the top 10 that is the same", float(np.mean(shared))),
        line(f"{among}: share of questions with the same ten", float(np.mean(np.equal(shared, 1)))),
        line(
            f"{among}: share of questions with the same first",
            float((here[:, 0] == there[:, 0]).mean()),
        ),
    ]


def top(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the ten nearest passages of every question, shape (questions, 10)."""
    order: NDArray[np.int64] = np.argsort(-scores, axis=1)
    return order[:, :TOP]


def line(measure: str, value: float, needed: float | None = None) -> Row:
    """Return one line of the result; cosines near 1 need more digits than tables give."""
    return {
        "measure": measure,
        "value": f"{value:.5f}",
        "needed": "" if needed is None else f"{needed:.3f}",
        "passed": needed is None or value >= needed,
    }


if __name__ == "__main__":
    sys.exit(main())
