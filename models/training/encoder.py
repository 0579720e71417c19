"""Both models in PyTorch, written for training on a CPU.

Differences from a textbook encoder are for speed alone: queries, keys and values are one product;
attention is batched products with the mask added on the way, since the fused operator's backward
pass is several times slower in bfloat16 on CPUs; the cross-encoder's last layer is computed for the
first token only, because nothing else of it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from models.export.source import default_path, read_source

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "BiEncoderNetwork",
    "CrossEncoderNetwork",
    "load_bi_encoder",
    "load_network",
    "save_network",
]

HIDDEN, WIDE, HEADS, EPSILON = 384, 1536, 12, 1e-12
HEAD_SIZE = HIDDEN // HEADS
LAYERS = 12
"""Of the bi-encoder."""
MASKED = -1e4
"""Added to the scores of padding: its softmax weight is zero in bfloat16 too."""


class Layer(nn.Module):
    """One post-LN BERT layer."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.attention_out = nn.Linear(HIDDEN, HIDDEN)
        self.attention_norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.wide = nn.Linear(HIDDEN, WIDE)
        self.narrow = nn.Linear(WIDE, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)

    def forward(
        self, hidden: torch.Tensor, mask: torch.Tensor, *, first_only: bool = False
    ) -> torch.Tensor:
        """Return the next hidden states, shape (pairs, tokens or 1, hidden).

        `mask` has the shape (pairs * heads, 1, tokens).
        """
        pairs, tokens, _ = hidden.shape
        heads = self.qkv(hidden).view(pairs, tokens, 3, HEADS, HEAD_SIZE).permute(2, 0, 3, 1, 4)
        query, key, value = heads.reshape(3, pairs * HEADS, tokens, HEAD_SIZE)
        if first_only:
            query, hidden = query[:, :1], hidden[:, :1]
        scores = torch.baddbmm(mask.to(query.dtype), query * HEAD_SIZE**-0.5, key.transpose(1, 2))
        attended = torch.bmm(scores.softmax(dim=-1), value)
        rows = attended.view(pairs, HEADS, -1, HEAD_SIZE).transpose(1, 2).reshape(pairs, -1, HIDDEN)
        middle = self.attention_norm(hidden + self.attention_out(rows))
        return self.norm(middle + self.narrow(functional.gelu(self.wide(middle))))


class EncoderNetwork(nn.Module):
    """Layers above the word embeddings, which are those of the 4-bit file and stay fixed."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.register_buffer("words", torch.empty(0, HIDDEN), persistent=False)
        self.register_buffer("positions", torch.empty(0, HIDDEN), persistent=False)
        self.embedding_norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.embedding_norm.requires_grad_(requires_grad=False)

    @torch.no_grad()
    def embeddings(
        self, ids: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what the first layer reads, which tokens are padding, and the layers' mask.

        Args:
            ids: padded, shape (inputs, tokens).
            lengths: tokens of each input.
        """
        tokens = ids.shape[1]
        hidden = self.embedding_norm(self.words[ids].float() + self.positions[:tokens])
        padding = torch.arange(tokens, device=ids.device)[None, :] >= lengths[:, None]
        mask = (padding * MASKED).repeat_interleave(HEADS, dim=0)[:, None, :]
        return hidden, padding, mask


class CrossEncoderNetwork(EncoderNetwork):
    """From the token ids of pairs to one logit each."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        self.dense = nn.Linear(HIDDEN, HIDDEN)
        self.score = nn.Linear(HIDDEN, 1)

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return logits, shape (pairs,), of padded `ids`, shape (pairs, tokens)."""
        hidden, _, mask = self.embeddings(ids, lengths)
        for layer in self.layers[:-1]:
            hidden = layer(hidden, mask)
        first = self.layers[-1](hidden, mask, first_only=True)[:, 0]
        return self.score(torch.tanh(self.dense(first)))[:, 0].float()


