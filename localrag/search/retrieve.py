"""Stages 2a and 2b: candidates by words and candidates by meaning, same chunks, same k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.errors import RemoteError
from localrag.records import FAILED, RankedList
from localrag.search.weights import lexical_weight
from localrag.store.chunks import count_chunks
from localrag.store.term_scores import add_scores
from localrag.store.vectors import require_dimensions, search_vectors
from localrag.store.words import document_frequencies, search_words
from localrag.text.analysis import analyse_query
from localrag.text.match import match_expression
from localrag.text.phrases import instead_expression

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import apsw

    from localrag.inference.protocols import Embedder
    from localrag.records import Allowed, Alternative, Candidate, SearchState
    from localrag.search.files import SourceFiles
    from localrag.search.filling import Filling, Search
    from localrag.store.vector_search import VectorSearch
    from localrag.text.analysis import QueryTerm

__all__ = ["Lexical", "Vector", "prune_frequent", "split_frequent"]


def with_lists(state: SearchState, lists: Sequence[RankedList]) -> SearchState:
    """Return the state with a method's lists; its survivors are those of the first query."""
    survivors = lists[0].candidates if lists else ()
    return replace(state, lists=(*state.lists, *lists), survivors=survivors, note="")


def filled(
    slots: Filling | None,
    files: SourceFiles | None,
    search: Search,
    k: int,
    allowed: Allowed | None,
) -> tuple[Candidate, ...]:
    """Return the `k` best allowed chunks, as far as `slots` lets them stand together.

    With `files` those of source code are raised.
    """

    def best(wanted: int) -> tuple[Candidate, ...]:
        if slots is None:
            return search(wanted, allowed)
        return slots.fill(search, wanted, allowed)

    return best(k) if files is None else files.best(best, k)


