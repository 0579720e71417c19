"""Measures how much of the candidates the cross-encoder has to read.

    python -m models.training.mine --data ../shared/data
    python -m models.training.depth --data ../shared/data --limit 25

Printed is nDCG@10 of training questions that were held out, by set and in the mean, the share of
questions whose first passage is relevant (hit@1), and what is read, in characters, context lines
among them, as a share of thirty whole passages:

    top K         the first K of the fused list
    first K, P    the first K, and the rest of the thirty unless the best of them has probability P
    again K       all thirty, and the best K of them again, in the windows of the model's card
    windows of N  all thirty, and as many again as the product does, in windows of N tokens

The first two read again what the product does. What is read stands in the order of the product
(`evidence`), the rest behind it in the fused order. Readings are kept in the cache, by the hash of
the weights.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from cached_reranker import CachedReranker
from report import print_json, print_table, progress
from retrieval import CACHE
from set_index import CachedEmbedder, open_set, passage_ids

from localrag.evaluate.metrics import ndcg
from localrag.inference.load import load_embedder, load_reranker
from localrag.search.evidence import evidence
from localrag.search.fuse import Fuse
from localrag.search.reading import as_read, read_again, window_tokens, windows_of
from localrag.search.rerank import AGAIN
from localrag.search.retrieve import Lexical, Vector
from localrag.search.run import run_stages
from localrag.search.transform import PassThrough
from localrag.store.chunks import fetch_chunks
from models.training.evidence import INDEX, TOP, K, held_out
from models.training.questions import SETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from report import Row

    import localrag
    from localrag.evaluate.datasets import EvaluationQuestion

DEPTHS = (5, 10, 15, 20, TOP)
FIRST = (6, 10, 15)
SURE = (0.3, 0.5, 0.7, 0.9)
AT_AGAIN = (0, 3, 6, 10, TOP)
WINDOWS = (64, 128, 192)


@dataclass(frozen=True, slots=True)
class Candidates:
    """One question with what retrieval found for it."""

    judgements: Mapping[str, int]
    ids: tuple[str, ...]
    """In the fused order; the first `TOP` have texts and scores."""
    fused: tuple[float, ...]
    whole: tuple[float, ...]
    """Probabilities of whole passages."""
    lengths: tuple[int, ...]
    """Characters of the passages."""
    closer: Mapping[int, tuple[tuple[float, ...], tuple[int, ...]]]
    """Probabilities after a second look, and characters of the windows, by tokens of one."""
    window: int
    """Tokens of the windows of the product."""

    def ranking(self, probabilities: Sequence[float]) -> list[str]:
        """Return the passages in the product's order when the first ones were read."""
        order = self._order(probabilities)
        return [*(self.ids[place] for place in order), *self.ids[len(order) :]]

    def _order(self, probabilities: Sequence[float]) -> list[int]:
        scores = [evidence(p, f) for p, f in zip(probabilities, self.fused, strict=False)]
        return sorted(range(len(scores)), key=lambda place: -scores[place])

    def read(self, depth: int, again: int, window: int) -> tuple[list[float], int]:
        """Return the probabilities of the first `depth`, and how many characters that reads."""
        probabilities = list(self.whole[:depth])
        characters = sum(self.lengths[:depth])
        closer, of_windows = self.closer[window]
        for place in self._order(probabilities)[:again]:
            probabilities[place] = closer[place]
            characters += of_windows[place]
        return probabilities, characters

    def ways(self) -> Iterator[tuple[str, Sequence[float], int]]:
        """Yield the name of each way, the probabilities it has, and the characters it reads."""
        for depth in DEPTHS:
            yield f"top {depth}", *self.read(depth, AGAIN, self.window)
        for first in FIRST:
            for sure in SURE:
                stops = max(self.whole[:first], default=0) >= sure
                depth = first if stops else TOP
                yield f"first {first}, {sure}", *self.read(depth, AGAIN, self.window)
        for again in AT_AGAIN:
            yield f"again {again}", *self.read(TOP, again, self.window)
        for tokens in self.closer:
            yield f"windows of {tokens}", *self.read(TOP, AGAIN, tokens)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--set", nargs="+", help="sets that were mined; all by default")
    parser.add_argument("--reranker", type=Path, help="folder of another cross-encoder")
    parser.add_argument("--limit", type=int, default=60, help="questions of each set")
    parser.add_argument("--windows", type=int, nargs="*", default=WINDOWS, help="tokens")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    found = dict(read_all(options))
    rows = list(rows_of(found))
    if options.json:
        print_json(rows)
    else:
        print_table(rows, list(rows[0]))
    return 0


