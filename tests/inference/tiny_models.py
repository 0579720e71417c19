"""A tokenizer of whole words and sessions without weights, so that arithmetic can be exact."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

WORDS = ("[unk]", "<s>", "</s>", "passage:", "query:", "one", "two", "three", "four")
LIMIT = 16


class WordSession:
    """Stands in for a session: token vectors are one-hot ids, scores the number of tokens."""

    threads = 2

    def __init__(self, dimensions: int | None) -> None:
        self.dimensions = dimensions
        self.shapes: list[tuple[int, ...]] = []
        self.result: NDArray[np.float32] | None = None
        self.types: NDArray[np.int64] | None = None
        self.loaded = 0

    def run(
        self,
        ids: NDArray[np.int64],
        mask: NDArray[np.int64],
        types: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float32]:
        self.types = types
        self.shapes.append(ids.shape)
        if self.result is not None:
            return self.result
        if self.dimensions is None:
            sums: NDArray[np.float32] = mask.sum(axis=1).astype(np.float32)
            return sums
        one_hot = np.eye(self.dimensions, dtype=np.float32)
        return one_hot[ids]

    def load(self) -> None:
        self.loaded += 1

    def close(self) -> None:
        self.loaded = 0


def facts(kind: str) -> dict[str, Any]:
    """Return a valid card without its files."""
    own: dict[str, Any] = (
        {"dimensions": len(WORDS), "pooling": "mean", "passage_prefix": "passage: "}
        if kind == "bi-encoder"
        else {"calibration": {"scale": 1.0, "bias": 0.0}}
    )
    return own | {
        "name": f"tiny {kind}",
        "kind": kind,
        "architecture": "none",
        "max_tokens": LIMIT,
        "licence": "MIT",
        "source": "tests",
    }


def listed(directory: Path) -> list[dict[str, object]]:
    """Return the entries of a card for the two files of `directory`."""
    contents = {name: (directory / name).read_bytes() for name in ("model.onnx", "tokenizer.json")}
    return [
        {"path": name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in contents.items()
    ]


def make_tokenizer(folder: Path, *, types: bool = False, cut: int | None = None) -> None:
    """Write `tokenizer.json`.

    With `types` it tells the texts of a pair apart, as BERT's does; with `cut` it cuts texts to as
    many tokens and fills them up to as many, as that of all-MiniLM-L6-v2 does.
    """
    second = 1 if types else 0
    tokenizer = LibraryTokenizer(
        WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token=WORDS[0])
    )
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair=f"<s> $A </s> </s>:{second} $B:{second} </s>:{second}",
        special_tokens=[("<s>", 1), ("</s>", 2)],
    )
    if cut is not None:
        tokenizer.enable_truncation(cut)
        tokenizer.enable_padding(length=cut)
    tokenizer.save(str(folder / "tokenizer.json"))


def make_family(tmp_path: Path) -> Path:
    """Fill a directory with a tokenizer, cards, and files that are no models; return it."""
    make_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    for kind in ("bi-encoder", "cross-encoder"):
        card = facts(kind) | {"files": listed(tmp_path)}
        (tmp_path / f"{kind}.json").write_text(json.dumps(card))
    return tmp_path
