"""Trains the bi-encoder further.

    python -m models.training.mine --data ../shared/data
    python -m models.training.mine --data ../shared/data --set written written_code
    python -m models.training.bi_encoder --steps 600

Each step reads some questions, each with a passage that answers and two of the passages that the
product brings up first and that do not. The loss (InfoNCE; van den Oord et al., 2018) is the
softmax cross-entropy of each question over all passages of the step, cosines divided by a
temperature. Word embeddings, and the first layers, stay as they are: what distinguishes languages
that no question here is in lies there, and the cross-encoder shares the table of words.

At the end the weights are drawn back towards those at the start (`--share`): a model that has seen
few languages keeps more of the others so (Wortsman et al., Robust fine-tuning of zero-shot models,
CVPR 2022).

A run can be interrupted and started again with the same command; the questions of a step depend on
the seed and the step's number alone. `--steps 0` measures the held-out questions.
"""

from __future__ import annotations

import argparse
import copy
import random
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from localrag.inference.library_tokenizer import LibraryTokenizer
from models.training.encoder import BiEncoderNetwork, load_bi_encoder, save_network
from models.training.mine import MINED, SEED, WORK
from models.training.questions import HELD_OUT
from models.training.rows import TOKENIZER, Row, read_rows
from models.training.run import Folder, Run, add_options, device_of, freeze, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = WORK / "bi-encoder"
LONGEST = {"read": 512, "trained": 256}
"""Tokens of a passage that are read when measuring and when training."""
QUESTIONS = {"cpu": 16, "cuda": 256}
HARD, HARDEST = 2, 8
"""Negatives of each question in a step, and the first mined ones of which they are drawn."""
TEMPERATURE = 0.02
PEAK = 3e-5
WARM_UP, DECAY = 30, 0.5
"""Steps of the rise, and share of the steps in which the rate falls."""
MEASURED_EVERY = 300
MEASURED_NEGATIVES = 7
SHARES = {
    "written": 0.34,
    "written_code": 0.12,
    "code": 0.03,
    "jaquad": 0.07,
    "jaquad_more": 0.10,
    "jsquad": 0.03,
    "squad_en": 0.05,
    "squad_en_more": 0.06,
    "nq_oracle": 0.06,
    "scifact": 0.05,
    "drcd": 0.04,
    "cmrc2018": 0.02,
    "medquad": 0.01,
    "fairytaleqa": 0.01,
    "tables": 0.01,
}
"""How often a question comes from each set."""
MEASURED = ("written", "written_code", "jaquad_more", "squad_en_more", "scifact", "drcd", "code")


