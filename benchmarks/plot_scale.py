"""Draws docs/images/search-by-size.svg of what `scale.py --json` printed.

    python benchmarks/scale.py --sizes 10000 100000 1000000 --json > scale.json
    python benchmarks/plot_scale.py scale.json

Least times: what other work on the machine adds is not a property of any program. Several files,
of runs with other peers or sizes, make one plot.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt  # after the choice of what draws

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = Path(__file__).parent.parent / "docs" / "images" / "search-by-size.svg"
LEFT_OUT = ("allowed", "first", "build", "plan", "MB")
"""Figures that are no search of a whole base."""


def curves(paths: Sequence[Path]) -> dict[str, dict[int, float]]:
    """Return the least milliseconds of each program by size."""
    found: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for path in paths:
        for size, figures in json.loads(path.read_text("utf-8")).items():
            for name, value in figures.items():
                if isinstance(value, list) and not name.endswith(LEFT_OUT):
                    found[name][int(size)] = value[1]
    return found


def main() -> None:
    """Read the files and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    options = parser.parse_args()
    mpl.rcParams |= {"svg.hashsalt": "localrag", "svg.fonttype": "none", "font.size": 9}
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, times in curves(options.results).items():
        own = name == "localrag"
        axes.plot(
            list(times),
            list(times.values()),
            marker="o",
            linewidth=2.5 if own else 1,
            color="black" if own else None,
            label=name,
        )
    axes.set(xscale="log", yscale="log", xlabel="chunks", ylabel="least milliseconds of a search")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    TARGET.parent.mkdir(exist_ok=True)
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    main()
