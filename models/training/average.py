"""Averages the weights of two checkpoints of one network.

    python -m models.training.average FIRST.safetensors SECOND.safetensors --share 0.7 --output \
        MEAN.safetensors

A model that was trained on from another's weights and that other err differently, and their mean
can rank better than either: Wortsman and others, Model soups (ICML 2022) and Robust fine-tuning of
zero-shot models (CVPR 2022).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import load_file, save_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def main() -> None:
    """Write the mean of two checkpoints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--share", type=float, default=0.5, help="of the second one")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    first, second = load_file(arguments.first), load_file(arguments.second)
    save_file(average(first, second, arguments.share), arguments.output)


def average(
    first: Mapping[str, NDArray[np.floating]],
    second: Mapping[str, NDArray[np.floating]],
    share: float,
) -> dict[str, NDArray[np.floating]]:
    """Return tensors that are `share` the second's and the rest the first's, in its number format.

    Raises:
        ValueError: the two are not of one network.
    """
    if {name: one.shape for name, one in first.items()} != {
        name: one.shape for name, one in second.items()
    }:
        raise ValueError("the checkpoints hold other tensors: average two of one network")
    return {
        name: (
            (1 - share) * one.astype(np.float32) + share * second[name].astype(np.float32)
        ).astype(one.dtype)
        for name, one in first.items()
    }


if __name__ == "__main__":
    main()
