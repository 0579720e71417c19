"""Tells what each kind of operator takes of a model's time, and what the models take in all.

    python -m models.export.operators OLD/cross-encoder.onnx NEW/cross-encoder.onnx

An input of random tokens is read some times by every model in turn, on one thread. Printed are, in
Markdown, the milliseconds of each kind of operator (the least of its runs, summed over its nodes,
as the runtime's profile has them), and the processor time of a whole run, profile off, the least.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from models.export.measure import print_row, random_feed, session_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from models.export.measure import Feed

TOKENS, RUNS = 240, 25


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table: one row for each kind of operator, one column for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--inputs", type=int, default=1, help="read together")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of each input")
    options = parser.parse_args(arguments)
    feed = random_feed(options.inputs, options.tokens)
    columns = [operator_times(path, feed) for path in options.models]
    kinds = sorted(
        {kind for column in columns for kind in column}, key=lambda kind: -most(columns, kind)
    )
    print_row(["operator", *map(str, options.models)])
    print_row(["---"] * (1 + len(columns)))
    for kind in kinds:
        print_row([kind, *(f"{column.get(kind, 0):.2f}" for column in columns)])
    print_row(["whole run", *(f"{one:.2f}" for one in run_times(options.models, feed))])


def most(columns: Sequence[dict[str, float]], kind: str) -> float:
    """Return the most that any model spends on a kind of operator."""
    return max(column.get(kind, 0) for column in columns)


def operator_times(path: Path, feed: Feed) -> dict[str, float]:
    """Return the milliseconds of each kind of operator in one run of the model."""
    with tempfile.TemporaryDirectory() as directory:
        model = session_of(path, Path(directory) / "profile")
        for _ in range(RUNS):
            model.run(None, feed)
        events = json.loads(Path(model.end_profiling()).read_text(encoding="utf-8"))
    times: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for event in events:
        if event["name"].endswith("_kernel_time"):
            times[event["args"]["op_name"], event["name"]].append(event["dur"] / 1000)
    kinds: defaultdict[str, float] = defaultdict(float)
    for (kind, _), values in times.items():
        kinds[kind] += min(values)
    return dict(kinds)


def run_times(paths: Sequence[Path], feed: Feed) -> list[float]:
    """Return the least processor time of a run of each model, in milliseconds; they take turns."""
    models = [session_of(path) for path in paths]
    times: list[list[float]] = [[] for _ in models]
    for _ in range(RUNS):
        for model, own in zip(models, times, strict=True):
            start = time.process_time()
            model.run(None, feed)
            own.append(1000 * (time.process_time() - start))
    return [min(own) for own in times]


if __name__ == "__main__":
    main()