@dataclass(frozen=True, slots=True)
class Lexical:
    """BM25 over the analysed words of context and text."""

    connection: apsw.Connection
    k: int
    slots: Filling | None = None
    """Where given, it says what may stand in one list together: copies of a text may not."""
    files: SourceFiles | None = None
    """Where given, a file of source code raises its chunks."""
    analysis: Callable[[str], list[QueryTerm]] = analyse_query
    """What makes terms of a query: as the index was made, so another one is for measuring only."""
    name: str = "2a. bm25"

    def __call__(self, state: SearchState) -> SearchState:
        """Add one ranked list per query."""
        lists = [
            self.search(query, state.allowed, state.alternatives, phrases=state.required)
            for query in state.queries
        ]
        return with_lists(state, lists)

    def search(
        self,
        query: str,
        allowed: Allowed | None = None,
        alternatives: Sequence[Alternative] = (),
        *,
        phrases: Sequence[str] = (),
    ) -> RankedList:
        """Return the best allowed chunks for one query; an empty list when it has no words.

        Args:
            query: the words to look for.
            allowed: chunks that may be found; None for all.
            alternatives: other words for some of the query's. One counts in chunks that lack the
                words it stands for: what explains an abbreviation holds both, and would win
                everywhere if both counted.
            phrases: FTS5 expressions that are looked for beside the words.
        """
        instead = instead_expression((one.word, one.text) for one in alternatives)
        beside = [*phrases, instead] if instead else phrases
        terms = self.analysis(query)
        frequencies = document_frequencies(self.connection, [term.term for term in terms])
        kept = prune_frequent(terms, frequencies, count_chunks(self.connection))
        searched, added = split_frequent(kept, frequencies)
        found = self.matches(searched, beside, allowed, added, frequencies)
        if allowed is not None and len(found) < self.k:
            # A word of most chunks may be the only one of the query that the allowed ones have.
            known = known_terms(terms, frequencies)
            found = self.matches(known, beside, allowed, frequencies=frequencies)
        return RankedList("bm25", query, found, lexical_weight(query))

    def matches(
        self,
        terms: Sequence[QueryTerm],
        phrases: Sequence[str],
        allowed: Allowed | None,
        added: Sequence[QueryTerm] = (),
        frequencies: Mapping[str, int] | None = None,
    ) -> tuple[Candidate, ...]:
        """Return the best allowed chunks that hold any of the terms or phrases.

        Scores are those by `added` as well, which find nothing by themselves.
        """
        known = frequencies or {}
        expression = match_expression(rare_first(terms, known), phrases)

        def best(k: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
            if not added:
                return search_words(self.connection, expression, k, allowed)
            found = search_words(self.connection, expression, k * RESCORED, allowed)
            return add_scores(self.connection, found, expression, added, known)[:k]

        return filled(self.slots, self.files, best, self.k, allowed)


def rare_first(terms: Sequence[QueryTerm], frequencies: Mapping[str, int]) -> list[QueryTerm]:
    """Return terms by the number of their chunks: of too many, those that tell most are kept."""
    return sorted(terms, key=lambda term: frequencies.get(term.term, 0))


def known_terms(terms: list[QueryTerm], frequencies: Mapping[str, int]) -> list[QueryTerm]:
    """Leave out terms that the index lacks."""
    # A prefix stands for words that the index may hold although it lacks the prefix itself.
    return [term for term in terms if term.prefix or term.term in frequencies]


def prune_frequent(
    terms: list[QueryTerm], frequencies: Mapping[str, int], chunks: int
) -> list[QueryTerm]:
    """Leave out terms that the index lacks, and those so frequent that they tell nothing apart.

    A stop word costs most of the time of a query, since FTS5 scores every row that matches any
    term, and adds next to nothing to a score. The limit is a share of the chunks, so it holds for
    any language and any collection. When all terms are frequent the rarest ones stay.
    """
    known = known_terms(terms, frequencies)
    limit = max(FREQUENT_MINIMUM, chunks * FREQUENT_SHARE)
    rare = [term for term in known if frequencies.get(term.term, 0) <= limit]
    if rare or not known:
        return rare
    rarest = min(frequencies[term.term] for term in known)
    return [term for term in known if frequencies[term.term] <= rarest * FREQUENT_SPREAD]


FREQUENT_SHARE = 0.3
"""A term in more than this share of the chunks is dropped."""
FREQUENT_MINIMUM = 50
"""In a small base even a term of most chunks is cheap, and may be all there is."""
FREQUENT_SPREAD = 1.5
"""Among frequent terms only, those up to this multiple of the rarest one's frequency stay."""


def split_frequent(
    terms: list[QueryTerm], frequencies: Mapping[str, int]
) -> tuple[list[QueryTerm], list[QueryTerm]]:
    """Return the terms that find candidates, and those that only add to their scores.

    The rarest come first, until `POSTINGS` rows would have to be scored: in a large base that is
    all that there is time for, and a chunk without any rare term is seldom among the best.
    """
    left = POSTINGS
    added: list[QueryTerm] = []
    for number, term in enumerate(sorted(terms, key=lambda one: frequencies.get(one.term, 0))):
        left -= frequencies.get(term.term, 0)
        if left < 0 and number:
            added.append(term)
    return [term for term in terms if term not in added], added[:MOST_ADDED]


POSTINGS = 60_000
"""Rows that a query may score, each counted once per term: about 25 ms."""
RESCORED = 4
"""Candidates per wanted one whose scores are completed."""
MOST_ADDED = 32
"""The rarest of them, as many as a Japanese question has; of a pasted page that is enough."""


@dataclass(frozen=True, slots=True)
class Vector:
    """Nearest neighbours of the query's embedding by cosine, exact."""

    connection: apsw.Connection
    embedder: Embedder
    k: int
    slots: Filling | None = None
    """Where given, it says what may stand in one list together: copies of a text may not."""
    files: SourceFiles | None = None
    """Where given, a file of source code raises its chunks."""
    index: VectorSearch | None = None
    """Where given, it decides how the nearest are found; otherwise vec0 finds them."""
    name: str = "2b. vector"

    def __call__(self, state: SearchState) -> SearchState:
        """Add one ranked list per query; without its remote model, see that words were searched."""
        plans: list[str] = []
        try:
            lists = [self.search(query, state.allowed, plans) for query in state.queries]
            return replace(with_lists(state, lists), note="; ".join(dict.fromkeys(plans)))
        except RemoteError as error:
            words = state if state.lists else Lexical(self.connection, self.k)(state)
            return replace(words, note=f"{FAILED}{error} Searched by words only.")

    def search(
        self, query: str, allowed: Allowed | None = None, plans: list[str] | None = None
    ) -> RankedList:
        """Return the nearest allowed chunks for one query; note in `plans` how they were found."""
        if allowed is not None and not allowed.chunks:
            return RankedList("vector", query, ())  # no reason to load a model
        vector = self.embedder.embed_query(query)
        require_dimensions(self.connection, len(vector))

        def nearest(k: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
            if self.index is None:
                return search_vectors(self.connection, vector, k, allowed)
            found = self.index.search(self.connection, vector, k, allowed)
            if plans is not None:
                plans.append(found.plan)
            return found.candidates

        found = filled(self.slots, self.files, nearest, self.k, allowed)
        return RankedList("vector", query, found)
