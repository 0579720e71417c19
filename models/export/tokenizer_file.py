"""Builds tokenizer.json from the pieces of the 4-bit file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from models.export.source import Source

__all__ = ["write_tokenizer"]

CONTROL = frozenset({"<s>", "<pad>", "</s>", "<unk>", "<mask>"})
UNTYPABLE = "\x01"
BEGIN, END = UNTYPABLE + "<s>", UNTYPABLE + "</s>"
META = "▁"

DELETED = r"[\x00-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
"""Control characters the source's map deletes, and NUL, which its C strings could not hold."""
BLANK = r"[\u200b-\u200f\u2581\ufeff\ufffd]"
"""What the source's map turns into a space and Unicode does not call white space."""
KEPT, STAND_IN = "\uff5e", "\U000f0000"
"""NFKC makes an ASCII tilde of the full-width one; the vocabulary knows it as a piece."""


def write_tokenizer(source: Source, path: Path) -> None:
    """Write the tokenizer as compact JSON: every field that is not needed costs loading time."""
    text = json.dumps(_tokenizer(source), ensure_ascii=False, separators=(",", ":"))
    path.write_text(text, encoding="utf-8")


def _tokenizer(source: Source) -> dict[str, object]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": _normalizers()},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": _pre_tokenizers()},
        "post_processor": _templates(),
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 3, "vocab": _vocabulary(source)},
    }


def _normalizers() -> list[dict[str, object]]:
    return [
        _replace({"Regex": DELETED}, ""),
        _replace({"Regex": BLANK}, " "),
        _replace({"String": KEPT}, STAND_IN),
        {"type": "NFKC"},
        _replace({"String": STAND_IN}, KEPT),
    ]


def _replace(pattern: dict[str, str], content: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _pre_tokenizers() -> list[dict[str, object]]:
    """Split at white space, then mark the start of every word: no run of spaces makes a token."""
    metaspace = {
        "type": "Metaspace",
        "replacement": META,
        "prepend_scheme": "always",
        "split": True,
    }
    return [{"type": "WhitespaceSplit"}, metaspace]


def _templates() -> dict[str, object]:
    first, second = _sequence("A"), _sequence("B")
    begin, end = _special(BEGIN), _special(END)
    return {
        "type": "TemplateProcessing",
        "single": [begin, first, end],
        "pair": [begin, first, end, end, second, end],
        "special_tokens": {
            BEGIN: {"id": BEGIN, "ids": [0], "tokens": [BEGIN]},
            END: {"id": END, "ids": [2], "tokens": [END]},
        },
    }


def _sequence(name: str) -> dict[str, object]:
    return {"Sequence": {"id": name, "type_id": 0}}


def _special(name: str) -> dict[str, object]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def _vocabulary(source: Source) -> list[tuple[str, float]]:
    """Return pieces with scores; shortest decimals that still are the same float32.

    The control pieces get a name that holds a character the normaliser deletes: a document in which
    somebody wrote `</s>` cannot end its own passage.
    """
    pairs = zip(source.pieces, source.scores, strict=True)
    return [
        (UNTYPABLE + piece if piece in CONTROL else piece, float(str(score)))
        for piece, score in pairs
    ]
