"""The mined questions that a training reads, and the ones it holds out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.training.mine import WORK, read_mined
from models.training.questions import HELD_OUT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["TOKENIZER", "Row", "read_rows"]

TOKENIZER = WORK.parent / "multilingual-e5-small" / "tokenizer.json"
"""Of both models."""


@dataclass(frozen=True, slots=True)
class Row:
    """A mined question of one set."""

    set: str
    content: dict[str, object]


def read_rows(paths: Sequence[Path], measured: int) -> tuple[list[Row], list[Row]]:
    """Return the rows to train on, and the first `measured` of each set's that are held out."""
    training, held_out = [], []
    for path in paths:
        name = path.name.removesuffix(".jsonl.gz")
        rows = [Row(name, content) for content in read_mined(path)]
        held_out += rows[:measured]
        training += rows[HELD_OUT:]
    return training, held_out
