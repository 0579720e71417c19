"""What a filter costs: milliseconds per stage at several selectivities, on synthetic chunks.

    python benchmarks/filters.py --chunks 100000

Documents of ten chunks, words drawn by Zipf's law, random vectors, written straight into the
store. Each filter lets a share of the documents through; its results are compared with the whole
ranking cut down to the allowed chunks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from localrag.inference.fake import FakeEmbedder
from localrag.records import Chunk, Filter, SearchState, Section
from localrag.search.restrict import Restrict
from localrag.search.retrieve import Lexical, Vector
from localrag.store.chunks import insert_chunks, insert_sections
from localrag.store.database import Database
from localrag.store.documents import DocumentRow, insert_document
from localrag.store.vectors import create_vectors, insert_vectors, vectors_of
from localrag.store.words import insert_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.inference.protocols import FloatArray
    from localrag.records import RankedList

DIMENSIONS = 384
CHUNKS_PER_DOCUMENT = 10
WORDS_PER_CHUNK = 60
VOCABULARY = 50_000
BATCH = 500
SHARES = (0.001, 0.01, 0.1, 0.5, 1.0)
QUERIES = 10
WORDS = np.array([f"w{number}" for number in range(VOCABULARY)])
FREQUENCIES = 1 / np.arange(1, VOCABULARY + 1)


class RandomEmbedder(FakeEmbedder):
    """Gives each query a random vector, the same for the same query."""

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector."""
        return np.asarray(unit(np.random.default_rng(list(text.encode())), 1)[0])


def unit(random: np.random.Generator, rows: int) -> FloatArray:
    """Return random unit vectors, shape (rows, dimensions)."""
    vectors = random.standard_normal((rows, DIMENSIONS)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def texts(random: np.random.Generator, count: int, words: int) -> list[str]:
    """Return texts of words as frequent as Zipf's law says."""
    drawn = random.choice(VOCABULARY, (count, words), p=FREQUENCIES / FREQUENCIES.sum())
    return [" ".join(row) for row in WORDS[drawn]]


def fill(database: Database, documents: int) -> None:
    """Write the documents, numbered from 0 in their metadata."""
    random = np.random.default_rng(0)
    for first in range(0, documents, BATCH):
        numbers = range(first, min(first + BATCH, documents))
        size = len(numbers) * CHUNKS_PER_DOCUMENT
        vectors, bodies = unit(random, size), texts(random, size, WORDS_PER_CHUNK)
        with database.atomic() as connection:
            create_vectors(connection, DIMENSIONS)
            for place, number in enumerate(numbers):
                own = slice(place * CHUNKS_PER_DOCUMENT, (place + 1) * CHUNKS_PER_DOCUMENT)
                write(database, number, bodies[own], vectors[own])


def write(database: Database, number: int, bodies: Sequence[str], vectors: FloatArray) -> None:
    """Write one document; called inside a transaction."""
    connection = database.connection
    row = DocumentRow(0, f"/base/{number}.txt", "Title", "text/plain", str(number), 1, number)
    document = insert_document(connection, row, {"number": number})
    sections = insert_sections(connection, document, [Section("", 0, None, 0, len(bodies) - 1)])
    chunks = [
        Chunk(place, "paragraph", 0, len(body), body, (), "Title", 0, WORDS_PER_CHUNK)
        for place, body in enumerate(bodies)
    ]
    ids = insert_chunks(connection, document, sections, chunks)
    insert_words(connection, ids, [("title", body) for body in bodies])
    insert_vectors(connection, ids, vectors)


def found(ranked: RankedList) -> list[int]:
    """Return the ids of a list."""
    return [candidate.chunk_id for candidate in ranked.candidates]


def brute_force(database: Database, vector: FloatArray, ids: range) -> list[int]:
    """Return the 50 nearest of these chunks, by comparing each of them."""
    stored = vectors_of(database.connection, ids)
    cosines = np.stack(list(stored.values())) @ vector
    return [list(stored)[row] for row in np.argsort(-cosines)[:50]]


def measure(database: Database, documents: int, share: float) -> str:
    """Return a row of the table: medians over the queries."""
    connection = database.connection
    wanted = Filter(where=f"number < {round(documents * share)}")
    lexical, vector = Lexical(connection, 50), Vector(connection, RandomEmbedder(), 50)
    times: dict[str, list[float]] = {"filter": [], "bm25": [], "vector": []}
    for query in texts(np.random.default_rng(1), QUERIES, 6):
        state = SearchState(query, (query,))
        started = time.perf_counter()
        state = Restrict(connection, wanted)(state)
        passed = time.perf_counter()
        lexical.search(query, state.allowed)
        ranked = time.perf_counter()
        by_meaning = vector.search(query, state.allowed)
        done = time.perf_counter()
        durations = (passed - started, ranked - passed, done - ranked)
        for name, seconds in zip(times, durations, strict=True):
            times[name].append(seconds * 1000)
    ids = range(1, round(documents * share) * CHUNKS_PER_DOCUMENT + 1)
    exact = brute_force(database, RandomEmbedder().embed_query(query), ids) == found(by_meaning)
    cells = " | ".join(f"{median(values):.1f}" for values in times.values())
    return f"| {share:.1%} | {cells} | {'yes' if exact else 'NO'} |"


def main() -> None:
    """Build a base in a temporary folder and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000, help="how many; default 100,000")
    documents = parser.parse_args().chunks // CHUNKS_PER_DOCUMENT
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "filters.db")
        fill(database, documents)
        print("| allowed | filter ms | BM25 ms | vector ms | exact |")
        print("|---|---|---|---|---|")
        for share in SHARES:
            print(measure(database, documents, share))
        database.close()


if __name__ == "__main__":
    main()
