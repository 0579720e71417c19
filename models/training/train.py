"""Trains the cross-encoder.

    python -m models.training.mine --data ../shared/data
    python -m models.training.train --start ../shared/models/init/cross-encoder-6l.safetensors \
        --steps 2000

Each step reads some questions, each with a passage that answers and several that do not. The loss
is softmax cross-entropy over a question's passages plus half of the binary cross-entropy of each:
the first ranks, the second makes the logit mean something on its own, and has passages that answer
nothing as its negatives. The learning rate rises, stays, and falls linearly to zero over the last
part of the steps, so a longer or shorter run can still be decided on while it stays.

A run can be interrupted at any time and started again with the same command: everything is kept
every few minutes in models/.work/run, and the questions of a step depend on the seed and the step's
number alone. The log, one JSON object a line, is drawn by `models.training.plot`.

On two CPU cores a run of 2,000 steps takes hours. Where PyTorch finds a GPU, it is used, and
`--questions` is raised.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from localrag.inference.library_tokenizer import LibraryTokenizer
from localrag.inference.load import load_embedder
from models.training.encoder import CrossEncoderNetwork, load_network, save_network
from models.training.mine import MINED, SEED, WORK
from models.training.questions import HELD_OUT
from models.training.run import MICRO_TOKENS, Folder, batches, padded
from models.training.shapes import Group, Shaper

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = WORK / "run"
TOKENIZER = WORK.parent / "multilingual-e5-small" / "tokenizer.json"
LONGEST = 510
"""Tokens of a question and a passage together."""
QUESTIONS = {"cpu": 8, "cuda": 48}
"""Questions of one step."""
PEAK, HEAD_PEAK = 8e-5, 2e-4
WARM_UP, DECAY = 60, 0.35
"""Steps of the rise, and share of the steps in which the rate falls."""
BINARY_SHARE = 0.5
KEPT_EVERY, MEASURED_EVERY = 50, 500
MEASURED = 15
"""Held-out questions of each set that are measured on the way."""
HELD_OUT_NEGATIVES = 9
WEIGHTS = {
    "squad_en": 0.4,
    "squad_en_more": 0.8,
    "jaquad": 0.5,
    "jaquad_more": 1.2,
    "scifact": 4.0,
    "nq_oracle": 1.0,
    "medquad": 0.5,
    "fairytaleqa": 0.5,
    "cmrc2018": 0.6,
    "drcd": 0.6,
    "jsquad": 0.6,
    "code": 2.0,
    "tables": 0.8,
    "written": 1.0,
    "written_code": 4.0,
}
"""How often a set's questions come, against their number."""


@dataclass(frozen=True, slots=True)
class Row:
    """A mined question of one set."""

    set: str
    content: dict[str, object]


def main() -> None:
    """Train until the last step, then write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--start", type=Path, help="checkpoint; the bi-encoder's layers without it")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--frozen", type=int, default=0, help="first layers that stay as they are")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--questions", type=int, help="of one step")
    parser.add_argument("--rate", type=float, default=1.0, help="share of the rates of a first run")
    parser.add_argument("--run", type=Path, default=RUN, help="where the run is kept")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(SEED)
    network = load_network(arguments.start, arguments.layers).to(device)
    for layer in network.layers[: arguments.frozen]:
        layer.requires_grad_(requires_grad=False)
    training, held_out = read_rows(sorted(MINED.glob("*.jsonl.gz")), MEASURED)
    run = Run(network, training, held_out, Folder(arguments.run), device, arguments.steps)
    run.questions = arguments.questions or QUESTIONS[device]
    run.rate = arguments.rate
    run.all()
    save_network(network, arguments.run / f"cross-encoder-{arguments.layers}l.safetensors")


def read_rows(paths: Sequence[Path], measured: int) -> tuple[list[Row], list[Row]]:
    """Return the rows to train on, and the first `measured` of each set's that are held out."""
    training, held_out = [], []
    for path in paths:
        name = path.name.removesuffix(".jsonl.gz")
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            rows = [Row(name, json.loads(line)) for line in stream]
        rows = [row for row in rows if row.content["negatives"]]
        held_out += rows[:measured]
        training += rows[HELD_OUT:]
    return training, held_out


