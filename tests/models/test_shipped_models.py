"""The shipped models against the plain PyTorch reference (models/export/golden.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from localrag.inference.compiled_tokenizer import CompiledTokenizer
from localrag.inference.library_tokenizer import LibraryTokenizer
from localrag.inference.load import load_ahead, load_embedder, load_reranker

if TYPE_CHECKING:
    from localrag.inference.bi_encoder import BiEncoder
    from localrag.inference.cross_encoder import CrossEncoder
    from localrag.inference.tokenizer import Tokenizer

pytestmark = pytest.mark.models

PREFIXES = ("query: ", "passage: ")
ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def samples() -> dict[str, Any]:
    values: dict[str, Any] = json.loads((GOLDEN / "texts.json").read_text(encoding="utf-8"))
    return values


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    values: dict[str, Any] = json.loads((GOLDEN / "golden.json").read_text(encoding="utf-8"))
    return values


@pytest.fixture(scope="module")
def embedder() -> BiEncoder:
    return load_embedder()


@pytest.fixture(scope="module")
def reranker() -> CrossEncoder:
    return load_reranker()


@pytest.fixture(scope="module")
def tokenizer(embedder: BiEncoder) -> Tokenizer:
    return embedder._tokenizer


def embed(embedder: BiEncoder, text: str) -> Any:
    query, passage = PREFIXES
    if text.startswith(query):
        return embedder.embed_query(text.removeprefix(query))
    return embedder.embed_passages([text.removeprefix(passage)])[0]


def test_files_match_their_cards(embedder: BiEncoder, reranker: CrossEncoder) -> None:
    embedder.verify()
    reranker.verify()
    assert max(file.bytes for file in (*embedder.card.files, *reranker.card.files)) < 95_000_000


def test_loading_ahead(embedder: BiEncoder, reranker: CrossEncoder) -> None:
    load_ahead(embedder, reranker).join()
    assert embedder._session._session is not None
    assert reranker._session._session is not None


def test_token_ids_are_those_of_the_plain_segmentation(
    tokenizer: Tokenizer, samples: dict[str, Any], golden: dict[str, Any]
) -> None:
    assert tokenizer.encode_batch(samples["texts"]) == golden["ids"]
    for sample, ids in zip(samples["pairs"], golden["pair_ids"], strict=True):
        assert tokenizer.encode_pairs(sample["query"], sample["passages"]) == ids


def test_token_starts_lie_in_the_original_text(
    tokenizer: Tokenizer, samples: dict[str, Any]
) -> None:
    for text in samples["texts"]:
        starts = tokenizer.starts(text)
        assert len(starts) == tokenizer.count(text)
        assert (np.diff(starts) >= 0).all()
        assert (starts < max(1, len(text))).all()


def test_the_compiled_tokenizer_gives_the_tokens_of_tokenizer_json(
    tokenizer: Tokenizer, embedder: BiEncoder, samples: dict[str, Any]
) -> None:
    assert isinstance(tokenizer, CompiledTokenizer)
    library = LibraryTokenizer(embedder._directory / embedder.card.tokenizer)
    sample_files = sorted((ROOT / "sample").rglob("*.md"))
    texts = [*samples["texts"], *(path.read_text(encoding="utf-8") for path in sample_files)]
    # Every code point, among letters that it might join, in pieces short enough to read.
    texts += ["a".join(map(chr, range(start, start + 64))) for start in range(0, 0x3400, 64)]
    for text in texts:
        assert tokenizer.encode(text) == library.encode(text)
        np.testing.assert_array_equal(tokenizer.starts(text), library.starts(text))


def test_a_document_cannot_forge_a_control_token(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("</s> <s> <pad> <mask>")
    assert not {0, 1, 2, 3, 250_001} & set(ids[1:-1])


def test_vectors_are_near_the_reference(
    embedder: BiEncoder, samples: dict[str, Any], golden: dict[str, Any]
) -> None:
    vectors = np.stack([embed(embedder, text) for text in samples["texts"]])
    cosines = (vectors * np.array(golden["vectors"])).sum(axis=1)
    assert cosines.min() >= 0.99


def test_a_vector_does_not_depend_on_its_batch(
    embedder: BiEncoder, samples: dict[str, Any]
) -> None:
    texts = [text.removeprefix("passage: ") for text in samples["texts"]]
    together = embedder.embed_passages(texts)
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    assert (together * alone).sum(axis=1).min() >= 0.9999


def test_order_of_passages_is_that_of_the_reference(
    reranker: CrossEncoder, samples: dict[str, Any], golden: dict[str, Any]
) -> None:
    scores = [reranker.logits(sample["query"], sample["passages"]) for sample in samples["pairs"]]
    assert spearman(np.concatenate(scores), np.concatenate(golden["logits"])) >= 0.98
    for group, reference in zip(scores, golden["logits"], strict=True):
        assert reference[int(group.argmax())] >= max(reference) - 0.1


def spearman(left: Any, right: Any) -> float:
    ranks = [values.argsort().argsort() for values in (left, right)]
    return float(np.corrcoef(*ranks)[0, 1])


def test_relevance_is_a_calibrated_probability(
    reranker: CrossEncoder, samples: dict[str, Any]
) -> None:
    sample = samples["pairs"][0]
    relevance = reranker.relevance(sample["query"], sample["passages"])
    assert relevance[0] > 0.5 > relevance[3]
    assert ((relevance >= 0) & (relevance <= 1)).all()


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "x" * 20_000, "鍵 " * 3_000, "\u200b"])
def test_any_query_is_legal(embedder: BiEncoder, reranker: CrossEncoder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1, abs=1e-5)
    assert reranker.relevance(text, [text, "a passage"]).shape == (2,)
