"""Trains the cross-encoder.

    python -m models.training.mine --data ../shared/data
    python -m models.training.train --start ../shared/models/init/cross-encoder-6l.safetensors \
        --steps 2000

Each step reads some questions, each with a passage that answers and several that do not. The loss
is softmax cross-entropy over a question's passages plus half of the binary cross-entropy of each:
the first ranks, the second makes the logit mean something on its own, and has passages that answer
nothing as its negatives. A passage's logit is that of its best window: it learns as it reads. The
learning rate rises, stays, and falls linearly to zero over the last part of the steps, so a longer
or shorter run can still be decided on while it stays.

A run can be interrupted at any time and started again with the same command: everything is kept
every few minutes in models/.work/run, and the questions of a step depend on the seed and the step's
number alone. The log, one JSON object a line, is drawn by `models.training.plot`.

On two CPU cores a run of 2,000 steps takes hours. Where PyTorch finds a GPU, it is used, and
`--questions` is raised.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from localrag.inference.library_tokenizer import LibraryTokenizer
from localrag.inference.load import load_embedder, load_reranker
from models.training.encoder import CrossEncoderNetwork, load_network, save_network
from models.training.mine import MINED, SEED, WORK
from models.training.rows import TOKENIZER, Row, read_rows
from models.training.run import Folder, Run, add_options, device_of, freeze, shortened
from models.training.shapes import Group, Shaper

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = WORK / "run"
LONGEST = 510
"""Tokens of a question and a passage together."""
QUESTIONS = {"cpu": 8, "cuda": 48}
"""Questions of one step."""
PEAK, HEAD_PEAK = 8e-5, 2e-4
WARM_UP, DECAY = 60, 0.35
"""Steps of the rise, and share of the steps in which the rate falls."""
BINARY_SHARE = 0.5
MEASURED_EVERY = 500
MEASURED = 15
"""Held-out questions of each set that are measured on the way."""
HELD_OUT_NEGATIVES = 9
WEIGHTS = {
    "squad_en": 0.2,
    "squad_en_more": 0.4,
    "squad_en_third": 0.8,
    "jaquad": 0.6,
    "jaquad_more": 0.8,
    "jaquad_third": 1.2,
    "scifact": 4.0,
    "nq_oracle": 1.5,
    "medquad": 0.5,
    "fairytaleqa": 0.5,
    "cmrc2018": 0.6,
    "drcd": 0.6,
    "jsquad": 0.6,
    "code": 1.5,
    "tables": 0.8,
    "written": 0.8,
    "written_code": 3.0,
    "written_named": 3.0,
}
"""How often a set's questions come, against their number."""
WRITTEN_AS_CODE = ("code", "written_code", "written_named")


def main() -> None:
    """Train until the last step, then write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--start", type=Path, help="checkpoint; the bi-encoder's layers without it")
    parser.add_argument("--bi-encoder", type=Path, help="checkpoint for the layers it lacks")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1.0, help="share of the rates of a first run")
    add_options(parser, RUN, frozen=0)
    arguments = parser.parse_args()
    device = device_of(arguments)
    torch.manual_seed(SEED)
    network = load_network(arguments.start, arguments.layers, arguments.bi_encoder).to(device)
    freeze(network.layers[: arguments.frozen])
    training, held_out = read_rows(sorted(MINED.glob("*.jsonl.gz")), MEASURED)
    folder = Folder(arguments.run)
    run = CrossEncoderRun(
        network, training, held_out, folder, device, arguments.steps, arguments.rate
    )
    run.questions = arguments.questions or QUESTIONS[device]
    run.all()
    save_network(network, arguments.run / f"cross-encoder-{arguments.layers}l.safetensors")


class CrossEncoderRun(Run):
    """Questions with the passages of each, read together."""

    warm_up, decay, measured_every = WARM_UP, DECAY, MEASURED_EVERY
    network: CrossEncoderNetwork

    def __init__(  # noqa: PLR0913, PLR0917 - what a run consists of
        self,
        network: CrossEncoderNetwork,
        training: list[Row],
        held_out: list[Row],
        folder: Folder,
        device: str,
        steps: int,
        rate: float = 1.0,
    ) -> None:
        self.training, self.held_out = training, held_out
        self.questions = QUESTIONS[device]
        layers = [one for one in network.layers.parameters() if one.requires_grad]
        head = [*network.dense.parameters(), *network.score.parameters()]
        groups: list[dict[str, object]] = [
            {"params": layers, "peak": PEAK * rate},
            {"params": head, "peak": HEAD_PEAK * rate},
        ]
        super().__init__(network, groups, folder, device, steps)
        self.tokenizer = LibraryTokenizer(TOKENIZER)
        self.shaper = Shaper(load_embedder().counter)
        self.window_tokens = load_reranker().window_tokens
        self.weights = [WEIGHTS[row.set] for row in training]

    def loss(self) -> tuple[torch.Tensor, float, int]:
        """Return loss, share of questions whose relevant passage came first, and tokens read."""
        groups = self.groups()
        logits, tokens = self.logits(groups)
        return *loss_of(groups, logits), tokens

    def groups(self) -> list[Group]:
        """Return the questions of the present step."""
        generator = random.Random(f"{SEED} {self.step}")  # noqa: S311 - it samples
        rows = generator.choices(self.training, self.weights, k=self.questions)
        return [
            self.shaper.group(
                row.content, f"{SEED} {self.step} {place}", code=row.set in WRITTEN_AS_CODE
            )
            for place, row in enumerate(rows)
        ]

    def logits(self, groups: Sequence[Group]) -> tuple[torch.Tensor, int]:
        """Return the logits of all windows of all `groups`, in order, and how many tokens."""
        pairs = [
            shortened(ids, LONGEST)
            for group in groups
            for ids in self.tokenizer.encode_pairs(
                group.query, [window for passage in group.passages for window in passage]
            )
        ]
        return self.outputs(pairs), sum(map(len, pairs))

    @torch.no_grad()
    def measure(self) -> dict[str, float]:
        """Return, for each set, the mean reciprocal rank among the hardest held-out candidates."""
        ranks: dict[str, list[float]] = {}
        for start in range(0, len(self.held_out), 16):
            rows = self.held_out[start : start + 16]
            groups = [self.as_read(row) for row in rows]
            logits, _ = self.logits(groups)
            places = split(logits, groups)
            for row, own in zip(rows, places, strict=True):
                rank = 1 + int((own[1:] >= own[0]).sum())
                ranks.setdefault(row.set, []).append(1 / rank)
        means = {name: sum(values) / len(values) for name, values in ranks.items()}
        return means | {"mean": sum(means.values()) / len(means)}

    def as_read(self, row: Row) -> Group:
        """Return a held-out question with passages as the product shows them to the model."""
        content = row.content
        passages = [content["relevant"][0], *content["negatives"][:HELD_OUT_NEGATIVES]]
        code = row.set in WRITTEN_AS_CODE
        return Group(
            content["text"],
            tuple(
                self.shaper.windows(title, text, self.window_tokens, code=code)
                for title, text in passages
            ),
        )


def split(logits: torch.Tensor, groups: Sequence[Group]) -> tuple[torch.Tensor, ...]:
    """Return the logits of the passages group by group: of each that of its best window."""
    windows = [len(passage) for group in groups for passage in group.passages]
    best = torch.stack([own.max() for own in logits.split(windows)])
    return best.split([len(group.passages) for group in groups])


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
