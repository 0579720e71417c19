"""The facade: one object for one file, and all that can be asked of it."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Literal

from localrag import __version__
from localrag.ingest import lazy as ingest
from localrag.opening import keep_names
from localrag.records import Answer, SearchResult
from localrag.search.plan import Plan
from localrag.session import Session
from localrag.store.chunks import chunk_sizes, fetch_chunks
from localrag.store.compact import compact
from localrag.store.documents import list_documents, list_skipped
from localrag.store.status import read_status, verify
from localrag.store.traces import fetch_trace, last_trace_id
from localrag.text.arguments import filter_of, properties_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from localrag.chunking.statistics import ChunkStatistics
    from localrag.inference.protocols import Embedder
    from localrag.ingest.glossary import Glossary
    from localrag.records import (
        Metadata,
        ProgressCallback,
        ReembedReport,
        Skipped,
        Status,
        StoredChunk,
        SyncReport,
        Trace,
    )
    from localrag.search.plan import CopiesMode, ExpandMode, Mode
    from localrag.store.documents import DocumentRow

__all__ = ["KnowledgeBase"]


class KnowledgeBase(Session):
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
        rows = ingest.named(paths, include=include, exclude=exclude, max_bytes=max_bytes)
        if not dry_run:
            keep_names(self.database, self._names)
        return self._sync(
            rows,
            version=__version__,
            remember=rows,
            properties=properties_of(metadata, labels, path_patterns),
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
        return self._sync(
            self._remembered(paths),
            version=__version__,
            dry_run=dry_run,
            progress=progress,
            cancelled=cancelled,
        )

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
        return ingest.watched(
            [ingest.path_of(row.path) for row in self._remembered(paths)],
            ingest.own_files(self.database.path),
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
        return ingest.add_document(
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
        return ingest.reembed(
            self.database,
            embedder,
            dry_run=dry_run,
            progress=progress,
            cancelled=cancelled,
            swapping=self._exchanging(embedder),
        )

    def remove(self, *names: str | os.PathLike[str]) -> tuple[str, ...]:
        """Remove documents by URI, or all below a folder, and return their URIs.

        What was indexed from there is forgotten. A file that still lies below another folder that
        was indexed comes back with the next run over it. `compact` takes the text out of the bytes.

        Raises:
            ReadOnlyError: the file is open read-only.
        """
        return ingest.remove_named(self.database, names)

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
        expand: ExpandMode | None = None,
        tokens: int | None = None,
        per_document: int | None = None,
        budget: float | None = None,
        where: str | None = None,
        path: str | Iterable[str] | None = None,
        labels: Iterable[str] | None = None,
        copies: CopiesMode = "together",
        operators: bool = False,
    ) -> SearchResult:
        """Return the chunks that fit `query` best. Any string is a legal query.

        Args:
            query: words, a question, anything.
            limit: most results. Matched chunks that follow each other in one section are one.
            mode: ``"lexical"`` (BM25), ``"vector"``, or ``"hybrid"`` (both, fused).
            rerank: whether the cross-encoder reads the best candidates; without it hits have no
                relevance.
            context: chunks before and after each hit that are shown with it.
            expand: ``"neighbours"`` are these chunks, one if `context` says no more;
                ``"section"`` is the section around the hit; ``"window"`` are sentences before and
                after it, as many as `context` or the settings say. None is what fits the way in
                which the file was cut. `Hit.matches` says where in the text the match is.
            tokens: most tokens of all hits together; the best hit is given in any case.
            per_document: most hits of one document; those of others move up.
            budget: seconds that the cross-encoder may read candidates, best first; those for which
                no time is left follow behind, without a relevance. No limit by default. In any case
                some are left when one of the best ones surely answers (`rerank_sure`).
            where: expression over the documents' properties: ``year >= 2024 and lang = "ja"``.
            path: pattern of paths, or several of which one must match: ``"notes/**"``.
            labels: of the documents with access labels, only those that share one.
            copies: ``"together"`` makes texts that say the same one result, ``"versions"`` those
                that differ in a figure or a name too, ``"apart"`` none.
            operators: read quoted phrases, ``-word``, ``word*`` and ``title:word`` as conditions,
                see docs/operators.md; what is malformed stays a word.

        Raises:
            FilterError: `where` cannot be understood.
            SettingsError: `mode`, `copies` or `expand` is none of the three, or a number is too
                small.
        """
        plan = Plan(
            mode=mode,
            rerank=rerank,
            limit=limit,
            neighbours=context,
            expand=expand,
            token_budget=tokens,
            per_document=per_document,
            budget=budget,
            filter=filter_of(where, path, labels),
            copies=copies,
            operators=operators,
        )
        state, trace = self._run(plan, query)
        from localrag.search.pipeline import hits  # noqa: PLC0415 - see `Session._search_stages`

        return SearchResult(trace.query, hits(state), trace)

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
            filter=filter_of(where, path, labels),
        )
        from localrag.answer.extract import Extract, answer_text  # noqa: PLC0415 - not for a search

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

    @property
    def glossary(self) -> Glossary:
        """What abbreviations stand for, as searches use it: see it, add to it, take out of it."""
        return ingest.Glossary(self.database)

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
        from localrag.chunking.statistics import statistics_of  # noqa: PLC0415 - as above

        with self.database.reading() as connection:
            return statistics_of(chunk_sizes(connection), self.embedder.counter, self.settings)

    def verify(self) -> list[str]:
        """Return what is wrong with the file, in words; an empty list when it is whole."""
        with self.database.reading() as connection:
            return verify(connection)
