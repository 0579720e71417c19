"""The whole story of a query: which stages run, in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from localrag.chunking.splitters import strategy
from localrag.errors import SettingsError
from localrag.records import Copies, Hit
from localrag.search.copies import Collapse, slots_for
from localrag.search.expand import Expand
from localrag.search.fuse import Fuse
from localrag.search.pages import page_of
from localrag.search.rerank import Rerank
from localrag.search.retrieve import Lexical, Vector
from localrag.search.transform import PassThrough
from localrag.search.window import Window

if TYPE_CHECKING:
    import apsw

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder, Reranker
    from localrag.records import Filter, SearchState, Stage
    from localrag.store.copies import Grouping
    from localrag.store.vector_search import VectorSearch

__all__ = ["CopiesMode", "Mode", "Plan", "hits", "search_stages"]

Mode = Literal["lexical", "vector", "hybrid"]
CopiesMode = Literal["together", "apart", "versions"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one search is to do."""

    mode: Mode = "hybrid"
    rerank: bool = True
    limit: int = 10
    """Passages that are wanted."""
    neighbours: int = 0
    """Chunks before and after each match that are shown with it."""
    token_budget: int | None = None
    """Most tokens of all passages together; None for no limit."""
    budget: float | None = None
    """Seconds that the cross-encoder may read; None for no limit."""
    filter: Filter | None = None
    """Which documents are looked at; None for all."""
    copies: CopiesMode = "together"
    """Whether texts that say the same are one result, and versions of a text as well."""

    def __post_init__(self) -> None:
        if self.copies not in get_args(CopiesMode):
            raise SettingsError(
                f"Copies cannot be {self.copies!r}. Use one of {', '.join(get_args(CopiesMode))}."
            )
        if self.mode not in get_args(Mode):
            raise SettingsError(
                f"There is no mode {self.mode!r}. Use one of {', '.join(get_args(Mode))}."
            )
        if self.limit < 1 or self.neighbours < 0:
            raise SettingsError("A limit is at least 1 and a context at least 0.")
        if self.budget is not None and not self.budget > 0:
            raise SettingsError("A budget is a number of seconds above 0. Leave it out for none.")


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
    stages: list[Stage] = [PassThrough()]
    if plan.filter is not None:
        from localrag.search.restrict import Restrict  # noqa: PLC0415 - half a parser, seldom used

        stages.append(Restrict(connection, plan.filter))
    k = max(settings.retrieve_k, plan.limit)
    slots = None if plan.copies == "apart" else slots_for(connection, GROUPINGS[plan.copies])
    if plan.mode != "vector":
        stages.append(Lexical(connection, k, slots))
    if plan.mode != "lexical":
        stages.append(Vector(connection, embedder, k, slots, vectors))
    if slots is not None:
        stages.append(Collapse(connection, slots))
    stages.append(Fuse(settings.rrf_k))
    if plan.rerank:
        top = max(settings.rerank_top, plan.limit)
        stages.append(Rerank(connection, reranker, top, budget=plan.budget))
    stages.append(_expand(connection, settings, plan))
    return tuple(stages)


def _expand(connection: apsw.Connection, settings: Settings, plan: Plan) -> Expand:
    """Return the stage that returns what the file's way of cutting wants to be returned."""
    stage = Expand(
        connection,
        neighbours=plan.neighbours,
        token_budget=plan.token_budget,
        limit=plan.limit,
    )
    returns = strategy(settings.chunking).returns
    if returns == "window":
        wider = max(plan.neighbours, settings.window_sentences)
        return replace(stage, neighbours=0, window=Window(wider))
    if returns == "section":
        return replace(stage, neighbours=0, window=Window(FARTHEST, settings.section_tokens))
    return stage


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
            chunk_id=passage.best.id,
            also_in=state.copies.get(passage.best.id, alone).places,
            also_in_count=state.copies.get(passage.best.id, alone).count,
        )
        for rank, passage in enumerate(state.passages, start=1)
    )