def main() -> None:
    """Train until the last step, then write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--start", type=Path, help="checkpoint; the 4-bit file's layers without it")
    parser.add_argument(
        "--share", type=float, default=0.5, help="of the trained weights at the end"
    )
    add_options(parser, RUN, frozen=4)
    arguments = parser.parse_args()
    device = device_of(arguments)
    torch.manual_seed(SEED)
    network = load_bi_encoder(arguments.start).to(device)
    freeze(network.layers[: arguments.frozen])
    training, held_out = read_rows(sorted(MINED.glob("*.jsonl.gz")), HELD_OUT)
    folder = Folder(arguments.run)
    run = BiEncoderRun(
        network, training, held_out, folder, device, arguments.steps, arguments.share
    )
    run.questions = arguments.questions or QUESTIONS[device]
    run.all()
    if arguments.steps:
        save_network(network, arguments.run / "bi-encoder.safetensors", arguments.frozen)


class BiEncoderRun(Run):
    """Questions, each with its passage and a few others, compared all with all."""

    warm_up, decay, measured_every = WARM_UP, DECAY, MEASURED_EVERY
    network: BiEncoderNetwork

    def __init__(  # noqa: PLR0913, PLR0917 - what a run consists of
        self,
        network: BiEncoderNetwork,
        training: list[Row],
        held_out: list[Row],
        folder: Folder,
        device: str,
        steps: int,
        share: float = 1.0,
    ) -> None:
        parameters = [one for one in network.parameters() if one.requires_grad]
        super().__init__(network, [{"params": parameters, "peak": PEAK}], folder, device, steps)
        self.start = copy.deepcopy(network.state_dict())
        self.share = share
        self.questions = QUESTIONS[device]
        self.training = {name: _of_set(training, name) for name in SHARES}
        self.held_out = {name: _of_set(held_out, name) for name in MEASURED}
        self.tokenizer = LibraryTokenizer(TOKENIZER)

    def finish(self) -> dict[str, object]:
        """Mix the weights with those at the start."""
        self.network.load_state_dict(mixed(self.start, self.network.state_dict(), self.share))
        return {"share": self.share}

    def loss(self) -> tuple[torch.Tensor, float, int]:
        """Return the step's loss, the share of passages that came first, and tokens read."""
        generator = random.Random(f"{SEED} {self.step}")  # noqa: S311 - it samples
        names = generator.choices(list(SHARES), list(SHARES.values()), k=self.questions)
        contents = [generator.choice(self.training[name]) for name in names]
        answering = [passage_of(generator.choice(content["relevant"])) for content in contents]
        wrong = [
            passage_of(one)
            for content in contents
            for one in generator.sample(content["negatives"][:HARDEST], _hard(content))
        ]
        texts = answering + wrong
        questions, first_tokens = self.vectors([question_of(content) for content in contents])
        passages, other_tokens = self.vectors(texts, LONGEST["trained"])
        scores = questions @ passages.T / TEMPERATURE
        scores = scores.masked_fill(also_relevant(contents, texts).to(self.device), -torch.inf)
        labels = torch.arange(len(contents), device=self.device)
        first = float((scores.detach().argmax(dim=1) == labels).float().mean())
        return functional.cross_entropy(scores, labels), first, first_tokens + other_tokens

    def vectors(
        self, texts: Sequence[str], longest: int = LONGEST["read"]
    ) -> tuple[torch.Tensor, int]:
        """Return unit vectors, shape (texts, hidden), and how many tokens were read."""
        rows = [shortened(ids, longest) for ids in self.tokenizer.encode_batch(texts)]
        return self.outputs(rows), sum(map(len, rows))

    @torch.no_grad()
    def measure(self) -> dict[str, float]:
        """Return each set's mean reciprocal rank among its held-out questions' passages."""
        found = {name: self.measure_set(contents) for name, contents in self.held_out.items()}
        return found | {"mean": sum(found.values()) / len(found)}

    def measure_set(self, contents: list[dict[str, object]]) -> float:
        """Return the mean reciprocal rank of the first relevant passage among all."""
        candidates = list(
            dict.fromkeys(
                passage_of(one)
                for content in contents
                for one in [*content["relevant"], *content["negatives"][:MEASURED_NEGATIVES]]
            )
        )
        questions, _ = self.vectors([question_of(content) for content in contents])
        passages, _ = self.vectors(candidates)
        reciprocal = 0.0
        for content, scores in zip(contents, questions @ passages.T, strict=True):
            relevant = {passage_of(one) for one in content["relevant"]}
            order = scores.argsort(descending=True).tolist()
            rank = next(rank for rank, at in enumerate(order, 1) if candidates[at] in relevant)
            reciprocal += 1 / rank
        return reciprocal / len(contents)


def question_of(content: dict[str, object]) -> str:
    """Return a question as the model reads it."""
    return f"query: {content['text']}"


def passage_of(passage: Sequence[str]) -> str:
    """Return a passage, a title or context and a text, as the model reads it."""
    title, text = passage
    return f"passage: {title}\n{text}" if title else f"passage: {text}"


def also_relevant(contents: Sequence[dict[str, object]], texts: Sequence[str]) -> torch.Tensor:
    """Return where a passage answers a question that it was not drawn for.

    Shape (questions, passages); the passage number i was drawn for question number i.
    """
    mask = torch.zeros(len(contents), len(texts), dtype=torch.bool)
    for number, content in enumerate(contents):
        relevant = {passage_of(one) for one in content["relevant"]}
        for place, text in enumerate(texts):
            mask[number, place] = place != number and text in relevant
    return mask


def mixed(
    start: dict[str, torch.Tensor], trained: dict[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """Return `share` of the trained weights and the rest of those at the start."""
    return {name: torch.lerp(start[name], value, share) for name, value in trained.items()}


def _of_set(rows: Sequence[Row], name: str) -> list[dict[str, object]]:
    return [row.content for row in rows if row.set == name]


def _hard(content: dict[str, object]) -> int:
    return min(HARD, len(content["negatives"]))


if __name__ == "__main__":
    main()
