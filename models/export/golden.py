"""Writes the golden values that the tests compare the shipped models with.

    python -m models.export.golden

They come from the plain PyTorch reference and the plain unigram segmentation, not from the export.
The script also exports both models in float32 and says how near those come.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.export.checkpoints import Checkpoints
from models.export.compare import export_similarity
from models.export.reference import ReferenceEncoder, UnigramReference, four_bit_file

if TYPE_CHECKING:
    from collections.abc import Sequence

DIRECTORY = Path(__file__).resolve().parents[2] / "tests" / "models" / "golden"
DELETED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]")
BLANK = re.compile("[\u200b-\u200f\u2581\ufeff\ufffd]")
FULL_WIDTH_TILDE = "\uff5e"


def words_of(text: str) -> list[str]:
    """Return the normalised words of `text`; the full-width tilde is a piece and stays."""
    plain = BLANK.sub(" ", DELETED.sub("", text))
    kept = [unicodedata.normalize("NFKC", part) for part in plain.split(FULL_WIDTH_TILDE)]
    return FULL_WIDTH_TILDE.join(kept).split()


def joined(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return the ids of a pair: begin, first, end, end, second, end."""
    return [*first, 2, *second[1:]]


def golden_values(checkpoints: Checkpoints) -> dict[str, object]:
    """Return token ids, vectors and logits of the texts in `texts.json`."""
    samples = json.loads((DIRECTORY / "texts.json").read_text(encoding="utf-8"))
    segmentation = UnigramReference(four_bit_file())
    bi_encoder = ReferenceEncoder(four_bit_file(), checkpoints.bi_encoder)
    cross_encoder = ReferenceEncoder(four_bit_file(), checkpoints.cross_encoder)
    ids = [segmentation.encode(words_of(text)) for text in samples["texts"]]
    pairs = [
        [
            joined(segmentation.encode(words_of(sample["query"])), segmentation.encode(words))
            for words in map(words_of, sample["passages"])
        ]
        for sample in samples["pairs"]
    ]
    return {
        "ids": ids,
        "pair_ids": pairs,
        "vectors": [np.round(bi_encoder.embed(row).numpy(), 6).tolist() for row in ids],
        "logits": [[round(cross_encoder.logit(row), 5) for row in group] for group in pairs],
    }


def main() -> None:
    """Write `golden.json` beside the texts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    Checkpoints.add_options(parser)
    checkpoints = Checkpoints.from_options(parser.parse_args())
    values = golden_values(checkpoints)
    path = DIRECTORY / "golden.json"
    path.write_text(json.dumps(values, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    with tempfile.TemporaryDirectory() as directory:
        similarity, error = export_similarity(Path(directory), checkpoints, values)
    print(f"float32 export: lowest cosine {similarity:.6f}, largest logit error {error:.6f}")


if __name__ == "__main__":
    main()