def read_all(options: argparse.Namespace) -> Iterator[tuple[str, list[Candidates]]]:
    """Yield every set's name and its questions, retrieved for and read."""
    embedder = CachedEmbedder(load_embedder(), INDEX)
    reranker = CachedReranker(load_reranker(options.reranker), CACHE)
    for name in options.set or sorted(name for name in SETS if SETS[name].by_meaning):
        found = held_out(options.data, name, embedder.counter)
        base = open_set(found, INDEX, embedder, reranker, progress)
        questions = found.questions[: options.limit]
        progress(f"{name}: {len(questions)} questions")
        yield (
            name,
            [
                read(base, question, found.judgements[question.id], options.windows)
                for question in questions
            ],
        )
        base.database.close()  # not the models: the next set uses them


def read(
    base: localrag.KnowledgeBase,
    question: EvaluationQuestion,
    judgements: Mapping[str, int],
    windows: Sequence[int],
) -> Candidates:
    """Let the product's stages retrieve and the cross-encoder read the best candidates."""
    connection = base.database.connection
    stages = (PassThrough(), Lexical(connection, K), Vector(connection, base.embedder, K), Fuse())
    state, _ = run_stages(stages, question.text)
    names = passage_ids(base)
    top = state.survivors[:TOP]
    chunks = fetch_chunks(connection, [one.chunk_id for one in top])
    found = [chunks[one.chunk_id] for one in top]
    passages = [as_read(chunk, question.text) for chunk in found]
    whole = tuple(map(float, base.reranker.relevance(question.text, passages)))

    def closer(tokens: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
        known = {chunk.id: own for chunk, own in zip(found, whole, strict=True)}
        again = read_again(base.reranker, question.text, found, known, tokens)
        characters = [
            sum(map(len, windows_of(chunk, question.text, tokens))) * (chunk.id in again)
            for chunk in found
        ]
        return tuple((known | again).values()), tuple(characters)

    window = window_tokens(base.reranker) or max(windows)
    return Candidates(
        judgements=judgements,
        ids=tuple(names[one.chunk_id] for one in state.survivors),
        fused=tuple(one.score for one in top),
        whole=whole,
        lengths=tuple(map(len, passages)),
        closer={tokens: closer(tokens) for tokens in sorted({*windows, window})},
        window=window,
    )


def rows_of(found: Mapping[str, Sequence[Candidates]]) -> Iterator[Row]:
    """Yield a row for each way."""
    quality: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    hits, shares = defaultdict(list), defaultdict(list)
    for name, questions in found.items():
        for one in questions:
            for way, probabilities, read_ in one.ways():
                ranking = one.ranking(probabilities)
                quality[way][name].append(ndcg(ranking, one.judgements, 10))
                hits[way].append(one.judgements.get(ranking[0], 0) > 0)
                shares[way].append(read_ / sum(one.lengths))
    for way, by_set in quality.items():
        means = {name: float(np.mean(values)) for name, values in by_set.items()}
        yield {
            "way": way,
            **means,
            "mean": float(np.mean(list(means.values()))),
            "hit@1": float(np.mean(hits[way])),
            "read": float(np.mean(shares[way])),
        }


if __name__ == "__main__":
    sys.exit(main())
