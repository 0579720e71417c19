"""Other libraries that run the models, as their users run them: from text, with their defaults.

Each gets the weights that localrag ships, in float32, and is left out where it is not installed:

    pip install sentence-transformers fastembed
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.export.hugging_face import write_bi_encoder, write_cross_encoder
from models.export.names import BI_ENCODER, TABLE, TOKENIZER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from models.export.checkpoints import Checkpoints
    from models.export.source import Source

__all__ = ["PEERS", "Peer", "open_peers"]


@dataclass(frozen=True, slots=True)
class Peer:
    """One library with the models loaded."""

    name: str
    embed: Callable[[list[str]], object]
    """Embeds passages, which have their prefix already."""
    score: Callable[[str, list[str]], object] | None
    """Scores passages for a question; None where the library cannot run this cross-encoder."""


def open_peers(
    source: Source, checkpoints: Checkpoints, folder: Path, threads: int | None
) -> tuple[list[Peer], list[str]]:
    """Return the peers that are installed, and the names of those that are not.

    Args:
        source: the weights.
        checkpoints: what was trained of them.
        folder: holds both models in float32 as ONNX; the peers' own forms are written below it.
        threads: most threads of a peer; its own choice when None.
    """
    present = {name: open_ for name, open_ in PEERS.items() if importlib.util.find_spec(name)}
    if present:
        write_bi_encoder(source, checkpoints.bi_encoder, folder / TOKENIZER, folder / "bi-encoder")
        write_cross_encoder(
            source, checkpoints.cross_encoder, folder / TOKENIZER, folder / "cross-encoder"
        )
    return [open_(folder, threads) for open_ in present.values()], sorted(PEERS.keys() - present)


def sentence_transformers(folder: Path, threads: int | None) -> Peer:
    """Return PyTorch's way, by far the most common."""
    library = importlib.import_module("sentence_transformers")
    parts = importlib.import_module("sentence_transformers.models")
    if threads is not None:
        importlib.import_module("torch").set_num_threads(threads)
    encoder = parts.Transformer(str(folder / "bi-encoder"), max_seq_length=512)
    pooling = parts.Pooling(encoder.get_embedding_dimension(), pooling_mode="mean")
    model = library.SentenceTransformer(modules=[encoder, pooling, parts.Normalize()], device="cpu")
    reranker = library.CrossEncoder(str(folder / "cross-encoder"), max_length=512, device="cpu")
    return Peer(
        "sentence-transformers",
        lambda texts: model.encode(texts, show_progress_bar=False),
        lambda question, texts: reranker.predict(
            [(question, text) for text in texts], show_progress_bar=False
        ),
    )


def fastembed(folder: Path, threads: int | None) -> Peer:
    """Return ONNX Runtime's way. Its cross-encoders must return a table, which ours does not."""
    library = importlib.import_module("fastembed")
    facts = importlib.import_module("fastembed.common.model_description")
    own = folder / "bi-encoder"
    for name in (BI_ENCODER, TABLE):
        shutil.copy(folder / name, own)
    library.TextEmbedding.add_custom_model(
        model="localrag/multilingual-e5-small",
        pooling=facts.PoolingType.MEAN,
        normalization=True,
        sources=facts.ModelSource(hf="localrag/multilingual-e5-small"),
        dim=384,
        model_file=BI_ENCODER,
    )
    model = library.TextEmbedding(
        "localrag/multilingual-e5-small", specific_model_path=str(own), threads=threads
    )
    return Peer("fastembed", lambda texts: list(model.embed(texts)), None)


PEERS = {"sentence_transformers": sentence_transformers, "fastembed": fastembed}
"""How each is opened, by the name under which it is imported."""
