"""Measures how fast localrag is on this machine, on a folder of documents.

    python benchmarks/speed.py sample

Indexing and queries run in this process, with models that are already loaded; loading them is
measured by itself. Cold starts run the command line in new processes, as a user does. Every figure
but the rates of indexing is a median.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from report import print_json, print_table, progress

import localrag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from report import Row

ROOT = Path(__file__).parent.parent
QUESTIONS = ROOT / "tests" / "sample_questions.jsonl"
PROGRAM = str(Path(sys.executable).with_name("localrag"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = parse(arguments)
    questions = read_questions(options.questions)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "speed.db"
        rows = [
            *measure_indexing(path, options.documents),
            *measure_queries(path, questions),
            *measure_cold_starts(path, questions[0], options.runs),
        ]
    if options.json:
        print_json(rows)
    else:
        print_table(rows, ("measure", "value", "unit"))
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path, nargs="?", default=ROOT / "sample")
    parser.add_argument(
        "--questions", type=Path, default=QUESTIONS, help="JSON lines with the field question"
    )
    parser.add_argument("--runs", type=int, default=5, help="cold starts of each command")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    return parser.parse_args(arguments)


def read_questions(path: Path) -> list[str]:
    """Return the questions of a file of JSON lines."""
    return [json.loads(line)["question"] for line in path.read_text("utf-8").splitlines()]


def measure_indexing(path: Path, documents: Path) -> Iterator[Row]:
    """Index `documents` into a new file at `path`; yield rates and sizes."""
    with localrag.open(path) as base:
        progress("loading the bi-encoder")
        started = time.perf_counter()
        base.embedder.embed_passages(["Loads the model."])
        yield row("bi-encoder, load and first text", 1000 * (time.perf_counter() - started), "ms")
        progress(f"indexing {documents}")
        report = base.sync(documents)
        yield row("indexing, documents", len(report.added) / report.seconds, "1/s")
        yield row("indexing, chunks", report.chunks / report.seconds, "1/s")
        yield row("indexing, tokens", report.tokens / report.seconds, "1/s")
    # Measured after closing: only then is the write-ahead log folded into the file.
    yield row("file", path.stat().st_size / max(report.chunks, 1), "bytes/chunk")


def measure_queries(path: Path, questions: Sequence[str]) -> Iterator[Row]:
    """Answer all questions; yield the median time of each stage."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    with localrag.open(path) as base:
        base.ask(questions[0])  # loads the models, which no measured question pays for
        for number, question in enumerate(questions):
            progress(f"answering: {number} of {len(questions)} questions")
            stages = base.ask(question).trace.stages
            for stage in stages:
                times[stage.name].append(stage.milliseconds)
            times["all stages"].append(sum(stage.milliseconds for stage in stages))
    for name, milliseconds in times.items():
        yield row(f"warm query, {name}", median(milliseconds), "ms")


def measure_cold_starts(path: Path, question: str, runs: int) -> Iterator[Row]:
    """Run commands in new processes; yield the median wall time of each."""
    commands = {
        "--help": ["--help"],
        "search, BM25 only": ["search", question, "--mode", "lexical", "--no-rerank"],
        "search": ["search", question],
        "ask": ["ask", question],
    }
    for name, command in commands.items():
        database = [] if name == "--help" else ["--db", str(path)]
        progress(f"cold start: {name}")
        times = [milliseconds_of([PROGRAM, *command, *database]) for _ in range(runs)]
        yield row(f"cold start, {name}", median(times), "ms")


def milliseconds_of(command: Sequence[str]) -> float:
    """Run a command and return how long it took; "nothing found" counts as success."""
    started = time.perf_counter()
    finished = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    elapsed = 1000 * (time.perf_counter() - started)
    if finished.returncode not in {0, 3}:
        finished.check_returncode()
    return elapsed


def row(measure: str, value: float, unit: str) -> Row:
    """Return one line of the result."""
    return {"measure": measure, "value": value, "unit": unit}


if __name__ == "__main__":
    sys.exit(main())
