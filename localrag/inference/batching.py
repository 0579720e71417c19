"""Groups inputs of different lengths so that little of the work is spent on padding."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["BATCH_TOKENS", "Batch", "pad", "plan_batches", "run_batches"]

BATCH_TOKENS = 256
"""Tokens of one batch, padding included: what the cache of its core can hold.

With 2,048 for each of two threads, reading 30 passages took 40 % more processor time and 190 MB
more memory (docs/decisions.md, "Small batches").
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs that run together."""

    members: tuple[int, ...]
    """Positions in the caller's order, longest input first."""
    length: int
    """Tokens of the longest member."""


def plan_batches(lengths: Sequence[int], budget: int) -> tuple[Batch, ...]:
    """Return batches that hold every input once, sorted by length, longest first.

    A batch's padded size (members x longest) stays within `budget`, unless one input alone exceeds
    it. The longest come first so that memory is claimed once, and a failure shows at the start.
    """
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    batches: list[Batch] = []
    while order:
        length = lengths[order[0]]
        size = max(1, budget // max(1, length))
        batches.append(Batch(tuple(order[:size]), length))
        order = order[size:]
    return tuple(batches)


def run_batches(work: Callable[[Batch], None], lengths: Sequence[int], threads: int) -> None:
    """Call `work` with every batch of inputs of these lengths, on up to `threads` threads at once.

    The first error is raised when the batches that have begun are done; others then do not begin.
    """
    batches = plan_batches(lengths, BATCH_TOKENS)
    if threads == 1 or len(batches) == 1:
        for batch in batches:
            work(batch)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="localrag-batch") as pool:
        # Reading the results raises what was raised; leaving `map` takes back what has not begun.
        for _ in pool.map(work, batches):
            pass


def pad(inputs: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ids filled up with zeros, and the mask of what is real; shape (inputs, longest)."""
    longest = max(map(len, inputs))
    ids = np.zeros((len(inputs), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(inputs):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return ids, mask
