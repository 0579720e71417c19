"""The facade: one object for one file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from localrag.answer.extract import Extract, compose
from localrag.chunking.structural import CHUNKER_VERSION
from localrag.config import Settings
from localrag.errors import (
    FingerprintError,
    KnowledgeBaseError,
    LocalragError,
    NotAKnowledgeBaseError,
    SettingsError,
)
from localrag.inference.load import load_embedder, load_reranker
from localrag.ingest.pipeline import sync
from localrag.records import Answer, Filter, Properties, SearchResult, Status
from localrag.search.pipeline import Plan, hits, search_stages
from localrag.search.run import run_stages
from localrag.store.chunks import fetch_chunks
from localrag.store.database import Database
from localrag.store.documents import list_documents, list_skipped
from localrag.store.settings import all_settings, get_setting, set_setting
from localrag.store.status import read_status, verify
from localrag.store.traces import fetch_trace, insert_trace, last_trace_id
from localrag.store.vectors import create_vectors
from localrag.text.analysis import ANALYSER_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from localrag.inference.protocols import Embedder, Reranker
    from localrag.records import (
        Metadata,
        ProgressCallback,
        SearchState,
        Skipped,
        Stage,
        StoredChunk,
        SyncReport,
        Trace,
    )
    from localrag.search.pipeline import CopiesMode, Mode
    from localrag.store.documents import DocumentRow

__all__ = ["KnowledgeBase"]


class KnowledgeBase:
    """A knowledge base file with the models that fit it.

    Use it as a context manager, or call `close`. Reading is safe on any thread; writing threads of
    one process queue. Models are loaded when they are first needed.

    Args:
        path: the file; it is made when it does not exist, unless `read_only`.
        read_only: never write, not even the query log. Works on read-only media.
        settings: sizes and limits; the file keeps the ones it was made with.
        embedder: bi-encoder to use instead of the bundled one.
        reranker: cross-encoder to use instead of the bundled one.

    Raises:
        NotAKnowledgeBaseError: the file is something else, or damaged.
        SettingsError: other chunk sizes are asked for than the file was made with.
        FingerprintError: its vectors were made with another model or analysis.
        KnowledgeBaseError: it cannot be opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.embedder: Embedder = embedder or load_embedder()
        self.reranker: Reranker = reranker or load_reranker()
        self.database = Database(path, read_only=read_only)
        try:
            self._check_fingerprint()
            self.settings = self._stored_sizes(settings or Settings())
            if not read_only:
                self._prepare()
        except BaseException:
            self.database.close()
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
        """Close the file and release the models' memory."""
        self.database.close()
        self.embedder.close()
        self.reranker.close()

    # Writing

    def sync(
        self,
        *paths: str | os.PathLike[str],
        metadata: Metadata | None = None,
        labels: Iterable[str] | None = None,
        path_patterns: Iterable[str] | None = None,
        progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> SyncReport:
        """Make the file hold exactly the documents below `paths`; touch only what changed.

        Documents from other places stay. A file that cannot be read is skipped and recorded.

        Args:
            paths: files and folders.
            metadata: properties of every document below `paths`; they win over its own.
            labels: access labels of every document below `paths`, for `search(labels=...)`.
            path_patterns: patterns within `paths` whose ``{name}`` parts become metadata, such as
                ``clients/{client}/{year}/**``. These three are kept with each path: None leaves
                what an earlier run said, something empty takes it back.
            progress: called after each file.
            cancelled: asked before each file; when true, the run stops.

        Raises:
            LocalragError: a path does not exist.
            SettingsError: metadata that JSON cannot hold, or a wrong path pattern.
            BusyError: another process is indexing into this file.
            ReadOnlyError: the file is open read-only.
            Cancelled: `cancelled` returned true; what was finished is kept.
        """
        roots = [Path(path) for path in paths]
        for root in roots:
            if not os.path.lexists(root):
                raise LocalragError(f"{root} does not exist. Check the path and run it again.")
        return sync(
            self.database,
            self.embedder,
            self.settings,
            roots,
            properties=_properties(metadata, labels, path_patterns),
            progress=progress,
            cancelled=cancelled,
        )

    # Reading

    def search(  # noqa: PLR0913 - each is a keyword
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode = "hybrid",
        rerank: bool = True,
        context: int = 0,
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
            filter=_filter(where, path, labels),
            copies=copies,
        )
        state, trace = self._run(self._search_stages(plan), query)
        return SearchResult(state.query, hits(state), trace)

    def ask(  # noqa: PLR0913 - each is a keyword
        self,
        question: str,
        *,
        mode: Mode = "hybrid",
        rerank: bool = True,
        where: str | None = None,
        path: str | Iterable[str] | None = None,
        labels: Iterable[str] | None = None,
    ) -> Answer:
        """Return the sentences that answer `question`, each cited, or an honest "not found".

        Args:
            question: in any language that the documents are in.
            mode: how candidates are retrieved, as in `search`.
            rerank: whether candidates are reranked before the answer is taken from the best.
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
            filter=_filter(where, path, labels),
        )
        extract = Extract(
            self.reranker,
            min_relevance=self.settings.min_relevance,
            limit=self.settings.answer_sentences,
        )
        state, trace = self._run((*self._search_stages(plan), extract), question)
        return Answer(
            question=state.query,
            text=compose(state.sentences),
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
            return read_status(connection, self.database.path)

    def verify(self) -> list[str]:
        """Return what is wrong with the file, in words; an empty list when it is whole."""
        with self.database.reading() as connection:
            return verify(connection)

    # Inside

    def _search_stages(self, plan: Plan) -> tuple[Stage, ...]:
        return search_stages(
            self.database.connection, self.embedder, self.reranker, self.settings, plan
        )

    def _run(self, stages: tuple[Stage, ...], query: str) -> tuple[SearchState, Trace]:
        with self.database.reading():
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

    def _fingerprint(self) -> str:
        return f"{self.embedder.fingerprint} analyser-{ANALYSER_VERSION} chunker-{CHUNKER_VERSION}"

    def _check_fingerprint(self) -> None:
        with self.database.reading() as connection:
            stored = get_setting(connection, "fingerprint")
        if stored is None and self.database.read_only:
            raise NotAKnowledgeBaseError(
                f"{self.database.path} is empty. Fill it first: localrag index FOLDER "
                f"--db {self.database.path}"
            )
        current = self._fingerprint()
        if stored is not None and stored != current:
            raise FingerprintError(
                f"{self.database.path.name} was made with another model or another version of the "
                "text analysis; searching it with this one would give wrong results. Use the "
                "model it was made with, or index the documents again into a new file: "
                "localrag index FOLDER --db NEW.db",
                stored=stored,
                current=current,
            )

    def _stored_sizes(self, settings: Settings) -> Settings:
        """Return `settings` with the chunk sizes that the file was made with.

        Raises:
            SettingsError: the caller asked for other sizes by name.
        """
        with self.database.reading() as connection:
            stored = all_settings(connection)
        sizes = {name: int(stored[name]) for name in CHUNK_SIZES if name in stored}
        for name, size in sizes.items():
            if name in settings.model_fields_set and getattr(settings, name) != size:
                raise SettingsError(
                    f"{self.database.path.name} was made with {name} = {size}. To change it, index "
                    "the documents into a new file."
                )
        return settings.model_copy(update=sizes)

    def _prepare(self) -> None:
        """Make the vector table and note what the file is made with, once."""
        with self.database.reading() as connection:
            if get_setting(connection, "fingerprint") is not None:
                return
        with self.database.atomic() as connection:
            create_vectors(connection, self.embedder.dimensions)
            set_setting(connection, "fingerprint", self._fingerprint())
            for name in CHUNK_SIZES:
                set_setting(connection, name, str(getattr(self.settings, name)))


CHUNK_SIZES = ("chunk_tokens", "overlap_tokens")
"""Settings that belong to the file: chunks of two sizes in one base would compete unfairly."""


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
