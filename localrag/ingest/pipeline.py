"""The whole story of a run: discover, read, cut, embed, write; then remove what is gone."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from localrag.errors import Cancelled
from localrag.ingest.discover import Source, discover, uri_of
from localrag.ingest.prepare import Prepared, prepare_source, read_source
from localrag.ingest.write import embed_all, remove_document, write_document
from localrag.records import Progress, Skipped, SyncReport
from localrag.store.documents import (
    DocumentRow,
    add_sources,
    clear_skipped,
    find_document,
    list_documents,
    list_skipped,
    record_skipped,
    touch_document,
)
from localrag.store.properties import assign_below, keep_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder
    from localrag.records import ProgressCallback, Properties
    from localrag.store.database import Database

__all__ = ["sync"]

BATCH_CHUNKS: Final = 64
"""Chunks that are embedded together, over documents: enough to sort them by length, few enough
that an interrupted run loses a second or two."""


def sync(  # noqa: PLR0913 - the run's parts, each named by its keyword
    database: Database,
    embedder: Embedder,
    settings: Settings,
    paths: Sequence[Path],
    *,
    properties: Properties | None = None,
    progress: ProgressCallback | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SyncReport:
    """Make the file hold exactly the documents that lie below `paths`, and say what changed.

    `properties` are kept for each of the paths: later runs without them apply them again.
    Documents from elsewhere stay as they are. A file that cannot be read is skipped and recorded;
    the run goes on.

    Raises:
        BusyError: another process is indexing into this file.
        Cancelled: `cancelled` returned true. Finished documents are kept; run again to go on.
    """
    with database.sole_writer():
        run = _Run(database, embedder, settings, progress, cancelled)
        if properties is not None:
            run.describe(paths, properties)
        return run.all(paths)


@dataclass(slots=True)
class _Run:
    """The state of one run."""

    database: Database
    embedder: Embedder
    settings: Settings
    progress: ProgressCallback | None
    cancelled: Callable[[], bool] | None
    outcome: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    skipped: list[Skipped] = field(default_factory=list)
    pending: list[Prepared] = field(default_factory=list)
    done: int = 0
    total: int = 0
    chunks: int = 0
    tokens: int = 0

    def all(self, paths: Sequence[Path]) -> SyncReport:
        started = time.perf_counter()
        limit = self.settings.max_file_bytes
        own = own_files(self.database.path)
        found = [item for item in discover(paths, max_bytes=limit) if item.uri not in own]
        self.total = len(found)
        with self.database.atomic() as connection:
            add_sources(connection, [uri_of(path) for path in paths])
        for item in found:
            self.take(item)
        self.flush()
        self.remove_vanished(paths, {item.uri for item in found})
        return SyncReport(
            **{name: tuple(uris) for name, uris in self.outcome.items()},
            skipped=tuple(self.skipped),
            chunks=self.chunks,
            tokens=self.tokens,
            seconds=time.perf_counter() - started,
        )

    def describe(self, paths: Sequence[Path], properties: Properties) -> None:
        """Keep what is said of the sources, and say it of the documents that are there already."""
        with self.database.atomic() as connection:
            for uri in map(uri_of, paths):
                keep_properties(connection, uri, properties)
                assign_below(connection, uri)

    def take(self, item: Source | Skipped) -> None:
        """Deal with one file, as far as is possible before its batch is full."""
        if self.cancelled is not None and self.cancelled():
            self.flush()
            raise Cancelled("Stopped. What was indexed is kept; run the same command to go on.")
        stored = find_document(self.database.connection, item.uri)
        if isinstance(item, Skipped):
            # What cannot be opened may be readable again tomorrow: what was indexed of it stays.
            if stored is not None and item.reason != "unreadable":
                remove_document(self.database, item.uri)
            self.skip(item)
            return
        if stored is not None and _same_file(stored, item):
            self.unchanged(item)
            return
        self.read(item, stored)

    def read(self, source: Source, stored: DocumentRow | None) -> None:
        data = read_source(source)
        if isinstance(data, Skipped):
            self.skip(data)
            return
        if stored is not None and stored.content_hash == sha256(data).hexdigest():
            with self.database.atomic() as connection:
                touch_document(connection, stored.id, source.modified_at)
            self.unchanged(source)
            return
        prepared = prepare_source(source, data, self.embedder.counter, self.settings)
        if isinstance(prepared, Skipped):
            # Its bytes were read and hold no document: the old text is not in the file any more.
            if stored is not None:
                remove_document(self.database, source.uri)
            self.skip(prepared)
            return
        self.outcome["added" if stored is None else "updated"].append(source.uri)
        self.pending.append(prepared)
        if sum(len(waiting.chunks) for waiting in self.pending) >= BATCH_CHUNKS:
            self.flush()

    def flush(self) -> None:
        """Embed what is waiting and write each document in a transaction of its own."""
        batch, self.pending = self.pending, []
        if not batch:
            return
        vectors, tokens = embed_all(self.database.connection, self.embedder, batch)
        self.tokens += tokens
        for prepared, own in zip(batch, vectors, strict=True):
            write_document(self.database, prepared, own)
            self.chunks += len(prepared.chunks)
            self.report(prepared.row.uri)

    def skip(self, skipped: Skipped) -> None:
        with self.database.atomic() as connection:
            record_skipped(connection, skipped)
        self.skipped.append(skipped)
        self.report(skipped.uri)

    def unchanged(self, source: Source) -> None:
        self.outcome["unchanged"].append(source.uri)
        self.report(source.uri)

    def report(self, uri: str) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(Progress(self.done, self.total, uri, self.chunks, self.tokens))

    def remove_vanished(self, paths: Sequence[Path], seen: set[str]) -> None:
        """Remove documents below `paths` whose files are gone, and their lines in the ledger."""
        roots = [uri_of(path) for path in paths]
        # A folder that cannot be opened has not lost its files, nor has a disk that was unplugged
        # after the run began: they stay until they can be seen again, or seen to be gone.
        closed = [
            skipped.uri
            for skipped in self.skipped
            if skipped.reason == "unreadable" or skipped.uri in roots
        ]
        for document in list_documents(self.database.connection):
            gone = document.uri not in seen and not _below(document.uri, closed)
            if gone and _below(document.uri, roots):
                remove_document(self.database, document.uri)
                self.outcome["removed"].append(document.uri)
        still_skipped = {skipped.uri for skipped in self.skipped}
        for skipped in list_skipped(self.database.connection):
            if skipped.uri not in still_skipped and _below(skipped.uri, roots):
                with self.database.atomic() as connection:
                    clear_skipped(connection, skipped.uri)


def own_files(path: Path) -> set[str]:
    """Return the URIs of the knowledge base itself: it may lie in the folder that it indexes."""
    return {uri_of(path) + suffix for suffix in ("", "-wal", "-shm", "-journal")}


def _same_file(stored: DocumentRow, source: Source) -> bool:
    return stored.size == source.size and stored.modified_at == source.modified_at


def _below(uri: str, roots: Sequence[str]) -> bool:
    return any(uri == root or uri.startswith(root.rstrip(os.sep) + os.sep) for root in roots)