class Run:
    """The state of a training run."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a run consists of
        self,
        network: CrossEncoderNetwork,
        training: list[Row],
        held_out: list[Row],
        folder: Folder,
        device: str,
        steps: int,
    ) -> None:
        self.network, self.training, self.held_out = network, training, held_out
        self.folder, self.device, self.steps = folder, device, steps
        self.questions = QUESTIONS[device]
        head = [*network.dense.parameters(), *network.score.parameters()]
        self.optimizer = torch.optim.AdamW(
            [
                {
                    "params": [one for one in network.layers.parameters() if one.requires_grad],
                    "peak": PEAK,
                },
                {"params": head, "peak": HEAD_PEAK},
            ],
            lr=PEAK,
            betas=(0.9, 0.98),
            weight_decay=0.01,
        )
        self.tokenizer = LibraryTokenizer(TOKENIZER)
        self.shaper = Shaper(load_embedder().counter)
        self.weights = [WEIGHTS[row.set] for row in training]
        self.rate = 1.0
        self.step = 0

    def all(self) -> None:
        """Run every step that is left."""
        self.step = self.folder.resume(self.network, self.optimizer, self.device)
        started, tokens = time.perf_counter(), 0
        recent: list[tuple[float, float]] = []
        self.network.train()
        while self.step < self.steps:
            if self.step % MEASURED_EVERY == 0:
                self.folder.log(self.step, held_out=self.measure())
            loss, first, read = self.train_step()
            recent.append((loss, first))
            tokens += read
            self.step += 1
            if self.step % 10 == 0:
                losses, firsts = zip(*recent, strict=True)
                self.folder.log(
                    self.step,
                    loss=sum(losses) / len(losses),
                    first=sum(firsts) / len(firsts),
                    rate=self.optimizer.param_groups[0]["lr"],
                    tokens_per_second=tokens / (time.perf_counter() - started),
                )
                recent, tokens, started = [], 0, time.perf_counter()
            if self.step % KEPT_EVERY == 0:
                self.folder.keep(self.step, self.network, self.optimizer)
        self.folder.log(self.step, held_out=self.measure())

    def train_step(self) -> tuple[float, float, int]:
        """Return loss, share of questions whose relevant passage came first, and tokens read."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * self.rate * learning_rate(self.step, self.steps)
        groups = self.groups()
        logits, tokens = self.logits(groups)
        loss, first = loss_of(groups, logits)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(loss.detach()), first, tokens

    def groups(self) -> list[Group]:
        """Return the questions of the present step."""
        generator = random.Random(f"{SEED} {self.step}")  # noqa: S311 - it samples
        rows = generator.choices(self.training, self.weights, k=self.questions)
        return [
            self.shaper.group(row.content, f"{SEED} {self.step} {place}")
            for place, row in enumerate(rows)
        ]

    def logits(self, groups: Sequence[Group]) -> tuple[torch.Tensor, int]:
        """Return the logits of all passages of all `groups`, in order, and how many tokens."""
        pairs = [
            ids[: LONGEST - 1] + ids[-1:] if len(ids) > LONGEST else ids
            for group in groups
            for ids in self.tokenizer.encode_pairs(group.query, group.passages)
        ]
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place]))
        parts = []
        for batch in batches(order, [len(ids) for ids in pairs], MICRO_TOKENS[self.device]):
            ids, lengths = padded([pairs[place] for place in batch])
            with torch.autocast(self.device, torch.bfloat16):
                parts.append(self.network(ids.to(self.device), lengths.to(self.device)))
        inverse = torch.empty(len(order), dtype=torch.long)
        inverse[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(parts)[inverse.to(self.device)], sum(map(len, pairs))

    @torch.no_grad()
    def measure(self) -> dict[str, float]:
        """Return, for each set, the mean reciprocal rank among the hardest held-out candidates."""
        ranks: dict[str, list[float]] = {}
        for start in range(0, len(self.held_out), 16):
            rows = self.held_out[start : start + 16]
            groups = [whole_group(row.content) for row in rows]
            logits, _ = self.logits(groups)
            places = split(logits, groups)
            for row, own in zip(rows, places, strict=True):
                rank = 1 + int((own[1:] >= own[0]).sum())
                ranks.setdefault(row.set, []).append(1 / rank)
        means = {name: sum(values) / len(values) for name, values in ranks.items()}
        return means | {"mean": sum(means.values()) / len(means)}


def learning_rate(step: int, steps: int) -> float:
    """Return the share of the peak rate: a rise, a plateau, a linear fall to zero."""
    fall = int(steps * DECAY)
    return min(1.0, (step + 1) / WARM_UP, (steps - step) / fall)


def whole_group(content: dict[str, object]) -> Group:
    """Return a held-out question with passages as the product shows them to the model."""
    rows = [content["relevant"][0], *content["negatives"][:HELD_OUT_NEGATIVES]]
    return Group(content["text"], tuple(f"{title}\n{text}" for title, text in rows))


def split(logits: torch.Tensor, groups: Sequence[Group]) -> tuple[torch.Tensor, ...]:
    """Return the logits group by group."""
    return logits.split([len(group.passages) for group in groups])


def loss_of(groups: Sequence[Group], logits: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Return the loss and the share of questions whose relevant passage came first."""
    losses, firsts = [], []
    for own in split(logits, groups):
        labels = torch.zeros_like(own)
        labels[0] = 1
        listwise = functional.cross_entropy(own[None], own.new_zeros(1, dtype=torch.long))
        binary = functional.binary_cross_entropy_with_logits(own, labels)
        losses.append(listwise + BINARY_SHARE * binary)
        firsts.append(float(own.detach().argmax() == 0))
    return torch.stack(losses).mean(), sum(firsts) / len(firsts)


if __name__ == "__main__":
    main()
