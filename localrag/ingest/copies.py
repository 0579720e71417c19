"""A new chunk is put beside the ones that say the same: exact copies, near copies, versions.

Nothing is compared with everything: a chunk meets only those that share its hash, its words, or a
MinHash band. The vectors and the words themselves then decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from localrag.store.chunks import fetch_chunks
from localrag.store.copies import insert_keys, join_group, newest_same_hash, newest_with_keys
from localrag.store.vectors import vectors_of
from localrag.text.analysis import analyse
from localrag.text.likeness import (
    LEAST_WORDS,
    band_keys,
    resemblance,
    same_words_key,
    weighty_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from localrag.inference.protocols import FloatArray
    from localrag.records import Chunk, StoredChunk

__all__ = ["mark_copies"]

LEAST_COSINE: Final = 0.95
LEAST_RESEMBLANCE: Final = 0.8
"""Share of the pairs of neighbouring words that near copies have in common."""


def mark_copies(
    connection: apsw.Connection,
    ids: Sequence[int],
    chunks: Sequence[Chunk],
    words: Sequence[tuple[str, str]],
    vectors: FloatArray,
) -> None:
    """Group the new chunks `ids` with older chunks, or with each other, that say the same.

    Args:
        connection: inside the transaction that wrote the chunks and their vectors.
        ids: ascending.
        chunks: one per id.
        words: the analysed words of context and of body, as they are indexed.
        vectors: unit vectors, shape (ids, dimensions).
    """
    for row, (id_, chunk) in enumerate(zip(ids, chunks, strict=True)):
        new = _New(id_, chunk, words[row][1].split(), vectors[row])
        keys = [same_words_key(_body(chunk)), *band_keys(new.words)]
        older = newest_same_hash(connection, id_)
        if older is not None:
            join_group(connection, id_, older, is_copy=True)
        else:
            _join_nearest(connection, new, newest_with_keys(connection, keys))
        insert_keys(connection, {id_: keys})


@dataclass(frozen=True, slots=True)
class _New:
    """A chunk that was just written."""

    id: int
    chunk: Chunk
    words: list[str]
    """The analysed words of its body."""
    vector: FloatArray


def _join_nearest(connection: apsw.Connection, new: _New, candidates: Sequence[int]) -> None:
    """Join the first older chunk that says the same, otherwise the first that is a version."""
    older = fetch_chunks(connection, candidates) if candidates else {}
    version = None
    for other in (older[candidate] for candidate in candidates if candidate in older):
        if _same_text(new.chunk, other):
            # Under other headings a few words may be about something else.
            if len(new.words) >= LEAST_WORDS:
                join_group(connection, new.id, other.id, is_copy=True)
                return
        elif _alike(connection, new, other):
            if _weighty(new.chunk) == _weighty(other):
                join_group(connection, new.id, other.id, is_copy=True)
                return
            version = other.id if version is None else version
    if version is not None:
        join_group(connection, new.id, version, is_copy=False)


def _body(chunk: Chunk | StoredChunk) -> str:
    return f"{chunk.preamble}\n{chunk.text}" if chunk.preamble else chunk.text


def _same_text(chunk: Chunk, other: StoredChunk) -> bool:
    return same_words_key(_body(chunk)) == same_words_key(_body(other))


def _alike(connection: apsw.Connection, new: _New, other: StoredChunk) -> bool:
    if resemblance(new.words, analyse(_body(other))) < LEAST_RESEMBLANCE:
        return False
    theirs = vectors_of(connection, [other.id]).get(other.id)
    return theirs is not None and float(new.vector @ theirs) >= LEAST_COSINE


def _weighty(chunk: Chunk | StoredChunk) -> tuple[str, ...]:
    # What is the same under another title may be about something else, whose name is lower case.
    title = weighty_words(chunk.context, every_word=True)
    return title + weighty_words(_body(chunk), every_word=chunk.kind == "code")
