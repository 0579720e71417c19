"""The whole story of a run: discover, move, read, cut, embed, write; then remove what is gone."""

from __future__ import annotations

import time
from contextlib import closing, nullcontext
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Final, TypeGuard

from localrag.errors import Cancelled
from localrag.inference.session import usable_cores
from localrag.ingest.discover import Source, discover, uri_of
from localrag.ingest.fingerprint import require_fingerprint
from localrag.ingest.look_ahead import look_ahead
from localrag.ingest.moves import find_moves
from localrag.ingest.prepare import Prepared, Preparer, Touched
from localrag.ingest.readers import COSTLY, Readers
from localrag.ingest.short_forms import catch_up
from localrag.ingest.sources import below
from localrag.ingest.tally import Tally
from localrag.ingest.write import embed_all, move_document, remove_document, write_document
from localrag.records import Skipped
from localrag.store.documents import (
    DocumentRow,
    clear_skipped,
    delete_sources,
    list_documents,
    record_skipped,
    save_sources,
    skipped_attempts,
    touch_document,
)
from localrag.store.lock import SUFFIX
from localrag.store.properties import assign_below, keep_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder
    from localrag.ingest.sources import Scope
    from localrag.records import ProgressCallback, Properties, SyncReport
    from localrag.store.database import Database
    from localrag.store.documents import SourceRow

__all__ = ["own_files", "sync"]

BATCH_CHUNKS: Final = 64
"""Chunks that are embedded together, over documents: enough to sort them by length, few enough
that an interrupted run loses a second or two."""

MOST_READERS: Final = 4
"""Threads that read ahead, each with a process of its own where the format asks for one."""

CLOCK_NANOSECONDS: Final = 2_000_000_000
"""The coarsest clock that dates files (FAT): what was changed that shortly before it was read may
have changed again without a new date."""


def sync(  # noqa: PLR0913 - the run's parts, each named by its keyword
    database: Database,
    embedder: Embedder,
    settings: Settings,
    scope: Scope,
    *,
    version: str,
    remember: Sequence[SourceRow] = (),
    properties: Properties | None = None,
    progress: ProgressCallback | None = None,
    cancelled: Callable[[], bool] | None = None,
    dry_run: bool = False,
) -> SyncReport:
    """Make the file hold exactly the documents that `scope` covers, and say what changed.

    `properties` are kept for each of the paths: later runs without them apply them again.
    Documents from elsewhere stay as they are. A file that cannot be read is skipped and recorded;
    the run goes on. A dry run reads the files too, and writes nothing. `version` is localrag's: a
    later one tries again what cost a reader its life. `remember` says how a later run repeats this.

    Raises:
        BusyError: another process is indexing into this file.
        FingerprintError: the file has come to be another model's since it was opened.
        ReadOnlyError: the file may not be written, unless `dry_run`.
        Cancelled: `cancelled` returned true. Finished documents are kept; run again to go on.
    """
    with nullcontext() if dry_run else database.sole_writer(), Readers(settings) as readers:
        # Another process may have changed the file over to another model since it was opened.
        require_fingerprint(database.connection, embedder, database.path.name)
        if remember and not dry_run:
            with database.atomic() as connection:
                save_sources(connection, remember)
                if properties is not None:
                    for source in remember:
                        keep_properties(connection, source.path, properties)
                        assign_below(connection, source.path)
        prepare = Preparer(readers, embedder.counter, settings)
        run = _Run(
            database,
            embedder,
            scope,
            prepare,
            version,
            cancelled,
            dry_run=dry_run,
            tally=Tally(progress),
        )
        return run.all()


