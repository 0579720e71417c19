"""Measures every number format of both models and prints a table in Markdown.

    python -m models.export.measure

Each format is exported to a temporary directory and measured in a process of its own. Speed is
given for one thread and its processor time, so that other programs disturb it little; tokens are
random, 12 inputs of 250. Quality is that of the golden texts in tests/models/golden.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import get_args

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from models.export.checkpoints import Checkpoints
from models.export.compare import rank_correlation, run_logits, run_vectors
from models.export.family import write_family
from models.export.matrices import Precision
from models.export.names import BI_ENCODER, CROSS_ENCODER
from models.export.source import default_path, read_source

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "models" / "golden" / "golden.json"
BATCH, TOKENS, QUERY_TOKENS = 12, 250, 12
RUNS = 3
COLUMNS = (
    "model", "numbers", "MB", "load ms", "resident MB", "tokens/s", "query ms", "quality", "worst"
)  # fmt: skip
Feed = dict[str, NDArray[np.int64]]
STATUS = Path("/proc/self/status")


def resident_megabytes() -> float:
    """Return the memory this process holds, mapped files included."""
    line = next(row for row in STATUS.read_text().splitlines() if row.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def session_of(path: Path, profile: Path | None = None) -> onnxruntime.InferenceSession:
    """Load a model for one thread, as the product does, and write a profile where it is wanted."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # As the product loads them: the runtime would join operators that are faster apart.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    return onnxruntime.InferenceSession(str(path), options)


def random_feed(batch: int, tokens: int) -> Feed:
    """Return inputs of random tokens, without padding."""
    ids = np.random.default_rng(0).integers(5, 250_000, (batch, tokens))
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def seconds_of(session: onnxruntime.InferenceSession, batch: int, tokens: int) -> float:
    """Return the least processor time of a few runs."""
    feed = random_feed(batch, tokens)
    session.run(None, feed)
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        session.run(None, feed)
        times.append(time.process_time() - start)
    return min(times)


def measure(path: Path) -> list[str]:
    """Return load time, resident memory, tokens a second and milliseconds of one query."""
    before = resident_megabytes()
    start = time.perf_counter()
    session = session_of(path)
    load = time.perf_counter() - start
    resident = resident_megabytes() - before
    speed = BATCH * TOKENS / seconds_of(session, BATCH, TOKENS)
    query = seconds_of(session, 1, QUERY_TOKENS)
    return [f"{load * 1000:.0f}", f"{resident:.0f}", f"{speed:,.0f}", f"{query * 1000:.1f}"]


def quality(path: Path) -> list[str]:
    """Return cosine or rank correlation with the reference: over all, and of the worst text."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    if path.name == BI_ENCODER:
        cosines = (run_vectors(path, golden["ids"]) * np.array(golden["vectors"])).sum(axis=1)
        return [f"{cosines.mean():.5f}", f"{cosines.min():.5f}"]
    pairs = [ids for group in golden["pair_ids"] for ids in group]
    reference = np.array(golden["logits"], np.float32)
    logits = run_logits(path, pairs).reshape(reference.shape)
    worst = min(map(rank_correlation, logits, reference))
    return [f"{rank_correlation(logits.ravel(), reference.ravel()):.4f}", f"{worst:.4f}"]


def print_row(cells: list[str] | tuple[str, ...]) -> None:
    """Print one row of the table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def measure_all(checkpoints: Checkpoints, directory: Path) -> None:
    """Export and measure every number format."""
    source = read_source(default_path())
    print_row(COLUMNS)
    print_row(["---"] * len(COLUMNS))
    for precision in get_args(Precision):
        write_family(source, checkpoints, directory, precision, precision)
        for name in (BI_ENCODER, CROSS_ENCODER):
            size = (directory / name).stat().st_size / 1e6
            command = [sys.executable, "-m", "models.export.measure", "--one", directory / name]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
            print_row([Path(name).stem, precision, f"{size:.1f}", *output.strip().split("\t")])


def main() -> None:
    """Print the table, or the cells of one model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    Checkpoints.add_options(parser)
    parser.add_argument("--one", type=Path, help="measure this model only")
    arguments = parser.parse_args()
    if arguments.one:
        print("\t".join([*measure(arguments.one), *quality(arguments.one)]))
        return
    with tempfile.TemporaryDirectory() as directory:
        measure_all(Checkpoints.from_options(arguments), Path(directory))


if __name__ == "__main__":
    main()
