"""A training run that can be interrupted at any time, whatever the model.

A run's folder holds `state.pt`, with everything that is needed to go on, and `log.jsonl`, one JSON
object a line, which `models.training.plot` draws.
"""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from torch import nn

__all__ = [
    "Folder",
    "Run",
    "add_options",
    "batches",
    "device_of",
    "freeze",
    "learning_rate",
    "padded",
    "shortened",
]

MICRO_TOKENS = {"cpu": 4_000, "cuda": 120_000}
"""Padded tokens that are computed together."""
LOGGED_EVERY, KEPT_EVERY = 10, 50


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


class Run(ABC):
    """The state of a training run.

    Args:
        network: what is trained; only parameters that require a gradient are.
        groups: parameters as an optimizer takes them, each group with its highest rate, `peak`.
        folder: where the run is kept.
        device: "cpu" or "cuda", as PyTorch names it.
        steps: of the whole run.
    """

    warm_up: ClassVar[int]
    """Steps in which the rate rises."""
    decay: ClassVar[float]
    """Share of the steps in which it falls."""
    measured_every: ClassVar[int]
    kept_every = KEPT_EVERY

    def __init__(
        self,
        network: nn.Module,
        groups: list[dict[str, object]],
        folder: Folder,
        device: str,
        steps: int,
    ) -> None:
        self.network, self.folder, self.device, self.steps = network, folder, device, steps
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
        self.step = 0

    @abstractmethod
    def loss(self) -> tuple[torch.Tensor, float, int]:
        """Return the step's loss, the share of questions whose passage came first, tokens read."""

    @abstractmethod
    def measure(self) -> dict[str, float]:
        """Return the figure of each set of held-out questions."""

    def finish(self) -> dict[str, object]:
        """Change the weights after the last step, if that is wanted; return what the log says."""
        return {}

    def all(self) -> None:
        """Run every step that is left."""
        self.step = self.folder.resume(self.network, self.optimizer, self.device)
        started, tokens = time.perf_counter(), 0
        recent: list[tuple[float, float]] = []
        self.network.train()
        while self.step < self.steps:
            if self.step % self.measured_every == 0:
                self.folder.log(self.step, held_out=self.measure())
                started = time.perf_counter()
            loss, first, read = self.train_step()
            recent.append((loss, first))
            tokens += read
            self.step += 1
            if self.step % LOGGED_EVERY == 0:
                losses, firsts = zip(*recent, strict=True)
                self.folder.log(
                    self.step,
                    loss=sum(losses) / len(losses),
                    first=sum(firsts) / len(firsts),
                    rate=self.optimizer.param_groups[0]["lr"],
                    tokens_per_second=tokens / (time.perf_counter() - started),
                )
                recent, tokens, started = [], 0, time.perf_counter()
            if self.step % self.kept_every == 0:
                self.folder.keep(self.step, self.network, self.optimizer)
        facts = self.finish()
        self.folder.log(self.step, **facts, held_out=self.measure())

    def train_step(self) -> tuple[float, float, int]:
        """Take one step; return its loss as a number, and what else `loss` returns."""
        share = learning_rate(self.step, self.steps, self.warm_up, self.decay)
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * share
        loss, first, tokens = self.loss()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(loss.detach()), first, tokens

    def outputs(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return what the network makes of `rows` of token ids, in their order.

        Rows of a length are computed together, as many as fit `MICRO_TOKENS`.
        """
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        parts = []
        for batch in batches(order, [len(ids) for ids in rows], MICRO_TOKENS[self.device]):
            ids, lengths = padded([rows[place] for place in batch])
            with torch.autocast(self.device, torch.bfloat16):
                parts.append(self.network(ids.to(self.device), lengths.to(self.device)))
        inverse = torch.empty(len(order), dtype=torch.long)
        inverse[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(parts)[inverse.to(self.device)]


def add_options(parser: argparse.ArgumentParser, folder: Path, frozen: int) -> None:
    """Add what every training asks for, with the folder of the run and its frozen layers."""
    parser.add_argument(
        "--frozen", type=int, default=frozen, help="first layers that stay as they are"
    )
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--questions", type=int, help="of one step")
    parser.add_argument("--run", type=Path, default=folder, help="where the run is kept")
    parser.add_argument("--threads", type=int, default=os.cpu_count())


def device_of(arguments: argparse.Namespace) -> str:
    """Return the device to train on, and set the threads that were asked for."""
    torch.set_num_threads(arguments.threads)
    return "cuda" if torch.cuda.is_available() else "cpu"


def freeze(layers: Iterable[nn.Module]) -> None:
    """Let `layers` stay as they are."""
    for layer in layers:
        layer.requires_grad_(requires_grad=False)


def learning_rate(step: int, steps: int, warm_up: int, decay: float) -> float:
    """Return the share of the peak rate: a rise, a plateau, a linear fall to zero."""
    return min(1.0, (step + 1) / warm_up, (steps - step) / max(1, int(steps * decay)))


def batches(order: Sequence[int], lengths: Sequence[int], most: int) -> list[list[int]]:
    """Cut `order`, shortest first, where the padded tokens of a batch would exceed `most`."""
    found: list[list[int]] = [[]]
    for place in order:
        if found[-1] and (len(found[-1]) + 1) * lengths[place] > most:
            found.append([])
        found[-1].append(place)
    return found


def shortened(ids: list[int], longest: int) -> list[int]:
    """Return at most `longest` of the token ids, the last of them included."""
    return ids[: longest - 1] + ids[-1:] if len(ids) > longest else ids


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return `rows` of token ids as one tensor, shape (rows, longest), and their lengths."""
    ids = torch.ones(len(rows), max(map(len, rows)), dtype=torch.long)  # 1 is the padding token
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
    return ids, torch.tensor([len(row) for row in rows])
