"""What marking copies costs while indexing, and whether copies take slots of a search.

    python benchmarks/copies.py --chunks 10000
    python benchmarks/copies.py --chunks 100000

A base of synthetic chunks, as in filters.py, then a thousand more in batches: seven in ten are new
texts, one is an older text with other words here and there, one an older text as it was, one a
legal notice that stands in every document. Only the work for copies is timed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filters import CHUNKS_PER_DOCUMENT, WORDS_PER_CHUNK, texts, unit

from localrag.inference.fake import FakeEmbedder
from localrag.ingest.copies import mark_copies
from localrag.records import Chunk, Section
from localrag.search.copies import slots_for
from localrag.search.retrieve import Vector
from localrag.store.chunks import insert_chunks, insert_sections
from localrag.store.database import Database
from localrag.store.documents import DocumentRow, insert_document
from localrag.store.vectors import create_vectors, insert_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.inference.protocols import FloatArray

BATCH = 1_000
NOTICE = texts(np.random.default_rng(7), 1, WORDS_PER_CHUNK)[0]
NOTICE_VECTOR = unit(np.random.default_rng(7), 1)


class NoticeEmbedder(FakeEmbedder):
    """Gives every query the vector of the notice."""

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector."""
        del text
        return np.asarray(NOTICE_VECTOR[0])


class Writer:
    """Writes documents and times what is done for copies."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.random = np.random.default_rng(0)
        self.bodies: list[str] = []
        self.vectors: list[FloatArray] = []
        self.seconds = self.cpu_seconds = 0.0
        self.written = 0

    def batch(self) -> None:
        """Write `BATCH` chunks in documents of ten."""
        bodies = texts(self.random, BATCH, WORDS_PER_CHUNK)
        vectors = unit(self.random, BATCH)
        for row in range(BATCH):
            match row % 10:
                case 0:
                    bodies[row], vectors[row] = NOTICE, NOTICE_VECTOR
                case 1 if self.bodies:
                    older = int(self.random.integers(len(self.bodies)))
                    words = self.bodies[older].split()
                    words[30] = "changed"
                    bodies[row], vectors[row] = " ".join(words), self.vectors[older]
                case 2 if self.bodies:
                    older = int(self.random.integers(len(self.bodies)))
                    bodies[row], vectors[row] = self.bodies[older], self.vectors[older]
        self.bodies = [*self.bodies, *bodies][-BATCH * 10 :]
        self.vectors = [*self.vectors, *vectors][-BATCH * 10 :]
        with self.database.atomic():
            for first in range(0, BATCH, CHUNKS_PER_DOCUMENT):
                own = slice(first, first + CHUNKS_PER_DOCUMENT)
                self.document(bodies[own], vectors[own])

    def document(self, bodies: Sequence[str], vectors: FloatArray) -> None:
        """Write one document."""
        connection = self.database.connection
        name = f"Title {self.written}"
        self.written += len(bodies)
        row = DocumentRow(0, f"/base/{name}.txt", name, "text/plain", name, 1, self.written)
        document = insert_document(connection, row, {})
        sections = insert_sections(connection, document, [Section("", 0, None, 0, len(bodies) - 1)])
        chunks = [
            Chunk(place, "paragraph", 0, len(body), body, (), name, 0, WORDS_PER_CHUNK)
            for place, body in enumerate(bodies)
        ]
        ids = insert_chunks(connection, document, sections, chunks)
        insert_vectors(connection, ids, vectors)
        started, busy = time.perf_counter(), time.process_time()
        mark_copies(connection, ids, chunks, [("title", body) for body in bodies], vectors)
        self.seconds += time.perf_counter() - started
        self.cpu_seconds += time.process_time() - busy


def main() -> None:
    """Build the base in a temporary folder and print what the last thousand chunks cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000, help="chunks that are there already")
    chunks = parser.parse_args().chunks
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "copies.db")
        with database.atomic() as connection:
            create_vectors(connection, NOTICE_VECTOR.shape[1])
        writer = Writer(database)
        while writer.written < chunks:
            writer.batch()
        before, busy = writer.seconds, writer.cpu_seconds
        writer.batch()
        taken, cpu = (writer.seconds - before) * 1000, (writer.cpu_seconds - busy) * 1000
        sizes = database.connection.execute(
            "SELECT count(*) FROM chunk_copies WHERE copy_group IS NOT NULL GROUP BY copy_group"
        )
        groups = Counter(min(int(str(size)), 10) for (size,) in sizes)
        keys = database.connection.execute("SELECT count(*) FROM chunk_keys").get
        for slots in (None, slots_for(database.connection, "copy_group")):
            vector = Vector(database.connection, NoticeEmbedder(), 50, slots)
            started = time.perf_counter()
            found = [one.chunk_id for one in vector.search("").candidates]
            passed = (time.perf_counter() - started) * 1000
            texts_found = database.connection.execute(
                "SELECT count(DISTINCT text) FROM chunks WHERE id IN "
                "(SELECT value FROM json_each(?))",
                (json.dumps(found),),
            ).get
            how = "every chunk a slot" if slots is None else "every text a slot "
            print(f"asked for the notice, {how}: {texts_found} texts of 50 in {passed:.0f} ms")
        print(f"{chunks:,} chunks: {taken:.0f} ms for 1,000 more, {cpu:.0f} ms of one core")
        print(f"groups of copies by size (10 = ten or more): {dict(sorted(groups.items()))}")
        print(f"keys: {keys:,}")
        database.close()


if __name__ == "__main__":
    main()
