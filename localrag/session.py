"""A file that is open with its models: how long they live, and how the lanes are run on them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from localrag.config import Settings
from localrag.inference.load import load_ahead
from localrag.ingest import lazy as ingest
from localrag.ingest.fingerprint import require_fingerprint
from localrag.opening import open_file
from localrag.search.run import run_stages
from localrag.store.documents import list_sources
from localrag.store.traces import keep_trace
from localrag.store.vector_search import VectorSearch
from localrag.text.arguments import legal_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from localrag.inference.protocols import Embedder, Reranker
    from localrag.records import (
        ProgressCallback,
        Properties,
        SearchState,
        Stage,
        SyncReport,
        Trace,
    )
    from localrag.search.plan import Plan
    from localrag.store.documents import SourceRow

__all__ = ["Session"]


class Session:
    """What `KnowledgeBase`, which documents its arguments, stands on."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        settings: Settings | None = None,
        embedder: Embedder | str | os.PathLike[str] | None = None,
        reranker: Reranker | str | os.PathLike[str] | None = None,
    ) -> None:
        opened = open_file(
            path,
            read_only=read_only,
            settings=settings or Settings(),
            embedder=embedder,
            reranker=reranker,
        )
        self.database = opened.database
        self.embedder = opened.embedder
        self.reranker = opened.reranker
        self.settings = opened.settings
        self.vectors = VectorSearch(
            self.database,
            matrix_from=self.settings.vector_matrix_from,
            memory_bytes=self.settings.vector_memory_bytes,
        )
        self._names = opened.names
        self._exchange = threading.Lock()
        self._loading: threading.Thread | None = None

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

    def _sources(self) -> list[SourceRow]:
        with self.database.reading() as connection:
            return list_sources(connection)

    def _remembered(self, paths: Sequence[str | os.PathLike[str]]) -> list[SourceRow]:
        return ingest.remembered(self._sources(), [ingest.uri_of(Path(path)) for path in paths])

    def _sync(  # noqa: PLR0913 - what `sync` and `refresh` share
        self,
        rows: Sequence[SourceRow],
        *,
        version: str,
        remember: Sequence[SourceRow] = (),
        properties: Properties | None = None,
        dry_run: bool,
        progress: ProgressCallback | None,
        cancelled: Callable[[], bool] | None,
    ) -> SyncReport:
        max_bytes = self.settings.max_file_bytes
        return ingest.sync(
            self.database,
            self.embedder,
            self.settings,
            ingest.scope_of(ingest.roots_of(rows, max_bytes), self._sources(), max_bytes),
            version=version,
            remember=remember,
            properties=properties,
            progress=progress,
            cancelled=cancelled,
            dry_run=dry_run,
        )

    @contextmanager
    def _exchanging(self, embedder: Embedder) -> Iterator[None]:
        """Let no search begin between the commit of new vectors and the use of their model."""
        with self._exchange:
            yield
            former, self.embedder = self.embedder, embedder
        if former is not embedder:
            former.close()

    def _run(self, plan: Plan, query: str, *last: Stage) -> tuple[SearchState, Trace]:
        # One snapshot for all stages: the vectors stay those of the model that embeds the query,
        # though the file is changed over to another one meanwhile.
        with self.database.reading() as connection, connection:
            with self._exchange:
                require_fingerprint(connection, self.embedder, self.database.path.name)
                stages = (*self._search_stages(plan), *last)
            state, trace = run_stages(stages, legal_text(query))
        return state, keep_trace(self.database, trace) if self.settings.keep_traces else trace

    def _search_stages(self, plan: Plan) -> tuple[Stage, ...]:
        if self._loading is None:
            wanted = (self.embedder, plan.mode != "lexical"), (self.reranker, plan.rerank)
            self._loading = load_ahead(*(model for model, used in wanted if used))
        # Imported while the models are read, which goes on without Python's lock.
        from localrag.search.pipeline import search_stages  # noqa: PLC0415

        return search_stages(
            self.database.connection,
            self.embedder,
            self.reranker,
            self.settings,
            plan,
            vectors=self.vectors,
        )
