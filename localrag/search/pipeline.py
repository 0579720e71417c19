"""The whole story of a query: which stages run, in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from localrag.chunking.splitters import strategy
from localrag.records import Copies, Hit
from localrag.search.copies import Collapse, slots_for
from localrag.search.expand import Expand
from localrag.search.files import SourceFiles
from localrag.search.filling import Spread
from localrag.search.fuse import Fuse
from localrag.search.operators import Operators
from localrag.search.pages import page_of
from localrag.search.per_document import PerDocument, share
from localrag.search.rerank import Rerank
from localrag.search.retrieve import Lexical, Vector
from localrag.search.transform import Transform
from localrag.search.window import Window

if TYPE_CHECKING:
    import apsw

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder, Reranker
    from localrag.records import SearchState, Stage
    from localrag.search.plan import Plan
    from localrag.search.sentences import Sentences
    from localrag.store.copies import Grouping
    from localrag.store.vector_search import VectorSearch

__all__ = ["hits", "search_stages"]


def search_stages(  # noqa: PLR0913 - what a search is made of
    connection: apsw.Connection,
    embedder: Embedder,
    reranker: Reranker,
    settings: Settings,
    plan: Plan,
    *,
    vectors: VectorSearch | None = None,
) -> tuple[Stage, ...]:
    """Return the stages of a search, first to last. A switched-off stage is simply not there.

    Without `vectors` vec0 finds the nearest chunks, whatever the base's size.
    """
    stages: list[Stage] = [Operators(connection)] if plan.operators else []
    if plan.filter is not None:
        # First, so that stage 1 reveals nothing of documents that may not be searched.
        from localrag.search.restrict import Restrict  # noqa: PLC0415 - half a parser, seldom used

        stages.append(Restrict(connection, plan.filter))
    stages.append(Transform(connection, glossary=settings.glossary, spelling=settings.spelling))
    k = max(settings.retrieve_k, plan.limit)
    slots = None if plan.copies == "apart" else slots_for(connection, GROUPINGS[plan.copies])
    most = plan.per_document
    filling = slots if most is None else Spread(connection, share(most, plan.limit, k), slots)
    files = SourceFiles(connection)
    if plan.mode != "vector":
        stages.append(Lexical(connection, k, filling, files))
    if plan.mode != "lexical":
        stages.append(Vector(connection, embedder, k, filling, files, vectors))
    if slots is not None:
        stages.append(Collapse(connection, slots))
    stages.append(Fuse(settings.rrf_k))
    expand = _expand(connection, settings, plan)
    if plan.rerank:
        rerank = _rerank(connection, reranker, settings, plan, expand)
        if most is not None:
            stages.append(PerDocument(connection, share(most, plan.limit, rerank.top)))
        stages.append(rerank)
    if most is not None:
        stages.append(PerDocument(connection, most, joined=True, name="4b. per document"))
    stages.append(expand)
    return tuple(stages)


def _rerank(
    connection: apsw.Connection,
    reranker: Reranker,
    settings: Settings,
    plan: Plan,
    expand: Expand,
) -> Rerank:
    """Return the stage that reads what is wanted, and half as many again: neighbours are joined.

    It reads on where the probabilities were fitted on nothing, or a server is asked: what it takes
    for each request is more than for some passages. So it does where many chunks may become one
    result: what is shown should have been read.
    """
    calibrated = getattr(reranker, "calibrated", False)
    may_stop = calibrated and plan.per_document is None and expand.window is None
    return Rerank(
        connection,
        reranker,
        max(settings.rerank_top, plan.limit),
        again=settings.rerank_again,
        sure=settings.rerank_sure if may_stop else None,
        first=max(settings.rerank_first, plan.limit * 3 // 2),
        budget=plan.budget,
    )


def _expand(connection: apsw.Connection, settings: Settings, plan: Plan) -> Expand:
    """Return the stage that returns what was asked for, or what the file's way of cutting wants."""
    stage = Expand(
        connection,
        neighbours=plan.neighbours,
        token_budget=plan.token_budget,
        limit=plan.limit,
    )
    returns = plan.expand or strategy(settings.chunking).returns
    if returns == "neighbours":
        return replace(stage, neighbours=max(1, plan.neighbours))
    if returns == "section":
        return replace(stage, neighbours=0, window=Window(FARTHEST, settings.section_tokens))
    if returns == "window":
        return replace(stage, neighbours=0, window=_window(settings, plan))
    return stage


def _window(settings: Settings, plan: Plan) -> Window | Sentences:
    """Return the sentences around a match: as many as were asked for by name, or more."""
    fewest = 0 if plan.expand and plan.neighbours else settings.window_sentences
    count = max(plan.neighbours, fewest)
    if settings.chunking == "sentence-window":
        return Window(count)
    from localrag.search.sentences import Sentences  # noqa: PLC0415 - many expressions to compile

    return Sentences(count)


FARTHEST: Final = 100
"""Chunks of a section that are looked at on each side of the one that was found."""

GROUPINGS: Final[dict[str, Grouping]] = {"together": "copy_group", "versions": "version_group"}


def hits(state: SearchState) -> tuple[Hit, ...]:
    """Return the passages of a finished search as results for the caller."""
    alone = Copies((), 0)
    return tuple(
        Hit(
            rank=rank,
            relevance=passage.relevance,
            document=passage.best.uri,
            title=passage.best.title,
            heading=passage.best.headings,
            page=page_of(passage.best, state.query),
            line=passage.best.line,
            start=passage.start,
            end=passage.end,
            text=passage.text,
            matches=passage.matches,
            chunk_id=passage.best.id,
            also_in=state.copies.get(passage.best.id, alone).places,
            also_in_count=state.copies.get(passage.best.id, alone).count,
        )
        for rank, passage in enumerate(state.passages, start=1)
    )
