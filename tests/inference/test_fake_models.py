from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.inference import protocols
from localrag.inference.fake import FakeCounter, FakeEmbedder, FakeReranker

PASSAGES = ["Rotate the keys every month.", "東京タワーは東京都港区にある。", "Bananas are yellow."]


@pytest.mark.parametrize(("query", "best"), [("rotate keys", 0), ("東京はどこ", 1), ("BANANAS", 2)])
def test_retrieval_finds_the_passage_with_the_words(query: str, best: int) -> None:
    embedder = FakeEmbedder()
    assert (embedder.embed_passages(PASSAGES) @ embedder.embed_query(query)).argmax() == best
    assert FakeReranker().relevance(query, PASSAGES).argmax() == best


def test_relevance_is_the_share_of_query_words() -> None:
    relevance = FakeReranker().relevance("rotate the moon", PASSAGES)
    np.testing.assert_allclose(relevance, [2 / 3, 0, 0], rtol=1e-6)
    np.testing.assert_array_equal(FakeReranker().relevance("", PASSAGES), [0, 0, 0])
    assert FakeReranker().relevance("rotate", []).shape == (0,)


def test_counter_counts_words_and_cjk_characters() -> None:
    counter = FakeCounter()
    assert counter.count("東京 tower, x_1") == 4
    assert counter.token_starts("東京 tower, x_1").tolist() == [0, 1, 3, 10]
    assert counter.token_starts("").dtype == np.int64


@given(st.text())
def test_every_text_has_a_unit_vector(text: str) -> None:
    embedder = FakeEmbedder(16)
    vector = embedder.embed_query(text)
    assert vector.shape == (16,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    np.testing.assert_array_equal(vector, embedder.embed_passages([text])[0])


def test_fakes_offer_what_real_models_do() -> None:
    for model in (FakeEmbedder(), FakeReranker()):
        model.verify()
        model.close()
        assert model.name.startswith("fake")
        assert model.fingerprint.startswith("fake")
    assert FakeEmbedder(8).fingerprint != FakeEmbedder().fingerprint


@pytest.mark.parametrize(
    ("protocol", "model"),
    [
        (protocols.Embedder, FakeEmbedder()),
        (protocols.Reranker, FakeReranker()),
        (protocols.TokenCounter, FakeCounter()),
    ],
)
def test_fakes_keep_the_promises_of_the_protocols(protocol: type, model: object) -> None:
    names = {*protocol.__annotations__, *vars(protocol)}
    public = {name for name in names if not name.startswith("_")}
    assert public
    assert all(hasattr(model, name) for name in public)