class BiEncoderNetwork(EncoderNetwork):
    """From the token ids of texts to one unit vector each: the mean over the tokens."""

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return vectors, shape (texts, hidden), of padded `ids`, shape (texts, tokens)."""
        hidden, padding, mask = self.embeddings(ids, lengths)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        total = hidden.float().masked_fill(padding[..., None], 0).sum(dim=1)
        return functional.normalize(total / lengths[:, None], dim=1)


NAMES = {
    "attention_out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}
SHORT_NAMES = {
    "attention_out": "ao",
    "attention_norm": "aln",
    "wide": "fi",
    "narrow": "fo",
    "norm": "oln",
}
PROJECTIONS = {"query": "q", "key": "k", "value": "v"}


def load_network(
    checkpoint: Path | None, layers: int, bi_encoder: Path | None = None
) -> CrossEncoderNetwork:
    """Return a cross-encoder with `layers` layers.

    Those that `checkpoint` (names of Hugging Face's BertModel) lacks, or all of them where it is
    None, are the bi-encoder's layers of the same number: of the checkpoint `bi_encoder`, and what
    that lacks too of the 4-bit file.
    """
    tensors = {} if checkpoint is None else load_file(checkpoint)
    network = CrossEncoderNetwork(layers)
    _fill(network, ({} if bi_encoder is None else load_file(bi_encoder)) | tensors)
    if tensors:
        with torch.no_grad():
            for own, long in ((network.dense, "head.0"), (network.score, "head.2")):
                _copy(own.weight, tensors[f"{long}.weight"])
                _copy(own.bias, tensors[f"{long}.bias"])
    return network


def load_bi_encoder(checkpoint: Path | None) -> BiEncoderNetwork:
    """Return the bi-encoder; layers that `checkpoint` lacks are those of the 4-bit file."""
    network = BiEncoderNetwork(LAYERS)
    _fill(network, {} if checkpoint is None else load_file(checkpoint))
    return network


@torch.no_grad()
def _fill(network: EncoderNetwork, tensors: dict[str, torch.Tensor]) -> None:
    source = read_source(default_path())
    network.words = torch.from_numpy(source.matrices["emb.word"].dequantise()).half()
    positions = source.matrices.get("emb.pos")
    table = positions.dequantise() if positions else source.vectors["emb.pos"]
    type_matrix = source.matrices.get("emb.type")
    types = type_matrix.dequantise() if type_matrix else source.vectors["emb.type"]
    network.positions = torch.from_numpy(
        table.reshape(-1, HIDDEN) + types.reshape(-1, HIDDEN)[:1]
    ).float()
    _copy(network.embedding_norm.weight, torch.tensor(source.vectors["emb.ln.w"]))
    _copy(network.embedding_norm.bias, torch.tensor(source.vectors["emb.ln.b"]))

    def bi_encoder(name: str) -> torch.Tensor:
        matrix = source.matrices.get(name)
        return torch.tensor(matrix.dequantise() if matrix else source.vectors[name])

    for number, layer in enumerate(network.layers):
        stem = f"encoder.layer.{number}"
        known = f"{stem}.output.dense.weight" in tensors
        for kind, short in (("weight", "w"), ("bias", "b")):
            parts = [
                tensors[f"{stem}.attention.self.{name}.{kind}"].float()
                if known
                else bi_encoder(f"l{number}.{letter}.{short}")
                for name, letter in PROJECTIONS.items()
            ]
            _copy(getattr(layer.qkv, kind), torch.cat(parts))
            for own, long in NAMES.items():
                value = (
                    tensors[f"{stem}.{long}.{kind}"]
                    if known
                    else bi_encoder(f"l{number}.{SHORT_NAMES[own]}.{short}")
                )
                _copy(getattr(getattr(layer, own), kind), value)


def save_network(network: EncoderNetwork, path: Path, first: int = 0) -> None:
    """Write the weights of the layers from `first` as float16.

    Their names are those of Hugging Face's BertModel; the first layer is number 0.
    """
    tensors: dict[str, torch.Tensor] = {}
    for number, layer in list(enumerate(network.layers))[first:]:
        stem = f"encoder.layer.{number}"
        for kind in ("weight", "bias"):
            parts = getattr(layer.qkv, kind).chunk(3)
            for name, part in zip(PROJECTIONS, parts, strict=True):
                tensors[f"{stem}.attention.self.{name}.{kind}"] = part
            for own, long in NAMES.items():
                tensors[f"{stem}.{long}.{kind}"] = getattr(getattr(layer, own), kind)
    if isinstance(network, CrossEncoderNetwork):
        for own, long in ((network.dense, "head.0"), (network.score, "head.2")):
            tensors |= {f"{long}.weight": own.weight, f"{long}.bias": own.bias}
    partial = path.with_suffix(".partial")
    save_file({name: one.detach().half().contiguous() for name, one in tensors.items()}, partial)
    partial.rename(path)


def _copy(target: torch.Tensor, value: torch.Tensor) -> None:
    target.copy_(value.reshape(target.shape))
