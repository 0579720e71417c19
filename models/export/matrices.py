"""Ways to store a linear layer's weights in an ONNX graph, each with the operator that reads them.

Matrices arrive as float32 of shape (outputs, inputs), as in the source file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from models.export.source import BLOCK

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Precision", "QuantisedBlocks", "blocks_of", "int8_columns", "pack_nibbles"]

Precision = Literal["fp32", "int8 batch", "int8 rows", "int7 rows", "8-bit blocks", "4-bit blocks"]
"""Number format of the weights, and over what the activations share a scale."""


@dataclass(frozen=True, slots=True)
class QuantisedBlocks:
    """A matrix as the operator MatMulNBits wants it."""

    packed: NDArray[np.uint8]
    """Shape (outputs, blocks, bytes of a block)."""
    scales: NDArray[np.float32]
    """Shape (outputs, blocks)."""
    bits: int


def pack_nibbles(nibbles: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return two neighbours in one byte, the first in the low half; the last axis halves."""
    return nibbles[..., ::2] | (nibbles[..., 1::2] << 4)


def blocks_of(weights: NDArray[np.float32], bits: int) -> QuantisedBlocks:
    """Return `weights` in symmetric blocks of 32 with the zero point in the middle.

    A block's largest weight by magnitude falls on the far negative end, as in the source file: its
    own blocks therefore come back bit for bit.
    """
    outputs, inputs = weights.shape
    blocks = weights.reshape(outputs, inputs // BLOCK, BLOCK)
    middle = 1 << (bits - 1)
    scales = _scales(blocks, middle)
    steps = np.rint(blocks / np.where(scales == 0, 1, scales)[:, :, None]) + middle
    values = np.clip(steps, 0, 2 * middle - 1).astype(np.uint8)
    return QuantisedBlocks(pack_nibbles(values) if bits == 4 else values, scales, bits)  # noqa: PLR2004


def _scales(blocks: NDArray[np.float32], middle: int) -> NDArray[np.float32]:
    positions = np.abs(blocks).argmax(axis=2)[:, :, None]
    extremes = np.take_along_axis(blocks, positions, axis=2)[:, :, 0]
    return (extremes / -middle).astype(np.float32)


def int8_columns(
    weights: NDArray[np.float32], limit: int = 127
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return signed weights of shape (inputs, outputs) and one scale for each output.

    A `limit` of 63 keeps the sums of CPUs without VNNI from overflowing.
    """
    scales = np.abs(weights).max(axis=1) / limit
    return np.rint(weights / scales[:, None]).astype(np.int8).T.copy(), scales.astype(np.float32)
