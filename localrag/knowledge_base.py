"""The facade: one object for one file."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Literal, Self

from localrag import __version__
from localrag.answer.extract import Extract, answer_text
from localrag.chunking.statistics import statistics_of
from localrag.config import Settings
from localrag.errors import (
    KnowledgeBaseError,
    LocalragError,
    NotAKnowledgeBaseError,
    SettingsError,
)
from localrag.inference.choice import given_model, require_room, stored_model
from localrag.inference.load import (
    load_ahead,
    load_embedder,
    load_reranker,
    open_embedder,
    open_reranker,
)
from localrag.ingest.discover import Root, path_of, uri_of
from localrag.ingest.fingerprint import fingerprint_of, model_name, require_fingerprint
from localrag.ingest.memory import add_document
from localrag.ingest.patterns import Wanted
from localrag.ingest.pipeline import own_files, sync
from localrag.ingest.reembed import dry_run as plan_reembedding
from localrag.ingest.reembed import reembed
from localrag.ingest.removal import remove_named
from localrag.ingest.sources import remembered, roots_of, scope_of
from localrag.ingest.watch import watched
from localrag.records import Answer, Filter, Properties, SearchResult, Status
from localrag.search.pipeline import Plan, hits, search_stages
from localrag.search.run import run_stages
from localrag.store.chunks import chunk_sizes, fetch_chunks
from localrag.store.compact import compact
from localrag.store.database import Database
from localrag.store.documents import (
    SourceRow,
    list_documents,
    list_skipped,
    list_sources,
)
from localrag.store.settings import all_settings, get_setting, set_setting
from localrag.store.status import read_status, verify
from localrag.store.traces import fetch_trace, insert_trace, last_trace_id
from localrag.store.vector_search import VectorSearch
from localrag.store.vectors import create_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from localrag.chunking.statistics import ChunkStatistics
    from localrag.inference.protocols import Embedder, Reranker
    from localrag.records import (
        Metadata,
        ProgressCallback,
        ReembedReport,
        SearchState,
        Skipped,
        Stage,
        StoredChunk,
        SyncReport,
        Trace,
    )
    from localrag.search.pipeline import CopiesMode, Mode
    from localrag.store.documents import DocumentRow

__all__ = ["KnowledgeBase", "reembed_file"]


class KnowledgeBase:
    """A knowledge base file with the models that fit it.

    Use it as a context manager, or call `close`. Reading is safe on any thread; writing threads of
    one process queue. Models are loaded when they are first needed.

    Args:
        path: the file; it is made when it does not exist, unless `read_only`.
        read_only: never write, not even the query log. Works on read-only media.
        settings: sizes and limits; the file keeps the ones it was made with.
        embedder: bi-encoder to use, or the name or folder of one; the file's own when None, and
            for a new file the bundled one. A name is kept in the file.
        reranker: cross-encoder to use, likewise. For a file that is not new, its name is kept by
            `sync`.

    Raises:
        NotAKnowledgeBaseError: the file is something else, or damaged.
        SettingsError: another way of cutting is asked for than the file was made with, or larger
            chunks than the bi-encoder reads.
        ModelError: a model is not on this machine.
        FingerprintError: its vectors were made with another model or analysis.
        RemoteError: a new file is to be made with a model on a server that cannot be asked.
        KnowledgeBaseError: it cannot be opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        settings: Settings | None = None,
        embedder: Embedder | str | os.PathLike[str] | None = None,
        reranker: Reranker | str | os.PathLike[str] | None = None,
    ) -> None:
        settings = settings or Settings()
        # What cannot work is said before a file is made for nothing.
        bi_encoder, embedder_name = given_model(
            "embedder", embedder or settings.embedder, open_embedder
        )
        cross_encoder, reranker_name = given_model(
            "reranker", reranker or settings.reranker, open_reranker
        )
        self._names = {"embedder": embedder_name, "reranker": reranker_name}
        self._exchange = threading.Lock()
        self._loading: threading.Thread | None = None
        try:
            if not read_only and not Path(path).exists():
                bi_encoder = bi_encoder or load_embedder()
                _ = bi_encoder.dimensions  # a server that is not there leaves no empty file
                require_room(bi_encoder, settings.chunk_tokens)
            self.database = Database(path, read_only=read_only)
        except BaseException:
            if bi_encoder is not None:
                bi_encoder.close()
            raise
        try:
            stored = self._stored()
            base = self.database.path.name
            self.embedder: Embedder = bi_encoder or stored_model(
                "embedder", stored, load_embedder, base
            )
            self.reranker: Reranker = cross_encoder or stored_model(
                "reranker", stored, load_reranker, base
            )
            self._check_fingerprint()
            self.settings = self._stored_sizes(settings)
            self.vectors = VectorSearch(
                self.database,
                matrix_from=settings.vector_matrix_from,
                memory_bytes=settings.vector_memory_bytes,
            )
            if not read_only:
                self._prepare()
        except BaseException:
            self.database.close()
            for model in (bi_encoder, cross_encoder):
                if model is not None:
                    model.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the memory of models and vectors."""
        if self._loading is not None:
            self._loading.join()  # what is loaded after closing would never be released
            self._loading = None
        self.vectors.close()
        self.database.close()
        self.embedder.close()
        self.reranker.close()

    # Writing

    def sync(  # noqa: PLR0913 - each named by its keyword
        self,
        *paths: str | os.PathLike[str],
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_bytes: int | None = None,
        dry_run: bool = False,
        metadata: Metadata | None = None,
        labels: Iterable[str] | None = None,
        path_patterns: Iterable[str] | None = None,
        progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> SyncReport:
        """Make the file hold exactly the documents below `paths`; touch only what changed.

        Documents from other places stay. A file that cannot be read is skipped and recorded. How
        the paths were indexed is remembered: `refresh` repeats it.

        Args:
            paths: files and folders. Hidden files below them are left out, and what .gitignore and
                .localragignore files say.
            include: patterns in the syntax of .gitignore, relative to each path; where there are
                any, only files that they name are taken.
            exclude: such patterns for what is left out.
            max_bytes: size above which files are skipped, instead of `Settings.max_file_bytes`.
            dry_run: say what would happen, and write nothing.
            metadata: properties of every document below `paths`; they win over its own.
            labels: access labels of every document below `paths`, for `search(labels=...)`.
            path_patterns: patterns within `paths` whose ``{name}`` parts become metadata, such as
                ``clients/{client}/{year}/**``. These three are kept with each path: None leaves
                what an earlier run said, something empty takes it back.
            progress: called after each file.
            cancelled: asked before each file; when true, the run stops.

        Raises:
            LocalragError: a path does not exist.
            SettingsError: a pattern that is none, or metadata that JSON cannot hold.
            BusyError: another process is indexing into this file.
            ReadOnlyError: the file is open read-only.
            Cancelled: `cancelled` returned true; what was finished is kept.
        """
        for path in paths:
            if not os.path.lexists(path):
                raise LocalragError(f"{path} does not exist. Check the path and run it again.")
        wanted = Wanted(tuple(include), tuple(exclude))
        wanted.check()
        if not dry_run:
            self._keep_names()
        rows = [
            SourceRow(uri_of(Path(path)), wanted.include, wanted.exclude, max_bytes)
            for path in paths
        ]
        limit = max_bytes or self.settings.max_file_bytes
        roots = [Root(Path(path), limit, wanted) for path in paths]
        return self._sync(
            roots,
            remember=rows,
            properties=_properties(metadata, labels, path_patterns),
            dry_run=dry_run,
            progress=progress,
            cancelled=cancelled,
        )

    def refresh(
        self,
        *paths: str | os.PathLike[str],
        dry_run: bool = False,
        progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> SyncReport:
        """Repeat `sync` for what was indexed before, in the same way: all of it, or some paths.

        A folder that is not there any more is reported as skipped, and its documents stay: a disk
        may not be plugged in. `remove` takes them out.

        Args:
            paths: folders or files that were indexed, or that others were indexed below.
            dry_run: say what would happen, and write nothing.
            progress: called after each file.
            cancelled: asked before each file; when true, the run stops.

        Raises:
            LocalragError: a path was not indexed.
            BusyError, ReadOnlyError, Cancelled: as in `sync`.
        """
        with self.database.reading() as connection:
            stored = list_sources(connection)
        rows = remembered(stored, [uri_of(Path(path)) for path in paths])
        roots = roots_of(rows, self.settings.max_file_bytes)
        return self._sync(roots, dry_run=dry_run, progress=progress, cancelled=cancelled)

    def watch(
        self,
        *paths: str | os.PathLike[str],
        progress: ProgressCallback | None = None,
        stop: Event | None = None,
    ) -> Iterator[SyncReport]:
        """Refresh now and after every change on the disk, and yield the report of each run.

        Needs the extra ``watch``. Ends when `stop` is set, or by an exception such as
        KeyboardInterrupt.

        Args:
            paths: as in `refresh`.
            progress: called after each file.
            stop: set it on another thread to end.

        Raises:
            LocalragError: the extra is not installed, or a path was not indexed.
        """
        with self.database.reading() as connection:
            stored = list_sources(connection)
        rows = remembered(stored, [uri_of(Path(path)) for path in paths])
        return watched(
            [path_of(row.path) for row in rows],
            own_files(self.database.path),
            stop or Event(),
            lambda: self.refresh(*paths, progress=progress),
        )

    def add(
        self,
        content: str | bytes,
        *,
        uri: str,
        title: str | None = None,
        metadata: Metadata | None = None,
    ) -> Literal["added", "updated", "unchanged"]:
        """Add a document from memory, or replace the one that was added under the same name.

        No `sync` removes it, and `remove` does.

        Args:
            content: text, or the bytes of a file of any supported format.
            uri: the name under which it is found and cited. Its suffix, such as ``.md``, says how
                to read it; without one it is plain text.
            title: instead of the one that stands in it.
            metadata: added to what stands in it.

        Raises:
            ReadError: there is no document in `content`.
            LocalragError: a file was indexed under this name.
            ReadOnlyError: the file is open read-only.
        """
        return add_document(
            self.database,
            self.embedder,
            self.settings,
            content,
            uri=uri,
            title=title,
            metadata=metadata,
        )

    def reembed(
        self,
        embedder: Embedder,
        *,
        dry_run: bool = False,
        progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> ReembedReport:
        """Change the file, and this object, over to another bi-encoder.

        Searches go on with the former vectors until all new ones are there; one transaction then
        exchanges them. What an interrupted run has embedded is used by the next.

        Args:
            embedder: the bi-encoder to change over to.
            dry_run: only check and count; write nothing.
            progress: called after each batch, `done` being the texts that have their vector.
            cancelled: asked before each batch; when true, the run stops.

        Raises:
            ModelError: the model reads fewer tokens than a chunk of the file has, or fails.
            BusyError: another process is indexing into this file.
            ReadOnlyError: the file is open read-only.
            Cancelled: `cancelled` returned true; what was embedded is kept.
        """
        if dry_run:
            with self.database.reading():
                return plan_reembedding(self.database, embedder)
        return reembed(
            self.database,
            embedder,
            progress=progress,
            cancelled=cancelled,
            swapping=self._exchanging(embedder),
        )

    @contextmanager
    def _exchanging(self, embedder: Embedder) -> Iterator[None]:
        """Let no search begin between the commit of new vectors and the use of their model."""
        with self._exchange:
            yield
            former, self.embedder = self.embedder, embedder
        if former is not embedder:
            former.close()

    def remove(self, *names: str | os.PathLike[str]) -> tuple[str, ...]:
        """Remove documents by URI, or all below a folder, and return their URIs.

        What was indexed from there is forgotten. A file that still lies below another folder that
        was indexed comes back with the next run over it. `compact` takes the text out of the bytes.

        Raises:
            ReadOnlyError: the file is open read-only.
        """
        return remove_named(self.database, names)

    def compact(self) -> int:
        """Rebuild the file without what was deleted, and return the number of bytes it lost.

        Raises:
            BusyError: another process is writing.
            ReadOnlyError: the file is open read-only.
            KnowledgeBaseError: the disk has no room for a second copy; nothing is lost.
        """
        return compact(self.database)

    # Reading

    def search(  # noqa: PLR0913 - each is one choice that a caller has
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode = "hybrid",
        rerank: bool = True,
        context: int = 0,
        budget: float | None = None,
        where: str | None = None,
        path: str | Iterable[str] | None = None,
        labels: Iterable[str] | None = None,
        copies: CopiesMode = "together",
    ) -> SearchResult:
        """Return the chunks that fit `query` best. Any string is a legal query.

        Args:
            query: words, a question, anything.
            limit: most results. Matched chunks that follow each other in one section are one.
            mode: ``"lexical"`` (BM25), ``"vector"``, or ``"hybrid"`` (both, fused).
            rerank: whether the cross-encoder reads the best candidates; without it hits have no
                relevance.
            context: chunks before and after each hit that are shown with it.
            budget: seconds that the cross-encoder may read candidates, best first; those for which
                no time is left follow behind, without a relevance. None reads all.
            where: expression over the documents' properties: ``year >= 2024 and lang = "ja"``.
            path: pattern of paths, or several of which one must match: ``"notes/**"``.
            labels: of the documents with access labels, only those that share one.
            copies: ``"together"`` makes texts that say the same one result, ``"versions"`` those
                that differ in a figure or a name too, ``"apart"`` none.

        Raises:
            FilterError: `where` cannot be understood.
            SettingsError: `mode` or `copies` is none of the three, or a number is too small.
        """
        plan = Plan(
            mode=mode,
            rerank=rerank,
            limit=limit,
            neighbours=context,
            budget=budget,
            filter=_filter(where, path, labels),
            copies=copies,
        )
        state, trace = self._run(plan, query)
        return SearchResult(state.query, hits(state), trace)

    def ask(  # noqa: PLR0913 - each is one choice that a caller has
        self,
        question: str,
        *,
        mode: Mode = "hybrid",
        rerank: bool = True,
        budget: float | None = None,
        where: str | None = None,
        path: str | Iterable[str] | None = None,
        labels: Iterable[str] | None = None,
    ) -> Answer:
        """Return the sentences that answer `question`, each cited, or an honest "not found".

        Args:
            question: in any language that the documents are in.
            mode: how candidates are retrieved, as in `search`.
            rerank: whether candidates are reranked before the answer is taken from the best.
            budget: seconds that the cross-encoder may read candidates, as in `search`.
            where: which documents may answer, as in `search`; so are `path` and `labels`.
            path: pattern of paths, or several.
            labels: access labels.

        Raises:
            FilterError: `where` cannot be understood.
        """
        plan = Plan(
            mode=mode,
            rerank=rerank,
            limit=self.settings.answer_passages,
            neighbours=self.settings.answer_neighbours,
            token_budget=self.settings.passage_tokens,
            budget=budget,
            filter=_filter(where, path, labels),
        )
        extract = Extract(
            self.reranker,
            min_relevance=self.settings.min_relevance,
            limit=self.settings.answer_sentences,
        )
        state, trace = self._run(plan, question, extract)
        return Answer(
            question=state.query,
            text=answer_text(state),
            found=bool(state.sentences),
            citations=state.sentences,
            trace=trace,
        )

    def trace(self, id_: int | None = None) -> Trace | None:
        """Return the trace of a query by its id, or of the last query; None if there is none."""
        with self.database.reading() as connection:
            wanted = last_trace_id(connection) if id_ is None else id_
            return None if wanted is None else fetch_trace(connection, wanted)

    def chunks(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, as a trace names them; one that is gone is left out."""
        with self.database.reading() as connection:
            return fetch_chunks(connection, ids)

    def documents(self) -> list[DocumentRow]:
        """Return all documents in the order of their URIs."""
        with self.database.reading() as connection:
            return list_documents(connection)

    def skipped(self) -> list[Skipped]:
        """Return the sources that could not be indexed, with the reasons."""
        with self.database.reading() as connection:
            return list_skipped(connection)

    def status(self) -> Status:
        """Return what the file holds."""
        with self.database.reading() as connection:
            return replace(
                read_status(connection, self.database.path),
                vector_memory=self.vectors.bytes,
                vector_memory_open=self.vectors.bytes_needed(connection),
            )

    def chunk_statistics(self) -> ChunkStatistics:
        """Return how large the chunks are, and what about them is worth a look."""
        with self.database.reading() as connection:
            return statistics_of(chunk_sizes(connection), self.embedder.counter, self.settings)

    def verify(self) -> list[str]:
        """Return what is wrong with the file, in words; an empty list when it is whole."""
        with self.database.reading() as connection:
            return verify(connection)

    # Inside

    def _sync(  # noqa: PLR0913 - what `sync` and `refresh` share
        self,
        roots: list[Root],
        *,
        remember: Sequence[SourceRow] = (),
        properties: Properties | None = None,
        dry_run: bool,
        progress: ProgressCallback | None,
        cancelled: Callable[[], bool] | None,
    ) -> SyncReport:
        with self.database.reading() as connection:
            stored = list_sources(connection)
        return sync(
            self.database,
            self.embedder,
            self.settings,
            scope_of(roots, stored, self.settings.max_file_bytes),
            version=__version__,
            remember=remember,
            properties=properties,
            progress=progress,
            cancelled=cancelled,
            dry_run=dry_run,
        )

    def _search_stages(self, plan: Plan) -> tuple[Stage, ...]:
        if self._loading is None:
            wanted = (self.embedder, plan.mode != "lexical"), (self.reranker, plan.rerank)
            self._loading = load_ahead(*(model for model, used in wanted if used))
        return search_stages(
            self.database.connection,
            self.embedder,
            self.reranker,
            self.settings,
            plan,
            vectors=self.vectors,
        )

    def _run(self, plan: Plan, query: str, *last: Stage) -> tuple[SearchState, Trace]:
        # One snapshot for all stages: the vectors stay those of the model that embeds the query,
        # though the file is changed over to another one meanwhile.
        with self.database.reading() as connection, connection:
            with self._exchange:
                require_fingerprint(connection, self.embedder, self.database.path.name)
                stages = (*self._search_stages(plan), *last)
            state, trace = run_stages(stages, _legal(query))
        return state, self._keep(trace)

    def _keep(self, trace: Trace) -> Trace:
        """Write the trace down where that is possible: a search must not fail for its log."""
        if not self.settings.keep_traces:
            return trace
        try:
            with self.database.atomic() as connection:
                return replace(trace, id=insert_trace(connection, trace))
        except KnowledgeBaseError:
            return trace

    def _stored(self) -> dict[str, str]:
        with self.database.reading() as connection:
            return all_settings(connection)

    def _keep_names(self) -> None:
        """Note the models that were named, so that the file is opened with them from now on."""
        stored = self._stored()
        changed = {
            key: name for key, name in self._names.items() if name and stored.get(key) != name
        }
        if changed:
            with self.database.atomic() as connection:
                for key, name in changed.items():
                    set_setting(connection, key, name)

    def _check_fingerprint(self) -> None:
        with self.database.reading() as connection:
            stored = get_setting(connection, "fingerprint")
            require_fingerprint(connection, self.embedder, self.database.path.name)
        if stored is None and self.database.read_only:
            raise NotAKnowledgeBaseError(
                f"{self.database.path} is empty. Fill it first: localrag index FOLDER "
                f"--db {self.database.path}"
            )

    def _stored_sizes(self, settings: Settings) -> Settings:
        """Return `settings` with the way of cutting that the file was made with.

        Raises:
            SettingsError: the caller asked for another by name.
        """
        stored = self._stored()
        if "fingerprint" not in stored:
            return settings
        kept = {name: int(stored[name]) for name in CHUNK_SIZES if name in stored}
        ways = {name: stored.get(name, first) for name, first in CHUNK_WAYS.items()}
        for name, value in (kept | ways).items():
            if name in settings.model_fields_set and getattr(settings, name) != value:
                raise SettingsError(
                    f"{self.database.path.name} was made with {name} = {value}. To change it, "
                    "index the documents into a new file: localrag index FOLDER --db NEW.db"
                )
        return settings.model_copy(update=kept | ways)

    def _prepare(self) -> None:
        """Make the vector table and note what the file is made with, once."""
        if "fingerprint" in self._stored():
            return
        dimensions = self.embedder.dimensions  # of a remote model: nobody waits for its answer
        require_room(self.embedder, self.settings.chunk_tokens)
        with self.database.atomic() as connection:
            create_vectors(connection, dimensions, self.settings.vectors)
            set_setting(connection, "fingerprint", fingerprint_of(self.embedder))
            set_setting(connection, "model", model_name(self.embedder))
            for name in (*CHUNK_WAYS, *CHUNK_SIZES):
                set_setting(connection, name, str(getattr(self.settings, name)))
        self._keep_names()


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
    database = Database(path, read_only=dry_run)
    try:
        if dry_run:
            with database.reading():
                return plan_reembedding(database, embedder)
        return reembed(database, embedder, progress=progress, cancelled=cancelled)
    finally:
        database.close()


CHUNK_SIZES = ("chunk_tokens", "overlap_tokens")
"""Settings that belong to the file: chunks of two sizes in one base would compete unfairly."""
CHUNK_WAYS = {"chunking": "structural", "context_line": "full", "vectors": "float32"}
"""How the file's documents are cut and kept, and how they were before that could be chosen."""


def _legal(text: str) -> str:
    """Return a text without halves of surrogate pairs: they cannot be stored or tokenised."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _several(values: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Return one text or several as a tuple; None stays None."""
    if values is None:
        return None
    return tuple(map(_legal, (values,) if isinstance(values, str) else values))


def _filter(
    where: str | None, path: str | Iterable[str] | None, labels: Iterable[str] | None
) -> Filter | None:
    wanted = Filter(_legal(where or ""), _several(path) or (), _several(labels))
    return None if wanted == Filter() else wanted


def _properties(
    metadata: Metadata | None, labels: Iterable[str] | None, patterns: Iterable[str] | None
) -> Properties | None:
    given = Properties(metadata, _several(labels), _several(patterns))
    return None if given == Properties() else given
