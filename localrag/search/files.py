"""A file of source code vouches for its chunks: the best one raises the score of the others.

What a function is about often stands elsewhere in its file: in the name of the class, in the
comment at the top, in the function beside it. A file of which one chunk fits a query well is
therefore likelier to hold the answer in another one too. Interpolation of a passage's score with
that of its document: Callan, Passage-level evidence in document retrieval, SIGIR 1994; Bendersky
and Kurland, Utilizing passage-based language models for document retrieval, ECIR 2008.

Prose gains nothing by it: an article names its subject in its title, which every chunk holds as
its context, and a paragraph is right or wrong by what it says (docs/decisions.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from localrag.formats.code_languages import MEDIA_TYPE
from localrag.store.chunks import documents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from localrag.records import Candidate

__all__ = ["SHARE", "SourceFiles"]

SHARE: Final = 1 / 3
"""Part of the distance to the best chunk of its file by which a chunk's score is raised."""
POOL: Final = 4
"""Candidates that are looked at for one that is kept: the raised ones come from further down."""
MOST_ASKED: Final = 4_096
"""The vector table returns no more."""


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Raises the chunks of source code in one method's candidates."""

    connection: apsw.Connection
    share: float = SHARE

    def best(self, search: Callable[[int], tuple[Candidate, ...]], k: int) -> tuple[Candidate, ...]:
        """Return the `k` best candidates, the chunks of source code by their raised scores.

        Nothing is gained by the best chunk of a file, so that code and prose compete as before.

        Args:
            search: returns as many of the best candidates as it is asked for.
            k: candidates that are wanted.
        """
        found = search(k)
        if not self._files(found):
            return found
        pool = search(max(k, min(POOL * k, MOST_ASKED)))
        raised = self._raised(pool, self._files(pool))
        # Sorting is stable: equals stay in the order in which they were found.
        order = sorted(raised, key=lambda one: -one.score)[:k]
        return tuple(replace(one, rank=rank) for rank, one in enumerate(order, start=1))

    def _files(self, candidates: Sequence[Candidate]) -> dict[int, int]:
        ids = [one.chunk_id for one in candidates]
        return documents_of(self.connection, ids, MEDIA_TYPE)

    def _raised(self, pool: Sequence[Candidate], files: dict[int, int]) -> list[Candidate]:
        best: dict[int, float] = {}
        for one in pool:
            if one.chunk_id in files:
                file = files[one.chunk_id]
                best[file] = max(one.score, best.get(file, one.score))
        return [
            replace(one, score=one.score + self.share * (best[files[one.chunk_id]] - one.score))
            if one.chunk_id in files
            else one
            for one in pool
        ]
