"""The best segmentation of a word into the pieces of a unigram vocabulary.

The vocabulary is a trie in a file that is mapped into memory: opening it costs milliseconds, and
only the pages that a text needs are read. models/export/compiled_tokenizer.py writes the file.

Layout, little-endian: the magic; the length of a header as u32; the header, a JSON object; and from
the next multiple of 16 on the arrays of int32 that the header lists as name, byte offset from
there, and number of elements. The trie is a double array (J. Aoe, An efficient digital search
algorithm by using a double-array structure, IEEE TSE 1989) over characters, each with a code from
1: the child of node `n` by code `c` is the slot `base[n] + c` if `parent[base[n] + c]` is `n`.
Codes up to `alone` belong to characters that are pieces by themselves. `piece` holds the id of the
piece that ends at a node, or -1. `scores` are in ten-millionths: divided by 10^7 they are exactly
the decimals of tokenizer.json.
"""

from __future__ import annotations

import json
import mmap
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MAGIC", "SCORE_UNIT", "Segmentation", "Vocabulary"]

MAGIC = b"LRUNI001"
ALIGNMENT = 16
SCORE_UNIT = 10_000_000
ROOT = 0
NO_PIECE = -1
WORST = float("-inf")


class Segmentation(NamedTuple):
    """The pieces of one word."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    """First character of each piece in the word."""


class Vocabulary:
    """A compiled vocabulary.

    Args:
        path: the file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is another kind of file, or is cut off.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        header, start = _read_header(self._map)
        self.header = header
        view = memoryview(self._map)[start:]
        arrays = {name: _array(view, *place) for name, place in header["arrays"].items()}
        self._base, self._parent, self._piece = arrays["base"], arrays["parent"], arrays["piece"]
        self._scores = (np.frombuffer(arrays["scores"], np.int32) / SCORE_UNIT).data
        self._codes = {character: code for code, character in enumerate(header["alphabet"], 1)}
        self._alone: int = header["alone"]
        self._longest: int = header["longest"]
        self._unknown: int = header["unknown"]
        self._unknown_score = header["unknown_score"] / SCORE_UNIT

    def segment(self, word: str) -> Segmentation:
        """Return the segmentation of `word` with the highest sum of scores.

        A character without a piece of its own may be unknown; unknown ones in a row are one token.
        Among equal sums the one whose last piece is longest wins, as in Hugging Face tokenizers.
        Source: T. Kudo, Subword regularization, ACL 2018, section 3.2.
        """
        ids, backs = self._best_paths(word)
        pieces: list[int] = []
        starts: list[int] = []
        end = len(word)
        while end:
            id_, start = ids[end], backs[end]
            if id_ == self._unknown and pieces and pieces[-1] == id_:
                starts[-1] = start
            else:
                pieces.append(id_)
                starts.append(start)
            end = start
        return Segmentation(tuple(reversed(pieces)), tuple(reversed(starts)))

    def _best_paths(self, word: str) -> tuple[list[int], list[int]]:
        """Return for every end the id of the last piece of the best path there, and its start."""
        # Plain buffers and local names: this loop is all the time that tokenising takes.
        base, parent, piece, scores = self._base, self._parent, self._piece, self._scores
        code_of, longest, alone = self._codes.get, self._longest, self._alone
        codes = [code_of(character, 0) for character in word]
        best = [0.0, *(WORST for _ in codes)]
        ids = [self._unknown] * len(best)
        backs = [0] * len(best)
        for start, first in enumerate(codes):
            so_far = best[start]
            node, end = ROOT, start
            for code in codes[start : start + longest]:
                slot = base[node] + code
                if parent[slot] != node:
                    break
                node = slot
                end += 1
                id_ = piece[node]
                if id_ >= 0:
                    score = scores[id_] + so_far
                    if score > best[end]:
                        best[end], ids[end], backs[end] = score, id_, start
            if not 0 < first <= alone:
                score = self._unknown_score + so_far
                end = start + 1
                if score > best[end]:
                    best[end], ids[end], backs[end] = score, self._unknown, start
        return ids, backs


def _read_header(data: mmap.mmap) -> tuple[dict[str, Any], int]:
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError(f"it does not start with {MAGIC!r}")
    (length,) = struct.unpack_from("<I", data, len(MAGIC))
    start = len(MAGIC) + 4
    header: dict[str, Any] = json.loads(data[start : start + length])
    return header, start + length + -(start + length) % ALIGNMENT


def _array(view: memoryview, offset: int, count: int) -> memoryview:
    values = view[offset : offset + 4 * count].cast("i")
    if len(values) != count:
        raise ValueError("it is cut off")
    return values
