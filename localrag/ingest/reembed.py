"""Another bi-encoder for a file that exists: embed every text beside the old vectors, exchange.

Searches use the old vectors until one transaction puts the new ones in their place, with the
fingerprint. What was embedded before an interruption is used by the next run.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from localrag.errors import (
    Cancelled,
    FingerprintError,
    KnowledgeBaseError,
    ModelError,
    NotAKnowledgeBaseError,
)
from localrag.ingest.fingerprint import analysis_of, fingerprint_of, model_name
from localrag.records import Progress, ReembedReport
from localrag.store.chunks import count_chunks
from localrag.store.database import Database
from localrag.store.reembedding import (
    begin,
    count_staged,
    count_texts,
    discard,
    exchange,
    pending_texts,
    stage_vectors,
)
from localrag.store.settings import delete_setting, get_setting, set_setting
from localrag.store.vector_forms import stored_form

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from localrag.inference.protocols import Embedder
    from localrag.records import ProgressCallback

__all__ = ["reembed", "reembed_file"]

BATCH_TEXTS: Final = 64
"""Texts embedded together and kept in one transaction: what an interruption can cost."""
PAGE_TEXTS: Final = 512
"""Texts read at a time to count their tokens."""


def reembed(  # noqa: PLR0913 - each named by its keyword
    database: Database,
    embedder: Embedder,
    *,
    dry_run: bool = False,
    progress: ProgressCallback | None = None,
    cancelled: Callable[[], bool] | None = None,
    swapping: AbstractContextManager[object] | None = None,
) -> ReembedReport:
    """Give the file the vectors of `embedder` in place of those it has.

    Args:
        database: the file, open for writing; the model that made it is not needed.
        embedder: the bi-encoder to change over to.
        dry_run: only check and count; write nothing.
        progress: called after each batch with the texts that have their vector.
        cancelled: asked before each batch; when true, the run stops.
        swapping: held while the exchange is committed.

    Raises:
        ModelError: the model reads fewer tokens than a chunk has, or fails.
        FingerprintError: the file was cut or analysed by another version of localrag.
        BusyError: another process is indexing into this file.
        ReadOnlyError: the file is open read-only.
        Cancelled: `cancelled` returned true. What was embedded is kept; run again to go on.
    """
    run = _Run(database, embedder, progress, cancelled)
    if dry_run:
        with database.reading():
            return run.plan()
    database.require_writable()
    with database.sole_writer():
        return run.all(swapping or nullcontext())


def reembed_file(
    path: str | os.PathLike[str],
    embedder: Embedder,
    *,
    dry_run: bool = False,
    progress: ProgressCallback | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> ReembedReport:
    """Change a file over to `embedder`, whose former model need not be here any more.

    Arguments and errors are those of `KnowledgeBase.reembed`.

    Raises:
        KnowledgeBaseError: there is no such file, or it cannot be opened.
    """
    if not Path(path).exists():
        raise KnowledgeBaseError(
            f"{path} does not exist. Make it first: localrag index FOLDER --db {path}"
        )
    with closing(Database(path, read_only=dry_run)) as database:
        return reembed(database, embedder, dry_run=dry_run, progress=progress, cancelled=cancelled)


@dataclass(slots=True)
class _Run:
    """The state of one run."""

    database: Database
    embedder: Embedder
    progress: ProgressCallback | None
    cancelled: Callable[[], bool] | None
    embedded: int = 0
    tokens: int = 0

    def all(self, swapping: AbstractContextManager[object]) -> ReembedReport:
        started = time.perf_counter()
        self.check()
        if not self.needed():
            self.forget()
            return self.report(reused=0, swapped=True, started=started)
        left, _ = self.survey()
        with self.database.atomic() as connection:
            begin(connection, self.target)
        reused = count_texts(self.database.connection) - left
        self.embed_all()
        # A document that was written meanwhile past the lock has no vector yet.
        while not self.exchange(swapping):
            self.embed_all()
        return self.report(reused=reused, swapped=True, started=started)

    def plan(self) -> ReembedReport:
        started = time.perf_counter()
        self.check()
        left, tokens = self.survey() if self.needed() else (0, 0)
        self.embedded, self.tokens = left, tokens
        reused = count_staged(self.database.connection, self.target) if left else 0
        return self.report(reused=reused, swapped=False, started=started)

    def check(self) -> None:
        """Refuse a file that new vectors would not bring up to date."""
        stored = get_setting(self.database.connection, "fingerprint")
        current = fingerprint_of(self.embedder)
        if stored is None:
            raise NotAKnowledgeBaseError(
                f"{self.database.path} is empty. Fill it first: localrag index FOLDER "
                f"--db {self.database.path}"
            )
        if analysis_of(stored) != analysis_of(current):
            raise FingerprintError(
                f"{self.database.path.name} was made with another version of the text analysis, "
                "which new vectors do not change. Index the documents again into a new file: "
                "localrag index FOLDER --db NEW.db",
                stored=stored,
                current=current,
            )

    def needed(self) -> bool:
        stored = get_setting(self.database.connection, "fingerprint")
        return stored != fingerprint_of(self.embedder)

    def forget(self) -> None:
        """Drop the vectors of a third model that an earlier run had begun with."""
        if get_setting(self.database.connection, "reembedding") is not None:
            with self.database.atomic() as connection:
                discard(connection)

    @property
    def target(self) -> str:
        """The model, and the length of its vectors: a server may change it between two runs."""
        return f"{self.embedder.fingerprint} {self.embedder.dimensions}"

    def survey(self) -> tuple[int, int]:
        """Return the texts and tokens left to embed; make sure that the model can read each.

        Before the first is embedded: an hour of work must not end at a chunk that is too long.
        """
        counter = self.embedder.counter
        limit = counter.max_tokens
        chunk_tokens = int(get_setting(self.database.connection, "chunk_tokens") or 0)
        if chunk_tokens > limit:
            raise self.too_long(f"chunks of up to {chunk_tokens} tokens", limit)
        texts = tokens = last = 0
        staged = get_setting(self.database.connection, "reembedding") == self.target
        while page := pending_texts(self.database.connection, last, PAGE_TEXTS, staged=staged):
            self.require_going()
            for text in page:
                length = counter.count(text.passage)
                if length > limit:
                    raise self.too_long(f"a chunk of {length} tokens in {text.uri}", limit)
                tokens += length
            texts += len(page)
            last = page[-1].chunk_id
        return texts, tokens

    def too_long(self, what: str, limit: int) -> ModelError:
        return ModelError(
            f"{self.database.path.name} has {what}, and {model_name(self.embedder)} reads {limit}. "
            "Index the documents into a new file with smaller chunks: localrag index FOLDER "
            f"--db NEW.db --chunk-tokens {limit * 3 // 4}, and the same --model"
        )

    def embed_all(self) -> None:
        """Embed and keep, batch by batch, every text that has no vector yet."""
        last = 0
        texts = count_texts(self.database.connection)
        done = count_staged(self.database.connection, self.target)
        while batch := pending_texts(self.database.connection, last, BATCH_TEXTS):
            self.require_going()
            passages = [text.passage for text in batch]
            vectors = self.embedder.embed_passages(passages)
            hashes = [text.content_hash for text in batch]
            with self.database.atomic() as connection:
                stage_vectors(connection, dict(zip(hashes, vectors, strict=True)))
            last = batch[-1].chunk_id
            self.embedded += len(batch)
            self.tokens += sum(map(self.embedder.counter.count, passages))
            if self.progress is not None:
                told = done + self.embedded
                self.progress(Progress(told, texts, batch[-1].uri, self.embedded, self.tokens))

    def require_going(self) -> None:
        if self.cancelled is not None and self.cancelled():
            raise Cancelled(STOPPED)

    def exchange(self, swapping: AbstractContextManager[object]) -> bool:
        with ExitStack() as held, self.database.atomic() as connection:
            if not exchange(connection, self.embedder.dimensions):
                return False
            set_setting(connection, "fingerprint", fingerprint_of(self.embedder))
            set_setting(connection, "model", model_name(self.embedder))
            delete_setting(connection, "embedder")  # from now on found by its fingerprint
            held.enter_context(swapping)  # released after the commit: the stack is the outer block
        return True

    def report(self, *, reused: int, swapped: bool, started: float) -> ReembedReport:
        connection = self.database.connection
        texts = count_texts(connection)
        return ReembedReport(
            model=model_name(self.embedder),
            dimensions=self.embedder.dimensions,
            chunks=count_chunks(connection),
            texts=texts,
            reused=reused,
            embedded=self.embedded,
            tokens=self.tokens,
            bytes=texts * self.embedder.dimensions * stored_form(connection)[0].component_bytes,
            swapped=swapped,
            seconds=time.perf_counter() - started,
        )


STOPPED: Final = (
    "Stopped. What was embedded is kept, and searches use the former vectors; run the same command "
    "to go on."
)
