"""Makes one file of up to a million chunks, by the store's own code, and uses it as a user would.

    python benchmarks/million.py build --db big.db --chunks 1000000 --data ../shared/data
    python benchmarks/million.py measure --db big.db --data ../shared/data
    python benchmarks/million.py words --db big.db --data ../shared/data

Killed, building goes on where it stopped; a larger number of chunks enlarges the file. What
is measured is a hybrid search without the cross-encoder, whose time does not depend on the size;
words alone are compared with the OR of all of a question's.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from large_file import measure, words_alone
from mixture import Mixture
from report import print_table, progress
from set_index import CachedEmbedder, digest

import localrag
from localrag.config import make_settings
from localrag.inference.load import load_embedder
from localrag.records import Chunk, Section
from localrag.store.chunks import count_chunks, insert_chunks, insert_sections
from localrag.store.documents import DocumentRow, insert_document
from localrag.store.vectors import insert_vectors
from localrag.store.words import insert_words
from localrag.text.analysis import analyse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw
    from mixture import Floats, Passage

CACHE = Path(__file__).parent / ".cache"
BATCH = 10_000
"""Chunks of a transaction."""
PER_DOCUMENT = 20
"""Chunks of a document that was made; a real passage is a document of its own."""
TOKENS_PER_CHARACTER = {"en": 0.25, "ja": 0.6, "zh": 0.6}
"""Nobody counts the tokens of what no model reads."""


def build(path: Path, data: Path, cache: Path, chunks: int) -> None:
    """Bring the file at `path` to `chunks` chunks."""
    embedder = CachedEmbedder(load_embedder(), cache)
    mixture = Mixture(data, embedder.kept)
    base = localrag.open(path, settings=make_settings(keep_traces=False), embedder=embedder)
    done = count_chunks(base.database.connection)
    base.database.connection.pragma("cache_size", -1_000_000)
    started = time.perf_counter()
    while done < chunks:
        real = len(mixture.real)
        end = min(done + BATCH, chunks, real if done < real else chunks)
        passages, vectors = mixture.batch(done, end - done)
        with base.database.atomic() as connection:
            write(connection, passages, vectors, 1 if done < real else PER_DOCUMENT)
        done = end
        progress(f"{done:,} of {chunks:,} chunks, {time.perf_counter() - started:.0f} s")
    with base.database.atomic() as connection:
        connection.execute("INSERT INTO chunk_words(chunk_words) VALUES('optimize')")
    base.close()


def write(
    connection: apsw.Connection, passages: Sequence[Passage], vectors: Floats, size: int
) -> None:
    """Write documents of `size` chunks."""
    for first in range(0, len(passages), size):
        own = passages[first : first + size]
        row = DocumentRow(
            id=0,
            uri=own[0].uri,
            title=own[0].title,
            media_type="text/plain",
            content_hash=digest(own[0].text),
            size=sum(len(one.text.encode()) for one in own),
            modified_at=None,
            language=own[0].language,
        )
        document = insert_document(connection, row, {})
        section = Section(own[0].title, 0, None, 0, len(own) - 1)
        sections = insert_sections(connection, document, [section])
        chunks = list(chunks_of(own))
        ids = insert_chunks(connection, document, sections, chunks)
        context = " ".join(analyse(own[0].title))
        words = [(context, one.body) for one in own]
        insert_words(connection, ids, words)
        insert_vectors(connection, ids, vectors[first : first + size])


def chunks_of(passages: Sequence[Passage]) -> Iterator[Chunk]:
    """Yield the passages of a document as its chunks, one blank line between them."""
    start = 0
    for ordinal, passage in enumerate(passages):
        yield Chunk(
            ordinal=ordinal,
            kind="paragraph",
            start=start,
            end=start + len(passage.text),
            text=passage.text,
            headings=(),
            context=passages[0].title,
            section=0,
            tokens=round(TOKENS_PER_CHARACTER[passage.language] * len(passage.text)),
        )
        start += len(passage.text) + 2


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task", choices=("build", "measure", "words"))
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the sets")
    parser.add_argument("--limit", type=int, default=100, help="questions of each set")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where embeddings are kept")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the task; return the exit code."""
    options = parse(arguments)
    if options.task == "build":
        build(options.db, options.data, options.cache, options.chunks)
    else:
        figures = measure if options.task == "measure" else words_alone
        rows = list(figures(options.db, options.data, options.limit))
        print_table(rows, ("measure", "value", "least", "unit"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
