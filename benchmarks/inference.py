"""Compares the models that ship with other ways to run the same weights.

    python benchmarks/inference.py --data ../shared/data

The plain way is the weights in float32 in ONNX Runtime with its default options, batches of 32 in
the order of the texts, each padded to its longest. The libraries of benchmarks/model_peers.py,
where they are installed, run in float32 as their users run them. All ways run in turn, several
times, on the same texts, and the least time of each counts; other programs on the machine disturb
the ratio little. `ratio` is localrag's figure by that way's. Needs the dependency group "models".
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
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

from model_peers import open_peers

from models.export.checkpoints import Checkpoints
from models.export.family import write_family
from models.export.names import BI_ENCODER, CROSS_ENCODER
from models.export.source import default_path, read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from model_peers import Peer
    from report import Row

PLAIN_BATCH = 32
CANDIDATES = 30
OWN = "localrag"


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
        checkpoints = Checkpoints.from_options(options)
        write_family(source, checkpoints, Path(folder), "fp32", "fp32")
        peers, missing = open_peers(source, checkpoints, Path(folder), options.threads)
        rows = [
            *measure_indexing(Path(folder), passages, peers, options),
            *measure_reranking(Path(folder), question, passages[:CANDIDATES], peers, options),
        ]
    print_table(rows, ("measure", "way", "its figure", "localrag", "ratio"))
    for name in missing:
        print(f"not installed, and not measured: {name}")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    Checkpoints.add_options(parser)
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


def measure_indexing(
    folder: Path, passages: list[str], peers: list[Peer], options: argparse.Namespace
) -> Iterator[Row]:
    """Yield tokens a second while passages are embedded; the plain way starts from tokens."""
    embedder = load_embedder(threads=options.threads)
    prefixed = [f"passage: {text}" for text in passages]
    inputs = embedder._tokenizer.encode_batch(prefixed)  # noqa: SLF001 - what the plain way reads
    session = plain_session(folder / BI_ENCODER, options.threads)
    ways: dict[str, Callable[[], object]] = {
        OWN: lambda: embedder.embed_passages(passages),
        "plain": lambda: run_plainly(session, inputs),
        **{peer.name: partial(peer.embed, prefixed) for peer in peers},
    }
    yield from rows_of("indexing, tokens/s", sum(map(len, inputs)), ways, options.runs)


def measure_reranking(
    folder: Path,
    question: str,
    passages: list[str],
    peers: list[Peer],
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Yield questions a second while thirty passages are read for each."""
    reranker = load_reranker(threads=options.threads)
    inputs = reranker._tokenizer.encode_pairs(question, passages)  # noqa: SLF001 - as above
    session = plain_session(folder / CROSS_ENCODER, options.threads)
    ways: dict[str, Callable[[], object]] = {
        OWN: lambda: reranker.logits(question, passages),
        "plain": lambda: run_plainly(session, inputs),
        **{peer.name: partial(peer.score, question, passages) for peer in peers if peer.score},
    }
    length = np.mean([len(tokens) for tokens in inputs])
    measure = f"reranking {len(passages)} pairs of {length:.0f} tokens, 1/s"
    yield from rows_of(measure, 1, ways, options.runs)


def rows_of(
    measure: str, amount: float, ways: dict[str, Callable[[], object]], runs: int
) -> Iterator[Row]:
    """Yield what each other way does in a second, by the clock and of the processor."""
    best = alternate(ways, runs)
    for way in [name for name in ways if name != OWN]:
        for field, unit in (("wall", ""), ("processor", ", by processor time")):
            theirs, own = (amount / getattr(best[name], field) for name in (way, OWN))
            yield {
                "measure": f"{measure}{unit}",
                "way": way,
                "its figure": theirs,
                OWN: own,
                "ratio": own / theirs,
            }


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


def alternate(ways: dict[str, Callable[[], object]], runs: int) -> dict[str, Times]:
    """Run all ways in turn; return the least times of each. A first round warms up."""
    times: dict[str, list[Times]] = {name: [] for name in ways}
    for number in range(runs + 1):
        for name, action in ways.items():
            progress(f"round {number} of {runs}: {name}")
            times[name].append(timed(action))
    return {name: least(measured[1:]) for name, measured in times.items()}


def timed(action: Callable[[], object]) -> Times:
    """Return the seconds of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return Times(time.perf_counter() - wall, time.process_time() - processor)


def least(times: list[Times]) -> Times:
    """Return the least wall time and the least processor time."""
    return Times(min(one.wall for one in times), min(one.processor for one in times))


if __name__ == "__main__":
    sys.exit(main())
