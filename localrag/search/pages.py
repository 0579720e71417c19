"""On which of its pages a chunk speaks of what was asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from localrag.records import PAGE_BREAK
from localrag.text.analysis import analyse, analyse_query

if TYPE_CHECKING:
    from localrag.records import StoredChunk

__all__ = ["page_of"]


def page_of(chunk: StoredChunk, query: str) -> int | None:
    """Return the page to cite for a chunk that was found; None where there are no pages.

    That is the page with most of the query's words, a word counting less the more of the chunk's
    pages have it; of equals, and where the words stand nowhere in the text, the first.
    """
    if chunk.page is None or PAGE_BREAK not in chunk.text:
        return chunk.page
    terms = analyse_query(query)
    found = [
        {term for term in terms if _holds(tokens, term.term, prefix=term.prefix)}
        for tokens in (set(analyse(page)) for page in chunk.text.split(PAGE_BREAK))
    ]
    spread = Counter(term for page in found for term in page)
    weights = [sum(1 / spread[term] for term in page) for page in found]
    return chunk.page + weights.index(max(weights))


def _holds(tokens: set[str], term: str, *, prefix: bool) -> bool:
    return term in tokens or (prefix and any(token.startswith(term) for token in tokens))
