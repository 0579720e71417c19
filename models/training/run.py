"""Keeps a training run on disk, so that it can be interrupted at any time, and shares its helpers.

A run's folder holds `state.pt`, with everything that is needed to go on, and `log.jsonl`, one JSON
object a line, which `models.training.plot` draws.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import nn

__all__ = ["MICRO_TOKENS", "Folder", "batches", "padded"]

MICRO_TOKENS = {"cpu": 4_000, "cuda": 120_000}
"""Padded tokens that are computed together."""


class Folder:
    """The folder of one run; it is made where it does not exist."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path

    def log(self, step: int, **facts: object) -> None:
        """Append a line to the log."""
        line = json.dumps({"step": step, "time": time.time(), **facts})
        with (self.path / "log.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")
        print(line, flush=True)

    def keep(self, step: int, network: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Write everything that is needed to go on."""
        path = self.path / "state.pt"
        partial = path.with_suffix(".partial")
        state = {
            "step": step,
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
        }
        torch.save(state, partial)
        partial.rename(path)

    def resume(self, network: nn.Module, optimizer: torch.optim.Optimizer, device: str) -> int:
        """Load the state that was kept, if there is one, and return its step, or 0."""
        path = self.path / "state.pt"
        if not path.exists():
            return 0
        state = torch.load(path, map_location=device, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        return int(state["step"])


def batches(order: Sequence[int], lengths: Sequence[int], most: int) -> list[list[int]]:
    """Cut `order`, shortest first, where the padded tokens of a batch would exceed `most`."""
    found: list[list[int]] = [[]]
    for place in order:
        if found[-1] and (len(found[-1]) + 1) * lengths[place] > most:
            found.append([])
        found[-1].append(place)
    return found


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return `rows` of token ids as one tensor, shape (rows, longest), and their lengths."""
    ids = torch.ones(len(rows), max(map(len, rows)), dtype=torch.long)  # 1 is the padding token
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
    return ids, torch.tensor([len(row) for row in rows])
