"""The whole story of a query: which stages run, in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from localrag.chunking.splitters import strategy
from localrag.errors import SettingsError
from localrag.records import Copies, Hit
from localrag.search.copies import Collapse, slots_for
from localrag.search.expand import Expand
from localrag.search.filling import Spread
from localrag.search.fuse import Fuse
from localrag.search.pages import page_of
from localrag.search.per_document import PerDocument, share
from localrag.search.rerank import Rerank
from localrag.search.restrict import Restrict
from localrag.search.retrieve import Lexical, Vector
from localrag.search.sentences import Sentences
from localrag.search.transform import PassThrough
from localrag.search.window import Window

if TYPE_CHECKING:
    import apsw

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder, Reranker
    from localrag.records import Filter, SearchState, Stage
    from localrag.store.copies import Grouping
    from localrag.store.vector_search import VectorSearch

__all__ = ["CopiesMode", "ExpandMode", "Mode", "Plan", "hits", "search_stages"]

Mode = Literal["lexical", "vector", "hybrid"]
CopiesMode = Literal["together", "apart", "versions"]
ExpandMode = Literal["neighbours", "section", "window"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one search is to do."""

    mode: Mode = "hybrid"
    rerank: bool = True
    limit: int = 10
    """Passages that are wanted."""
    neighbours: int = 0
    """Chunks before and after each match that are shown with it; sentences of a window."""
    expand: ExpandMode | None = None
    """What is shown with each match; None for what the file's way of cutting returns."""
    per_document: int | None = None
    """Most results of one document; None for no limit."""
    token_budget: int | None = None
    """Most tokens of all passages together; None for no limit."""
    budget: float | None = None
    """Seconds that the cross-encoder may read; None for no limit."""
    filter: Filter | None = None
    """Which documents are looked at; None for all."""
    copies: CopiesMode = "together"
    """Whether texts that say the same are one result, and versions of a text as well."""

    def __post_init__(self) -> None:
        self._require("Copies", self.copies, CopiesMode)
        self._require("The mode", self.mode, Mode)
        if self.expand is not None:
            self._require("Expand", self.expand, ExpandMode)
        if self.limit < 1 or self.neighbours < 0:
            raise SettingsError("A limit is at least 1 and a context at least 0.")
        if self.budget is not None and not self.budget > 0:
            raise SettingsError("A budget is a number of seconds above 0. Leave it out for none.")
        for what, value in (("tokens", self.token_budget), ("per_document", self.per_document)):
            if value is not None and value < 1:
                raise SettingsError(f"{what} is at least 1. Leave it out for no limit.")

    def _require(self, what: str, value: str, choices: object) -> None:
        if value not in get_args(choices):
            raise SettingsError(
                f"{what} cannot be {value!r}. Use one of {', '.join(get_args(choices))}."
            )


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
        stages.append(Restrict(connection, plan.filter))
    k = max(settings.retrieve_k, plan.limit)
    slots = None if plan.copies == "apart" else slots_for(connection, GROUPINGS[plan.copies])
    most = plan.per_document
    filling = slots if most is None else Spread(connection, share(most, plan.limit, k), slots)
    if plan.mode != "vector":
        stages.append(Lexical(connection, k, filling))
    if plan.mode != "lexical":
        stages.append(Vector(connection, embedder, k, filling, vectors))
    if slots is not None:
        stages.append(Collapse(connection, slots))
    stages.append(Fuse(settings.rrf_k))
    if plan.rerank:
        top = max(settings.rerank_top, plan.limit)
        if most is not None:
            stages.append(PerDocument(connection, share(most, plan.limit, top)))
        stages.append(Rerank(connection, reranker, top, budget=plan.budget))
    if most is not None:
        stages.append(PerDocument(connection, most, joined=True, name="4b. per document"))
    stages.append(_expand(connection, settings, plan))
    return tuple(stages)


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
    return Window(count) if settings.chunking == "sentence-window" else Sentences(count)


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
