"""How long a search by meaning takes as a base grows, and whether it finds what is nearest.

    python benchmarks/scale.py                             # 1,000, 10,000 and 100,000 chunks
    python benchmarks/scale.py --sizes 1000000 --json      # takes minutes to fill

Vectors of 384 dimensions around random centres, one for every 200 chunks, are written straight into
the store; queries are chunks that were moved a little. k is 50. Peers (see vector_peers.py) get the
same vectors; those that are not installed are named. Recall is that of the first 10, against a
product in float32. Times are milliseconds, median / least.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from vector_peers import PEERS, fill, start

from localrag.records import Allowed
from localrag.store.database import Database
from localrag.store.vector_search import VectorSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from vector_peers import Find

    Floats = NDArray[np.float32]

DIMENSIONS = 384
PER_CENTRE = 200
SPREAD = 0.8
"""Length of what is added to a centre: chunks of one centre then have a cosine of about 0.6."""
BATCH = 5_000
K = 50
QUERIES = 20
SHARES = (0.001, 0.01, 0.5)


def unit(vectors: NDArray[Any]) -> Floats:
    """Return rows of length one."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def moved(random: np.random.Generator, vectors: Floats) -> Floats:
    """Return rows that lie around the given ones."""
    noise = random.standard_normal(vectors.shape, np.float32) * (SPREAD / DIMENSIONS**0.5)
    return unit(vectors + noise)


def make(size: int) -> tuple[Floats, Floats]:
    """Return the vectors of a base, and queries."""
    random = np.random.default_rng(size)
    centres = unit(random.standard_normal((max(1, size // PER_CENTRE), DIMENSIONS), np.float32))
    vectors = np.empty((size, DIMENSIONS), np.float32)
    for first in range(0, size, BATCH):
        part = vectors[first : first + BATCH]
        part[:] = moved(random, centres[random.integers(len(centres), size=len(part))])
    return vectors, moved(random, vectors[random.integers(size, size=QUERIES)])


def timed(find: Find, queries: Floats, exact: Sequence[Sequence[int]]) -> list[float]:
    """Return the median and the least milliseconds of a search, and the recall of the first 10."""
    find(queries[0])
    times, found, wanted = [], 0, 0
    for query, nearest in zip(queries, exact, strict=True):
        started = time.perf_counter()
        ids = find(query)
        times.append((time.perf_counter() - started) * 1000)
        found += len(set(list(ids)[:10]) & set(nearest[:10]))
        wanted += len(nearest[:10])
    return [median(times), min(times), found / wanted]


def brute_force(vectors: Floats, query: Floats, ids: NDArray[np.int64] | None = None) -> list[int]:
    """Return the ids of the nearest, by one product in float32."""
    cosines = vectors @ query if ids is None else vectors[ids - 1] @ query
    best = np.argpartition(-cosines, K)[:K] if len(cosines) > K else np.arange(len(cosines))
    best = best[np.lexsort((best, -cosines[best]))]
    return [int(row) + 1 for row in best] if ids is None else ids[best].tolist()


def measure(
    path: Path, vectors: Floats, queries: Floats, names: Sequence[str]
) -> dict[str, object]:
    """Return the figures of one size."""
    exact = [brute_force(vectors, query) for query in queries]
    database = Database(path)
    search = VectorSearch(database, matrix_from=1, memory_bytes=10**10)
    started = time.perf_counter()
    search.search(database.connection, queries[0], K)
    figures: dict[str, object] = {"first": (time.perf_counter() - started) * 1000}
    started = time.perf_counter()
    search.search(database.connection, queries[0], K)
    search.wait()
    figures["build"] = (time.perf_counter() - started) * 1000

    def ours(query: Floats, allowed: Allowed | None = None) -> list[int]:
        found = search.search(database.connection, query, K, allowed)
        figures["plan"] = found.plan
        return [one.chunk_id for one in found.candidates]

    figures["localrag"] = timed(ours, queries, exact)
    plan = figures["plan"]
    for share in SHARES:
        random = np.random.default_rng(1)
        ids = np.sort(random.choice(len(vectors), max(1, int(len(vectors) * share)), False)) + 1
        allowed = Allowed(1, len(ids), json.dumps(ids.tolist()))
        nearest = [brute_force(vectors, query, ids) for query in queries]
        figures[f"localrag, {share:.1%} allowed"] = timed(
            partial(ours, allowed=allowed), queries, nearest
        )
    figures |= {"plan": plan, "MB": search.bytes / 1e6}
    search.close()
    database.close()
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            find = start(name, vectors, K, Path(folder))
            figures[name] = find if isinstance(find, str) else timed(find, queries, exact)
            del find
    return figures


def cell(value: object) -> str:
    """Return a figure as it stands in the table: median, least, and a recall that is not whole."""
    if isinstance(value, list):
        middle, least, recall = value
        return f"{middle:.1f} / {least:.1f}" + ("" if recall == 1 else f" (recall {recall:.3f})")
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def main() -> None:
    """Fill a base of each size in a temporary folder, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--vectors", choices=("int8", "float32"), default="int8")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    results = {}
    for size in options.sizes:
        vectors, queries = make(size)
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder) / "scale.db", vectors, options.vectors)
            results[size] = measure(Path(folder) / "scale.db", vectors, queries, options.peers)
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print("| ms | " + " | ".join(f"{size:,}" for size in results) + " |")
    print("|---" * (len(results) + 1) + "|")
    for name in next(iter(results.values())):
        print(f"| {name} | " + " | ".join(cell(one[name]) for one in results.values()) + " |")


if __name__ == "__main__":
    main()
