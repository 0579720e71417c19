"""Compares the models that ship with the plain way to run the same weights.

    python benchmarks/inference.py --checkpoint cross-encoder.safetensors --data ../shared/data

The plain way is what fastembed does: the weights in float32 in ONNX Runtime with its default
options, batches of 32 in the order of the texts, each padded to its longest. Both ways run in turn,
several times, on the same texts and with the same tokens, and the least time of each counts; other
programs on the machine disturb the ratio little. Needs the dependency group "models".
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnxruntime
from report import print_table, progress

from localrag.evaluate.datasets import read_set
from localrag.inference.batching import pad
from localrag.inference.load import load_embedder, load_reranker

sys.path.append(str(Path(__file__).parents[1]))

from models.export.family import write_family
from models.export.names import BI_ENCODER, CROSS_ENCODER
from models.export.source import default_path, read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from report import Row

PLAIN_BATCH = 32
CANDIDATES = 30


class Times(NamedTuple):
    """The least times of one way."""

    wall: float
    processor: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = parse(arguments)
    judged = read_set(options.data, options.set)
    passages = [passage.text for passage in judged.passages[: options.passages]]
    question = judged.questions[0].text
    with TemporaryDirectory() as folder:
        progress("exporting the weights in float32")
        source = read_source(default_path())
        write_family(source, options.checkpoint, Path(folder), "fp32", "fp32")
        rows = [
            *measure_indexing(Path(folder), passages, options),
            *measure_reranking(Path(folder), question, passages[:CANDIDATES], options),
        ]
    print_table(rows, ("measure", "plain", "localrag", "ratio"))
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True, help="cross-encoder, safetensors")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--set", default="squad_en")
    parser.add_argument("--passages", type=int, default=96)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--threads",
        type=int,
        help="for both ways; with 1, processor time can be trusted on a busy machine, where the "
        "runtime's waiting threads are counted as well",
    )
    return parser.parse_args(arguments)


def measure_indexing(folder: Path, passages: list[str], options: argparse.Namespace) -> list[Row]:
    """Return tokens a second while passages are embedded, tokenising left out on both sides."""
    embedder = load_embedder(threads=options.threads)
    inputs = embedder._tokenizer.encode_batch([f"passage: {text}" for text in passages])  # noqa: SLF001 - both ways start from tokens
    session = plain_session(folder / BI_ENCODER, options.threads)
    plain, own = alternate(
        lambda: run_plainly(session, inputs),
        lambda: embedder.embed_passages(passages),
        options.runs,
    )
    tokens = sum(map(len, inputs))
    return [
        ratio("indexing, tokens/s", tokens / plain.wall, tokens / own.wall),
        ratio("indexing, tokens per processor second", tokens / plain[1], tokens / own[1]),
    ]


def measure_reranking(
    folder: Path, question: str, passages: list[str], options: argparse.Namespace
) -> list[Row]:
    """Return questions a second while thirty passages are read for each."""
    reranker = load_reranker(threads=options.threads)
    inputs = reranker._tokenizer.encode_pairs(question, passages)  # noqa: SLF001 - as above
    session = plain_session(folder / CROSS_ENCODER, options.threads)
    plain, own = alternate(
        lambda: run_plainly(session, inputs),
        lambda: reranker.logits(question, passages),
        options.runs,
    )
    length = np.mean([len(tokens) for tokens in inputs])
    what = f"{len(passages)} pairs of {length:.0f} tokens"
    return [
        ratio(f"reranking {what}, 1/s", 1 / plain.wall, 1 / own.wall),
        ratio("the same, per processor second", 1 / plain.processor, 1 / own.processor),
    ]


def plain_session(path: Path, threads: int | None) -> onnxruntime.InferenceSession:
    """Return a session with default options but for the number of threads."""
    session_options = onnxruntime.SessionOptions()
    if threads is not None:
        session_options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), session_options)


def run_plainly(session: onnxruntime.InferenceSession, inputs: list[list[int]]) -> None:
    """Run batches of 32 in the given order."""
    for start in range(0, len(inputs), PLAIN_BATCH):
        ids, mask = pad(inputs[start : start + PLAIN_BATCH])
        session.run(None, {"input_ids": ids, "attention_mask": mask})


def alternate(
    plain: Callable[[], object], own: Callable[[], object], runs: int
) -> tuple[Times, Times]:
    """Run both in turn; return the least times of each. A first round warms up."""
    times: dict[str, list[Times]] = {"plain": [], "own": []}
    for number in range(runs + 1):
        progress(f"round {number} of {runs}")
        times["plain"].append(timed(plain))
        times["own"].append(timed(own))
    return least(times["plain"][1:]), least(times["own"][1:])


def timed(action: Callable[[], object]) -> Times:
    """Return the seconds of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return Times(time.perf_counter() - wall, time.process_time() - processor)


def least(times: list[Times]) -> Times:
    """Return the least wall time and the least processor time."""
    return Times(min(one.wall for one in times), min(one.processor for one in times))


def ratio(measure: str, plain: float, own: float) -> Row:
    """Return one line of the result."""
    return {"measure": measure, "plain": plain, "localrag": own, "ratio": own / plain}


if __name__ == "__main__":
    sys.exit(main())
