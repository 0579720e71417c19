"""Draws the log of a training run.

python -m models.training.plot --output docs/images/cross-encoder-training.svg

It shows the loss, the learning rate, and the ranks of held-out questions.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from models.training.train import RUN

SMOOTHED = 5
"""Entries of the log that one point of the loss is the mean of: 50 steps."""

mpl.rcParams["svg.hashsalt"] = "localrag"  # the same log gives the same file
mpl.rcParams["font.size"] = 9


def main() -> None:
    """Draw loss, learning rate and held-out ranks over the steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", type=Path, default=RUN / "log.jsonl")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    entries = [json.loads(line) for line in arguments.log.read_text(encoding="utf-8").splitlines()]
    losses = [entry for entry in entries if "loss" in entry]
    measured = [entry for entry in entries if "held_out" in entry]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    starts = range(0, len(losses) - SMOOTHED + 1, SMOOTHED)
    parts = [losses[start : start + SMOOTHED] for start in starts]
    left.plot([part[-1]["step"] for part in parts], [_mean(part, "loss") for part in parts])
    left.set(xlabel="step", ylabel="loss", title="Training loss, mean of 50 steps")
    rate = left.twinx()
    rate.plot([one["step"] for one in losses], [one["rate"] for one in losses], "C7:", linewidth=1)
    rate.set_ylabel("learning rate (dotted)")
    for name in measured[0]["held_out"]:
        style = {"color": "black", "linewidth": 2} if name == "mean" else {"linewidth": 0.9}
        values = [entry["held_out"][name] for entry in measured]
        right.plot([entry["step"] for entry in measured], values, label=name, **style)
    right.set(xlabel="step", ylabel="mean reciprocal rank", title="Held-out questions")
    right.legend(fontsize=7, ncols=2)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.output, metadata={"Date": None})


def _mean(entries: list[dict[str, float]], key: str) -> float:
    return sum(entry[key] for entry in entries) / len(entries)


if __name__ == "__main__":
    main()
