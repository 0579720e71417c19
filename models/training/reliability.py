"""Draws how often passages answer that are given a certain probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["draw_reliability"]

EDGES = np.linspace(0, 1, 11)

mpl.rcParams["svg.hashsalt"] = "localrag"  # the same numbers give the same file
mpl.rcParams["font.size"] = 9


def draw_reliability(
    probabilities: NDArray[np.float64], labels: NDArray[np.float64], path: Path
) -> float:
    """Write the diagram to `path`; return the expected calibration error over ten bins.

    Both arrays have the shape (pairs,). Source: Guo, Pleiss, Sun, Weinberger, On calibration of
    modern neural networks, ICML 2017.
    """
    bins = np.clip(np.digitize(probabilities, EDGES) - 1, 0, len(EDGES) - 2)
    used = [place for place in range(len(EDGES) - 1) if (bins == place).any()]
    counts = np.array([(bins == place).sum() for place in used])
    stated = np.array([probabilities[bins == place].mean() for place in used])
    observed = np.array([labels[bins == place].mean() for place in used])
    figure, axes = plt.subplots(figsize=(4.2, 4), layout="constrained")
    axes.plot([0, 1], [0, 1], "C7:", linewidth=1)
    axes.errorbar(
        stated,
        observed,
        np.sqrt(observed * (1 - observed) / counts),
        fmt="o-",
        capsize=2,
    )
    for x, y, count in zip(stated, observed, counts, strict=True):
        axes.annotate(f"{count}", (x, y), (4, -10), textcoords="offset points", fontsize=7)
    axes.set(
        xlabel="stated probability, mean of a bin",
        ylabel="share that answers, with its standard error",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    return float((counts * np.abs(stated - observed)).sum() / counts.sum())
