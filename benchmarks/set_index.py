"""Turns an evaluation set into a real knowledge base, and keeps it for the next run.

Every passage becomes a document with one chunk, as it is: these sets judge passages, so cutting
them again would measure something else. Where a set has the files that its passages are parts of,
each file becomes a document with these chunks, and they get the context that the product gives.

The file is named after all that decides its contents, so a changed passage, model or text analysis
makes a new one. Embeddings are kept apart, by text, so that a change of the text analysis alone
costs seconds and not minutes.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import localrag
from localrag.config import make_settings
from localrag.evaluate.given_chunks import cut_at, read_nameless
from localrag.ingest.prepare import Prepared, words_of
from localrag.ingest.write import embed_all, write_document
from localrag.records import Chunk, Section
from localrag.store.documents import DocumentRow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from localrag.config import ContextLine
    from localrag.evaluate.datasets import EvaluationPassage, EvaluationSet
    from localrag.inference.protocols import Embedder, FloatArray, Reranker, TokenCounter

__all__ = ["CachedEmbedder", "open_set", "passage_ids"]

BATCH = 256
"""Passages embedded together: the embedder sorts them by length, so more means less padding."""

SOURCES_OF_ROWS = ("text/*.py", "store/schema.py", "ingest/write.py")
"""Where a change makes other rows out of the same passages and vectors."""

SOURCES_OF_CONTEXT = (
    "chunking/*.py",
    "formats/code_*.py",
    "formats/source_code.py",
    "evaluate/*.py",
)
"""Where a change makes another context out of the same files."""


class CachedEmbedder:
    """An embedder that embeds no passage twice, not even in another run."""

    def __init__(self, embedder: Embedder, cache: Path) -> None:
        self.embedder = embedder
        self.dimensions = embedder.dimensions
        self.fingerprint = embedder.fingerprint
        self.counter = embedder.counter
        cache.mkdir(parents=True, exist_ok=True)
        self.file = sqlite3.connect(cache / f"vectors-{digest(embedder.fingerprint)}.db")
        self.file.execute("CREATE TABLE IF NOT EXISTS vectors(text TEXT PRIMARY KEY, vector BLOB)")

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors, shape (texts, dimensions)."""
        known = {text: self.kept(text) for text in texts}
        missing = [text for text, vector in known.items() if vector is None]
        if missing:
            read = [beginning(text, self.counter) for text in missing]
            known.update(zip(missing, self.embedder.embed_passages(read), strict=True))
            rows = [(digest(text), known[text]) for text in missing]
            self.file.executemany("INSERT INTO vectors VALUES(?, ?)", rows)
            self.file.commit()
        found = [vector for text in texts if (vector := known[text]) is not None]
        return np.stack(found) if found else np.empty((0, self.dimensions), np.float32)

    def kept(self, text: str) -> FloatArray | None:
        """Return the vector of an earlier run, or None."""
        sql = "SELECT vector FROM vectors WHERE text = ?"
        row = self.file.execute(sql, (digest(text),)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def embed_query(self, text: str) -> FloatArray:
        """Return one unit vector, shape (dimensions,); never kept, because it is timed."""
        return self.embedder.embed_query(text)

    def close(self) -> None:
        """Release the session's memory and the file."""
        self.file.close()
        self.embedder.close()


def open_set(  # noqa: PLR0913 - what decides the file, and who reports
    found: EvaluationSet,
    cache: Path,
    embedder: CachedEmbedder,
    reranker: Reranker,
    progress: Callable[[str], None],
    *,
    context: ContextLine = "full",
) -> localrag.KnowledgeBase:
    """Return the knowledge base of a set's passages; index what it still lacks.

    The titles are the lines of context, which `context` may keep out of the vectors or leave out.

    An interrupted run goes on where it stopped, since each passage is a document of its own.
    """
    label = "" if context == "full" else f"-{context}"
    name = f"{found.name.replace('/', '-')}-{fingerprint(found, embedder)}{label}.db"
    settings = make_settings(context_line=context)
    base = localrag.open(cache / name, settings=settings, embedder=embedder, reranker=reranker)
    done = {document.uri for document in base.documents()}
    missing = [unit for unit in units_of(found) if unit.uri not in done]
    for start in range(0, len(missing), BATCH):
        progress(f"{found.name}: {len(missing) - start:,} of {len(missing) + len(done):,} to index")
        add(base, missing[start : start + BATCH])
    return base


@dataclass(frozen=True, slots=True)
class Unit:
    """What becomes a document: a passage, or a file with all of its passages."""

    uri: str
    passages: tuple[EvaluationPassage, ...]
    text: str | None = None
    """The whole file; None for a passage by itself."""

    def prepared(self, counter: TokenCounter, context: ContextLine) -> Prepared:
        """Return it in the form in which the indexer hands over a document."""
        if self.text is None:
            return as_document(self.passages[0], counter, context)
        return as_file(self.uri, self.text, self.passages, counter, context)


def units_of(found: EvaluationSet) -> list[Unit]:
    """Return the documents that a set becomes."""
    if not found.documents:
        return [Unit(passage.id, (passage,)) for passage in found.passages]
    parts: dict[str, list[EvaluationPassage]] = {}
    for passage in found.passages:
        parts.setdefault(passage.document, []).append(passage)
    return [Unit(id_, tuple(own), found.documents[id_]) for id_, own in parts.items()]


def add(base: localrag.KnowledgeBase, units: Sequence[Unit]) -> None:
    """Write documents."""
    context = base.settings.context_line
    prepared = [unit.prepared(base.embedder.counter, context) for unit in units]
    vectors, _ = embed_all(base.database.connection, base.embedder, prepared)
    for document, own in zip(prepared, vectors, strict=True):
        write_document(base.database, document, own)


def as_file(
    uri: str,
    text: str,
    passages: Sequence[EvaluationPassage],
    counter: TokenCounter,
    context: ContextLine,
) -> Prepared:
    """Return a file that is cut where the passages lie, with their ids as metadata."""
    document = read_nameless(uri, text)
    spans = [(passage.start, passage.end) for passage in passages]
    sections, chunks = cut_at(document, counter, spans, context)
    words = tuple(words_of(chunk.context, chunk.preamble, chunk.text) for chunk in chunks)
    row = row_of(uri, document.title, document.media_type, text)
    ids = {"passages": [passage.id for passage in passages]}
    return Prepared(row, metadata=ids, sections=sections, chunks=chunks, words=words)


def row_of(uri: str, title: str, media_type: str, text: str) -> DocumentRow:
    """Return the row of a document that is not a file on the disk."""
    return DocumentRow(
        id=0,
        uri=uri,
        title=title,
        media_type=media_type,
        content_hash=digest(text),
        size=len(text.encode()),
        modified_at=None,
    )


def as_document(
    passage: EvaluationPassage, counter: TokenCounter, context: ContextLine = "full"
) -> Prepared:
    """Return a passage in the form in which the indexer hands over a document."""
    title = "" if context == "none" else passage.title
    chunk = Chunk(
        ordinal=0,
        kind="paragraph",
        start=0,
        end=len(passage.text),
        text=passage.text,
        headings=(),
        context=title,
        section=0,
        tokens=counter.count(f"{title}\n{passage.text}"),
        embeds_context=context != "words",
    )
    row = row_of(passage.id, passage.title, "text/plain", passage.text)
    section = Section(heading=passage.title, level=0, parent=None, first_chunk=0, last_chunk=0)
    words = words_of(chunk.context, chunk.preamble, chunk.text)
    return Prepared(row, metadata={}, sections=(section,), chunks=(chunk,), words=(words,))


def beginning(text: str, counter: TokenCounter) -> str:
    """Return as much of `text` as the model reads, as published figures are made.

    The product never embeds a text that is too long: it makes smaller chunks. Here the passages
    are given, and some are longer than 512 tokens.
    """
    longest = counter.max_tokens
    while longest and counter.count(text) > counter.max_tokens:
        text = text[: int(counter.token_starts(text)[longest])]
        longest -= 1  # what is left may be cut into other tokens than before
    return text


def passage_ids(base: localrag.KnowledgeBase) -> dict[int, str]:
    """Return the passage of every chunk."""
    rows = base.database.connection.execute(
        "SELECT chunks.id, coalesce("
        "    json_extract(documents.metadata, '$.passages[' || chunks.ordinal || ']'),"
        "    documents.uri) FROM chunks JOIN documents ON documents.id = document_id"
    )
    return {int(chunk): str(passage) for chunk, passage in rows}


def fingerprint(found: EvaluationSet, embedder: CachedEmbedder) -> str:
    """Return a short name for everything that decides what is in the file."""
    package = Path(localrag.__file__).parent
    patterns = (*SOURCES_OF_ROWS, *(SOURCES_OF_CONTEXT if found.documents else ()))
    sources = sorted(path for pattern in patterns for path in package.glob(pattern))
    parts = [embedder.fingerprint, *(path.read_text(encoding="utf-8") for path in sources)]
    parts += [f"{passage.id}\0{passage.title}\0{passage.text}" for passage in found.passages]
    return digest("\0".join(parts))


def digest(text: str) -> str:
    """Return the start of a text's SHA-256, long enough to tell all our texts apart."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