@dataclass(slots=True)
class _Run:
    """The state of one run."""

    database: Database
    embedder: Embedder
    scope: Scope
    prepare: Preparer
    version: str
    """Of localrag: another one may read what this one could not."""
    cancelled: Callable[[], bool] | None
    dry_run: bool
    tally: Tally
    stored: dict[str, DocumentRow] = field(default_factory=dict)
    """The documents as they were when the run began, by URI."""
    ledger: dict[str, tuple[Skipped, str]] = field(default_factory=dict)
    """What was skipped before, by URI, and which attempt that was."""
    pending: list[Prepared] = field(default_factory=list)
    """What is to be embedded next."""

    def all(self) -> SyncReport:
        if not self.dry_run:
            catch_up(self.database, self.check_cancelled)
        self.stored = {row.uri: row for row in list_documents(self.database.connection)}
        self.ledger = skipped_attempts(self.database.connection)
        own = own_files(self.database.path)
        found = [item for item in discover(self.scope.roots) if item.uri not in own]
        self.tally.total = len(found) + len(self.scope.missing)
        self.report_missing()
        vanished = self.vanished({item.uri for item in found})
        self.move([item for item in found if isinstance(item, Source)], vanished)
        self.read_all([item for item in found if self.is_to_be_read(item)])
        self.remove(vanished)
        self.clear_ledger()
        return self.tally.report([item.uri for item in found], dry_run=self.dry_run)

    # Before anything is read

    def report_missing(self) -> None:
        """Say which folders are not there. A disk that is not plugged in has lost nothing."""
        for uri in self.scope.missing:
            detail = "it is not there; its documents stay until you run: localrag remove PATH"
            self.skip(Skipped(uri, "missing", detail))

    def vanished(self, seen: set[str]) -> dict[str, DocumentRow]:
        """Return the documents below the run's folders whose files are gone, by URI."""
        return {
            uri: row
            for uri, row in self.stored.items()
            if uri not in seen and row.origin == "file" and self.scope.covers(uri)
        }

    def move(self, found: list[Source], vanished: dict[str, DocumentRow]) -> None:
        """Let vanished documents follow their files, and take them out of `vanished`."""
        read_at = time.time_ns()
        new = {source.uri: source for source in found if source.uri not in self.stored}
        for uri, row in find_moves(new.values(), vanished.values()).items():
            self.check_cancelled()
            counter = self.embedder.counter
            if self.dry_run or move_document(self.database, row, new[uri], read_at, counter):
                del vanished[row.uri]
                self.tally.move(row.uri, uri)

    def is_to_be_read(self, item: Source | Skipped) -> TypeGuard[Source]:
        """Whether a file must be read; the others are dealt with here."""
        if item.uri in self.tally.outcome:  # it was moved
            return False
        stored = self.stored.get(item.uri)
        if isinstance(item, Source) and not self.is_known(item, stored):
            return True
        self.check_cancelled()
        if stored is not None and stored.origin != "file":
            detail = "a document that a program added has this name; it stays until it is removed"
            self.skip(Skipped(item.uri, "name taken", detail))
        elif isinstance(item, Skipped):
            # What cannot be opened may be readable again tomorrow: what was indexed of it stays.
            if stored is not None and item.reason != "unreadable":
                self.drop(item.uri)
            self.skip(item)
        elif stored is not None:
            self.tally.finish(item.uri, "unchanged")
        else:
            self.skip(*self.ledger[item.uri])
        return False

    def is_known(self, source: Source, stored: DocumentRow | None) -> bool:
        """Whether an earlier run tells all that reading the file would."""
        if stored is not None:
            return stored.origin != "file" or _is_same_file(stored, source)
        _, attempt = self.ledger.get(source.uri, (None, ""))
        return attempt != "" and attempt == self.attempt(source)

    # Reading ahead, embedding and writing

    def read_all(self, sources: list[Source]) -> None:
        """Read and cut files on other threads while those before them are embedded here."""
        ahead = look_ahead(
            lambda source: self.prepare(source, self.stored.get(source.uri)),
            sources,
            weight=lambda source: source.size,
            threads=max(1, min(MOST_READERS, usable_cores())),
        )
        with closing(ahead):
            try:
                for source, result in ahead:
                    self.check_cancelled()
                    self.take(source, result)
            except BaseException:
                self.prepare.readers.close()  # whoever stops a run does not wait for a slow reader
                raise
        self.flush()

    def take(self, source: Source, result: Prepared | Touched | Skipped) -> None:
        """Deal with one file as it was found to be, as far as is possible before its batch."""
        if isinstance(result, Prepared):
            self.pending.append(result)
            if sum(len(waiting.chunks) for waiting in self.pending) >= BATCH_CHUNKS:
                self.flush()
        elif isinstance(result, Touched):
            if not self.dry_run:
                with self.database.atomic() as connection:
                    touch_document(connection, *astuple(result))
            self.tally.finish(source.uri, "unchanged")
        else:
            # Its bytes were read and hold no document: the old text is not in the file any more.
            if result.reason != "unreadable" and source.uri in self.stored:
                self.drop(source.uri)
            self.skip(result, self.attempt(source) if result.reason in COSTLY else "")

    def flush(self) -> None:
        """Embed what is waiting and write each document in a transaction of its own."""
        batch, self.pending = self.pending, []
        if batch and not self.dry_run:
            vectors, tokens = embed_all(self.database.connection, self.embedder, batch)
            self.tally.tokens += tokens
        for position, prepared in enumerate(batch):
            if not self.dry_run:
                write_document(self.database, prepared, vectors[position])
            self.tally.chunks += len(prepared.chunks)
            uri = prepared.row.uri
            self.tally.finish(uri, "updated" if uri in self.stored else "added")

    # Afterwards

    def remove(self, vanished: Iterable[str]) -> None:
        """Remove documents whose files are gone, but not those of a folder that could not be read.

        Such a folder has not lost its files, nor has a disk that was unplugged after the run began:
        they stay until they can be seen again, or seen to be gone.
        """
        closed = {
            skipped.uri
            for skipped in self.tally.skipped
            if skipped.reason == "unreadable" or skipped.uri in self.scope.uris
        }
        for uri in vanished:
            if not below(uri, closed):
                self.drop(uri)
                self.tally.remove(uri)

    def clear_ledger(self) -> None:
        """Forget what was skipped before and is not any more, and the sources that are gone."""
        still = {skipped.uri for skipped in self.tally.skipped}
        over = [uri for uri in self.ledger if uri not in still and self.scope.covers(uri)]
        if not self.dry_run and (over or self.scope.gone):
            with self.database.atomic() as connection:
                clear_skipped(connection, over)
                delete_sources(connection, self.scope.gone)

    # Small steps

    def check_cancelled(self) -> None:
        if self.cancelled is not None and self.cancelled():
            self.flush()
            raise Cancelled("Stopped. What was indexed is kept; run the same command to go on.")

    def drop(self, uri: str) -> None:
        if not self.dry_run:
            remove_document(self.database, uri)

    def skip(self, skipped: Skipped, attempt: str = "") -> None:
        """Count a file that is no document; write it down, unless the ledger says the same."""
        if not self.dry_run and self.ledger.get(skipped.uri) != (skipped, attempt):
            with self.database.atomic() as connection:
                record_skipped(connection, skipped, attempt)
        self.tally.skip(skipped)

    def attempt(self, source: Source) -> str:
        """Return all that a costly failure depends on; ``""`` where the file may yet change."""
        if source.modified_at + CLOCK_NANOSECONDS >= time.time_ns():
            return ""
        limits = self.prepare.settings
        return (
            f"{source.size} bytes of {source.modified_at}, {limits.reader_seconds} s, "
            f"{limits.reader_memory_bytes} bytes, localrag {self.version}"
        )


def own_files(path: Path) -> set[str]:
    """Return the URIs of the knowledge base itself: it may lie in the folder that it indexes."""
    suffixes = ("", "-wal", "-shm", "-journal", SUFFIX)
    return {uri_of(name) + suffix for name in (path, path.resolve()) for suffix in suffixes}


def _is_same_file(stored: DocumentRow, source: Source) -> bool:
    """Whether a file cannot have changed since it was read (git calls the others racily clean)."""
    return (
        stored.size == source.size
        and stored.modified_at == source.modified_at
        and stored.read_at is not None
        and source.modified_at + CLOCK_NANOSECONDS < stored.read_at
    )
