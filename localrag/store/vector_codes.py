"""Unit vectors in a byte and a bit per dimension, and what these tell about a cosine.

Rows are centred first: embeddings of one model share a direction that tells nothing apart, and what
is left is smaller, so that its bytes are finer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["Codes", "Query", "bytes_per_row", "encode", "hamming", "similarities", "thresholds"]

BLOCK: Final = 512
"""Rows that are unpacked at a time: as float32 they stay in a core's cache."""
DEVIATIONS: Final = 3.0
"""How far the bits of a wanted row may stray from what its angle says. Of the 50 nearest of 20,654
passages none of 10,000 was missed at 3, and 0.03 % at 2.5."""
STEPS: Final = 512
"""Entries of the table of `thresholds`."""


@dataclass(frozen=True, slots=True)
class Codes:
    """Rows in their coded form; row and slot are the same. All are writable in place."""

    levels: NDArray[np.int8]
    """Shape (rows, dimensions): the centred row in units of `scale`."""
    planes: NDArray[np.uint64]
    """Shape (words, rows): signs of the centred row, 64 dimensions a word; one word of all rows
    after the other, which is how they are compared."""
    scale: Floats
    """Shape (rows,)."""
    error: Floats
    """Shape (rows,): how far a cosine by `similarities` can be from that of the row, at most."""
    offset: Floats
    """Shape (rows,): product of the row with the centre."""
    length: Floats
    """Shape (rows,): of the centred row."""

    @classmethod
    def empty(cls, rows: int, dimensions: int) -> Codes:
        """Return codes of rows that are all zero."""
        return cls(
            np.zeros((rows, dimensions), np.int8),
            np.zeros((_words(dimensions), rows), np.uint64),
            *(np.zeros(rows, np.float32) for _ in range(4)),
        )

    def put(self, rows: slice | NDArray[np.intp], new: Codes) -> None:
        """Overwrite some rows."""
        self.planes[:, rows] = new.planes
        self.levels[rows] = new.levels
        for mine, theirs in (
            (self.scale, new.scale),
            (self.error, new.error),
            (self.offset, new.offset),
            (self.length, new.length),
        ):
            mine[rows] = theirs

    @property
    def bytes(self) -> int:
        """Memory of all arrays."""
        arrays = (self.levels, self.planes, self.scale, self.error, self.offset, self.length)
        return sum(one.nbytes for one in arrays)


@dataclass(frozen=True, slots=True)
class Query:
    """A query as rows are compared with it."""

    vector: Floats
    """Of length one."""
    centred: float
    """Length of the query without the centre."""
    along: float
    """Product of the query with the centre."""
    constant: float
    """Product of the centred query with the centre."""
    words: NDArray[np.uint64]
    """Shape (words,): its signs."""

    @classmethod
    def of(cls, vector: Floats, centre: Floats) -> Query:
        """Return the query for rows coded around `centre`."""
        unit = np.asarray(vector / np.linalg.norm(vector), np.float32)
        rest = unit - centre
        return cls(
            unit,
            float(np.linalg.norm(rest)),
            float(unit @ centre),
            float(rest @ centre),
            _signs(rest[None])[:, 0],
        )


def bytes_per_row(dimensions: int) -> int:
    """Return the memory of one coded row."""
    return Codes.empty(1, dimensions).bytes


def encode(vectors: Floats, centre: Floats) -> Codes:
    """Return the codes of vectors, shape (rows, dimensions); their length does not matter."""
    unit = vectors / np.sqrt(np.vecdot(vectors, vectors))[:, None]
    rest = unit - centre
    scale = np.abs(rest).max(axis=1) / np.float32(127)
    scale[scale == 0] = 1  # a row that is the centre itself
    levels = np.rint(rest / scale[:, None])
    lost = rest - levels * scale[:, None]
    # Cauchy-Schwarz: the query has length one. The rest is the rounding of three sums of float32,
    # ours, that of the row's length, and vec0's, whose distances are the ones that count.
    rounding = 3 * vectors.shape[1] * np.finfo(np.float32).eps
    return Codes(
        levels.astype(np.int8),
        _signs(rest),
        scale,
        np.sqrt(np.vecdot(lost, lost)) + np.float32(rounding),
        np.vecdot(unit, centre),
        np.sqrt(np.vecdot(rest, rest)),
    )


def similarities(codes: Codes, query: Query, out: Floats, rows: slice | NDArray[np.intp]) -> None:
    """Write the cosine of each of `rows` and the query to `out`, up to the row's `error`."""
    levels = codes.levels[rows] if isinstance(rows, slice) else codes.levels
    unpacked = np.empty((min(BLOCK, len(out)), levels.shape[1]), np.float32)
    for first in range(0, len(out), BLOCK):
        part = slice(first, min(first + BLOCK, len(out)))
        block = unpacked[: part.stop - first]
        np.copyto(block, levels[part] if isinstance(rows, slice) else levels[rows[part]])
        # vecdot, since BLAS would start threads for a matrix: on a busy machine they wait for
        # each other many times longer than they compute.
        np.vecdot(block, query.vector, out=out[part])
    out *= codes.scale[rows]
    out += query.along


def hamming(codes: Codes, query: Query, out: NDArray[np.uint16], rows: slice) -> None:
    """Write in how many signs each of `rows` differs from the query."""
    different = np.empty(len(out), np.uint64)
    count = np.empty(len(out), np.uint8)
    out[:] = 0
    for plane, word in zip(codes.planes, query.words, strict=True):
        np.bitwise_xor(plane[rows], word, out=different)
        np.bitwise_count(different, out=count)
        out += count


def thresholds(codes: Codes, query: Query, lowest: float, rows: slice) -> NDArray[np.uint16]:
    """Return in how many signs a row may differ if its cosine is at least `lowest`.

    Two vectors at the angle a differ in the sign of a share a/pi of random directions (Goemans and
    Williamson, 1995). Of `dimensions` such signs the count is binomial; a row stays in as long as
    its count lies within `DEVIATIONS` standard deviations.
    """
    dimensions = codes.levels.shape[1]
    lower = np.linspace(-1, 1, STEPS + 1)[:-1]  # the lowest cosine of each step: the widest limit
    share = np.arccos(lower) / np.pi
    table = dimensions * share + DEVIATIONS * np.sqrt(dimensions * share * (1 - share))
    # The cosine that the centred row must reach; a row that is the centre has none.
    needed = (lowest - query.constant) - codes.offset[rows]
    needed /= np.maximum(codes.length[rows] * np.float32(query.centred), np.float32(1e-9))
    needed += 1
    needed *= STEPS / 2
    np.clip(needed, 0, STEPS - 1, out=needed)
    return np.asarray(table.astype(np.uint16)[needed.astype(np.uint16)])


def _words(dimensions: int) -> int:
    return -(-dimensions // 64)


def _signs(rows: Floats) -> NDArray[np.uint64]:
    """Return the signs of rows, shape (words, rows); what fills the last word is zero."""
    packed = np.packbits(rows > 0, axis=1)
    whole = np.zeros((len(rows), _words(rows.shape[1]) * 8), np.uint8)
    whole[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(whole.view(np.uint64).T)
