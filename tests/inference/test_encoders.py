from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tiny_models import LIMIT, WORDS, WordSession, make_family

from localrag.errors import ModelError
from localrag.inference.card import Calibration
from localrag.inference.cross_encoder import calibrate
from localrag.inference.load import load_ahead, load_embedder, load_reranker

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.inference.bi_encoder import BiEncoder
    from localrag.inference.cross_encoder import CrossEncoder


@pytest.fixture
def family(tmp_path: Path) -> Path:
    return make_family(tmp_path)


def embedder_of(family: Path, **facts: Any) -> BiEncoder:
    path = family / "bi-encoder.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))
    embedder = load_embedder(family)
    embedder._session = WordSession(len(WORDS))  # type: ignore[assignment]
    return embedder


@pytest.fixture
def embedder(family: Path) -> BiEncoder:
    return embedder_of(family)


@pytest.fixture
def reranker(family: Path) -> CrossEncoder:
    reranker = load_reranker(family)
    reranker._session = WordSession(None)  # type: ignore[assignment]
    return reranker


def session_of(model: BiEncoder | CrossEncoder) -> WordSession:
    session = model._session
    assert isinstance(session, WordSession)
    return session


def bag(*words: str) -> Any:
    counts = np.zeros(len(WORDS), np.float32)
    for word in words:
        counts[WORDS.index(word)] += 1
    return counts / np.linalg.norm(counts)


def test_passages_are_prefixed_pooled_and_of_length_one(embedder: BiEncoder) -> None:
    vectors = embedder.embed_passages(["one", "two two three"])
    np.testing.assert_allclose(vectors[0], bag("<s>", "passage:", "one", "</s>"), rtol=1e-6)
    expected = bag("<s>", "passage:", "two", "two", "three", "</s>")
    np.testing.assert_allclose(vectors[1], expected, rtol=1e-6)
    assert vectors.dtype == np.float32


def test_order_of_the_caller_is_kept(embedder: BiEncoder) -> None:
    texts = ["one", "one two three four", "", "two two"]
    together = embedder.embed_passages(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal(embedder.embed_passages([text])[0], vector)


def test_no_passages_give_no_vectors(embedder: BiEncoder) -> None:
    assert embedder.embed_passages([]).shape == (0, len(WORDS))


def test_a_long_passage_is_refused_and_never_cut(embedder: BiEncoder) -> None:
    longest = embedder.counter.max_tokens
    assert longest == LIMIT - 3
    embedder.embed_passages(["one " * longest])
    with pytest.raises(ModelError, match=r"17 tokens .* reads 16.*smaller"):
        embedder.embed_passages(["one " * (longest + 1)])


def test_a_long_query_is_cut_and_an_empty_one_is_legal(embedder: BiEncoder) -> None:
    embedder.embed_query("one " * 500)
    assert session_of(embedder).shapes == [(1, LIMIT)]
    np.testing.assert_allclose(embedder.embed_query(""), bag("<s>", "</s>"), rtol=1e-6)


def test_first_token_pooling_without_normalisation(family: Path) -> None:
    embedder = embedder_of(family, pooling="first", normalize=False)
    np.testing.assert_array_equal(embedder.embed_query("one"), bag("<s>"))


def test_other_dimensions_than_the_card_says(embedder: BiEncoder) -> None:
    session_of(embedder).result = np.ones((1, 3, 2), np.float32)
    with pytest.raises(ModelError, match="2 dimensions, its card says 9"):
        embedder.embed_query("one")


@pytest.mark.parametrize("normalize", [True, False])
def test_vectors_that_are_no_numbers(family: Path, *, normalize: bool) -> None:
    embedder = embedder_of(family, normalize=normalize)
    session_of(embedder).result = np.full((1, 3, len(WORDS)), np.nan, np.float32)
    with pytest.raises(ModelError, match="not finite"):
        embedder.embed_query("one")


def test_logits_come_in_the_order_of_the_passages(reranker: CrossEncoder) -> None:
    logits = reranker.logits("one", ["one", "one two three", "", "two two"])
    np.testing.assert_array_equal(logits, [6, 8, 5, 7])


def test_relevance_is_the_calibrated_logit(reranker: CrossEncoder) -> None:
    expected = 1 / (1 + np.exp(-np.array([6.0, 7.0])))
    np.testing.assert_allclose(reranker.relevance("one", ["one", "one two"]), expected, rtol=1e-6)


def test_no_passages_give_no_probabilities(reranker: CrossEncoder) -> None:
    assert reranker.relevance("one", []).shape == (0,)
    assert session_of(reranker).shapes == []


def test_a_long_query_leaves_half_for_the_passage(reranker: CrossEncoder) -> None:
    inputs = reranker._inputs("one " * 100, ["two " * 100, "three"])
    assert [len(tokens) for tokens in inputs] == [LIMIT, LIMIT // 2 + 5]
    assert inputs[0] == [1, *[5] * 8, 2, 2, *[6] * 4, 2]


def test_a_short_query_leaves_the_rest_for_the_passage(reranker: CrossEncoder) -> None:
    assert reranker._inputs("one", ["two " * 100]) == [[1, 5, 2, 2, *[6] * 11, 2]]


def test_a_score_that_is_no_number(reranker: CrossEncoder) -> None:
    session_of(reranker).result = np.array([np.nan], np.float32)
    with pytest.raises(ModelError, match="not a number"):
        reranker.relevance("one", ["two"])


def test_calibration_follows_the_formula_and_never_overflows() -> None:
    logits = np.array([-1e30, -2, 0, 2, 1e30], np.float32)
    values = calibrate(logits, Calibration(scale=0.5, bias=-1))
    np.testing.assert_allclose(values[1:4], 1 / (1 + np.exp([2.0, 1.0, 0.0])), rtol=1e-6)
    assert (values[0], values[4]) == (0, 1)


def test_loading_ahead_loads_what_it_is_given(embedder: BiEncoder, reranker: CrossEncoder) -> None:
    load_ahead(embedder, object(), reranker).join()
    assert session_of(embedder).loaded == session_of(reranker).loaded == 1
    embedder.close()
    reranker.close()
    assert session_of(embedder).loaded == session_of(reranker).loaded == 0


def test_what_cannot_be_loaded_ahead_is_reported_at_its_first_use(
    embedder: BiEncoder, family: Path
) -> None:
    (family / "tokenizer.json").unlink()
    load_ahead(embedder).join()
    assert session_of(embedder).loaded == 0
    with pytest.raises(ModelError, match="cannot read the tokenizer"):
        embedder.embed_query("one")


def test_verify_reads_the_files(embedder: BiEncoder, reranker: CrossEncoder, family: Path) -> None:
    embedder.verify()
    (family / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="differs"):
        reranker.verify()
