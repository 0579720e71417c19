"""Lays a trie out as a double array; localrag/inference/unigram.py reads it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

__all__ = ["DoubleArray", "double_array"]

NONE = -1
WINDOW = 2048
"""Slots that are tried together."""
ROOT = ""
"""A node is named by the text that leads to it."""

Children = dict[str, list[str]]
"""Characters that follow a node; no entry for a leaf."""


@dataclass(frozen=True, slots=True)
class DoubleArray:
    """Arrays of int32, as long as the largest slot that a lookup can ask for."""

    base: NDArray[np.int32]
    parent: NDArray[np.int32]
    piece: NDArray[np.int32]


def double_array(pieces: Mapping[str, int], codes: Mapping[str, int]) -> DoubleArray:
    """Return the trie of `pieces`, each with its id; `codes` numbers their characters from 1.

    The same pieces and codes give the same arrays, whatever the order of the pieces.
    """
    children = _children(pieces)
    bases = _bases(children, codes)
    slots = _slots(children, bases, codes)
    size = max(bases.values()) + max(codes.values()) + 1
    base, parent, piece = (np.full(size, fill, np.int32) for fill in (0, NONE, NONE))
    for node, followers in children.items():
        base[slots[node]] = bases[node]
        for character in followers:
            parent[slots[node + character]] = slots[node]
    for text, id_ in pieces.items():
        piece[slots[text]] = id_
    return DoubleArray(base, parent, piece)


def _children(pieces: Iterable[str]) -> Children:
    nodes = {text[:length] for text in pieces for length in range(1, len(text) + 1)}
    children: defaultdict[str, list[str]] = defaultdict(list)
    for node in sorted(nodes):
        children[node[:-1]].append(node[-1])
    return dict(children)


def _bases(children: Children, codes: Mapping[str, int]) -> dict[str, int]:
    """Return for each node the lowest base at which all its children find free slots.

    Nodes with most children come first: the single ones fill what those leave open.
    """
    # Room for every child beyond the last used slot: the search below always ends.
    room = 2 * (sum(map(len, children.values())) + max(codes.values()) + 1)
    used = np.zeros(room, np.bool_)
    used[0] = True  # the root itself
    free = 1  # no lower slot is
    bases: dict[str, int] = {}
    for node in sorted(children, key=lambda node: (-len(children[node]), node)):
        offsets = np.array(sorted(codes[character] for character in children[node]))
        base = bases[node] = _first_fit(used, offsets, free)
        used[base + offsets] = True
        free += int(np.argmin(used[free:]))
    return bases


def _first_fit(used: NDArray[np.bool_], offsets: NDArray[np.int64], free: int) -> int:
    window = max(free, int(offsets[0]))
    while True:
        last = min(window + WINDOW, len(used) - int(offsets[-1]))
        bases = np.flatnonzero(~used[window:last]) + window - offsets[0]
        fitting = ~used[bases[:, None] + offsets].any(axis=1)
        if fitting.any():
            return int(bases[np.argmax(fitting)])
        window += WINDOW


def _slots(
    children: Children, bases: Mapping[str, int], codes: Mapping[str, int]
) -> dict[str, int]:
    slots = {ROOT: 0}
    for node, followers in children.items():
        for character in followers:
            slots[node + character] = bases[node] + codes[character]
    return slots
