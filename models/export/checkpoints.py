"""Where the trained weights of a family are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["TRAINED", "Checkpoints"]

TRAINED = Path(__file__).resolve().parents[1] / "training" / "checkpoint"
"""Those of the models that ship."""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Files of safetensors, their tensors named as in Hugging Face's BertModel."""

    bi_encoder: Path | None = TRAINED / "bi-encoder.safetensors"
    """Layers that differ from those of the 4-bit file; None where none does."""
    cross_encoder: Path = TRAINED / "cross-encoder-6l.safetensors"
    """All layers and the head."""

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Let the command line name other files than those of the models that ship."""
        trained = cls()
        parser.add_argument("--bi-encoder", type=Path, default=trained.bi_encoder)
        parser.add_argument("--cross-encoder", type=Path, default=trained.cross_encoder)

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Checkpoints:
        """Return the files that the command line names."""
        return cls(options.bi_encoder, options.cross_encoder)
