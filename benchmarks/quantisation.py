"""Measures what the number formats of the shipped models cost in retrieval quality.

    python benchmarks/quantisation.py --data ../shared/data

Both models are exported in float32 from the same weights, and the product's own stages run on each
set twice: with that pair and with the pair that ships. Printed is nDCG@10 by meaning (vector), of
both methods (fused) and after the cross-encoder (reranked), and the share that is lost. Vectors and
readings are kept in the cache, so that an interrupted run goes on and new weights of one model
leave the other's results. Embedding in float32 is slow: a larger set keeps what its questions are
judged by, and as many other passages as fit `--passages`. Needs the dependency group "models".
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cached_reranker import CachedReranker
from report import print_json, print_table, progress
from retrieval import CACHE, measure
from set_index import CachedEmbedder

from localrag.evaluate.datasets import read_set
from localrag.inference.load import load_embedder, load_reranker

sys.path.append(str(Path(__file__).parents[1]))

from models.export.build import FAMILY
from models.export.cards import write_cards
from models.export.checkpoints import Checkpoints
from models.export.family import write_family
from models.export.names import COMPILED_TOKENIZER
from models.export.source import default_path, read_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from report import Row

    from localrag.evaluate.datasets import EvaluationPassage, EvaluationSet

MEASURE = "ndcg@10"
COLUMNS = ("set", "stage", "questions", "passages", "fp32", "shipped", "loss %")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = parse(arguments)
    with TemporaryDirectory() as folder:
        progress("exporting the weights in float32")
        export(Checkpoints.from_options(options), Path(folder))
        rows = [row for name in options.set for row in compare(name, Path(folder), options)]
    if options.json:
        print_json(rows)
    else:
        print_table(rows, COLUMNS)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    Checkpoints.add_options(parser)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", default=["jaquad", "scifact"])
    parser.add_argument("--passages", type=int, default=1500, help="most passages of a set")
    parser.add_argument("--limit", type=int, default=500, help="questions that are retrieved for")
    parser.add_argument("--read", type=int, default=60, help="of these, questions reranked for")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where indexed sets are kept")
    return parser.parse_args(arguments)


def export(checkpoints: Checkpoints, folder: Path) -> None:
    """Write both models in float32, with the tokenizer and the calibration that ship."""
    for name in ("cross-encoder.json", COMPILED_TOKENIZER):
        shutil.copy(FAMILY / name, folder)
    write_family(read_source(default_path()), checkpoints, folder, "fp32", "fp32")
    write_cards(folder)


def compare(name: str, folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield a row per stage of one set."""
    found = read_set(options.data, name).sample(options.limit)
    found = replace(found, passages=part_of(found, options.passages))
    exact = figures(found, folder, options)
    shipped = figures(found, None, options)
    for stage, (questions, quality) in exact.items():
        kept = shipped[stage][1]
        yield {
            "set": name,
            "stage": stage,
            "questions": questions,
            "passages": len(found.passages),
            "fp32": quality,
            "shipped": kept,
            "loss %": 100 * (quality - kept) / quality,
        }


def part_of(found: EvaluationSet, most: int) -> tuple[EvaluationPassage, ...]:
    """Return all passages that are judged, and others up to `most`, by the hash of their ids."""
    judged = {passage for grades in found.judgements.values() for passage in grades}
    order = sorted(
        found.passages,
        key=lambda one: (one.id not in judged, sha256(one.id.encode()).hexdigest()),
    )
    return tuple(order[: max(most, len(judged))])


def figures(
    found: EvaluationSet, family: Path | None, options: argparse.Namespace
) -> dict[str, tuple[int, float]]:
    """Return the number of questions and the quality of each stage, by its name."""
    embedder = CachedEmbedder(load_embedder(family), options.cache)
    reranker = CachedReranker(load_reranker(family), options.cache)
    retrieved = measure(found, options.cache, embedder, None)
    reranked = measure(found.sample(options.read), options.cache, embedder, reranker)
    embedder.close()
    reranker.close()
    wanted = [row for row in retrieved if row["stage"] in {"vector", "fused"}] + reranked[-1:]
    return {str(row["stage"]): (int(row["questions"]), float(row[MEASURE])) for row in wanted}


if __name__ == "__main__":
    sys.exit(main())
