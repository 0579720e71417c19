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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import apsw

    from localrag.records import Candidate

__all__ = ["SHARE", "SourceFiles", "raised", "source_files"]

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
        return source_files(self.connection, [one.chunk_id for one in candidates])

    def _raised(self, pool: Sequence[Candidate], files: Mapping[int, int]) -> list[Candidate]:
        scores = raised({one.chunk_id: one.score for one in pool}, files, self.share)
        return [replace(one, score=scores[one.chunk_id]) for one in pool]


def source_files(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, int]:
    """Return for each of the chunks that is source code the id of its document."""
    return documents_of(connection, ids, MEDIA_TYPE)


def raised(scores: Mapping[int, float], files: Mapping[int, int], share: float) -> dict[int, float]:
    """Return scores of chunks, those in `files` raised by `share` of the distance to their best.

    Args:
        scores: by chunk id.
        files: the documents of the chunks that are source code.
        share: 0 leaves the scores as they are, 1 gives all chunks of a file that of its best.
    """
    best: dict[int, float] = {}
    for id_, score in scores.items():
        if id_ in files:
            best[files[id_]] = max(score, best.get(files[id_], score))
    return {
        id_: score + share * (best[files[id_]] - score) if id_ in files else score
        for id_, score in scores.items()
    }
