"""Bi-encoders and cross-encoders over real sessions: inputs, outputs, token types, poolings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx_models import IDS, TYPED, encoder, make_model, scorer
from tiny_models import LIMIT, WORDS, make_tokenizer

from localrag.errors import ModelError
from localrag.inference.load import load_embedder, load_reranker

if TYPE_CHECKING:
    from pathlib import Path

TABLE = np.random.default_rng(0).normal(size=(len(WORDS), len(WORDS))).astype(np.float32)
TOKENS = [WORDS.index(word) for word in ("<s>", "passage:", "one", "two", "</s>")]


def unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"pooling": "mean"}, TABLE[TOKENS].mean(axis=0)),
        ({"pooling": "first"}, TABLE[1]),
        ({"pooling": "last"}, TABLE[2]),
        ({"pooling": "none", "output": "sentence"}, TABLE[TOKENS].mean(axis=0)),
        ({"pooling": "mean", "output": "hidden"}, TABLE[TOKENS].mean(axis=0)),
    ],
)
@pytest.mark.parametrize("inputs", [IDS, TYPED, (*IDS, "position_ids"), ("input_ids",)])
def test_every_pooling_with_every_set_of_inputs(
    tmp_path: Path, facts: dict[str, Any], expected: Any, inputs: tuple[str, ...]
) -> None:
    folder = make_model(tmp_path / "tiny", model=encoder(inputs=inputs), **facts)
    vector = load_embedder(folder).embed_passages(["one two"])[0]
    np.testing.assert_allclose(vector, unit(expected), rtol=1e-5)


def test_an_input_that_nobody_knows(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny", model=encoder(inputs=(*IDS, "past_key_values")))
    with pytest.raises(ModelError, match=r"past_key_values.*use another model"):
        load_embedder(folder).embed_query("one")


def test_an_output_that_is_not_there(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny", output="absent")
    with pytest.raises(ModelError, match=r"absent.*check its card"):
        load_embedder(folder).embed_query("one")


def test_a_published_tokenizer_neither_cuts_nor_fills_up(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny", pooling="mean")
    embedder = load_embedder(folder)
    expected = embedder.embed_passages(["one two three four"])
    other = make_model(tmp_path / "other")
    make_tokenizer(other, cut=4)
    np.testing.assert_array_equal(
        load_embedder(other).embed_passages(["one two three four"]), expected
    )
    assert load_embedder(other).counter.count("one " * 10) == 10


def test_token_types_tell_the_passage_from_the_query(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "typed", "cross-encoder", scorer(inputs=TYPED))
    make_tokenizer(folder, types=True)
    # The logit is the sum of the types: of </s> B </s>.
    logits = load_reranker(folder).logits("one two", ["three", "three four one", ""])
    np.testing.assert_array_equal(logits, [3, 5, 2])


def test_a_query_that_is_cut_still_ends_where_the_types_change(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "typed", "cross-encoder", scorer(inputs=TYPED))
    make_tokenizer(folder, types=True)
    # 8 of the 16 tokens are the query's, and <s> </s> stand around it.
    assert load_reranker(folder).logits("one " * 100, ["two " * 100]).tolist() == [LIMIT - 10]


def test_a_model_with_types_whose_tokenizer_has_none_gets_zeros(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "typed", "cross-encoder", scorer(inputs=TYPED))
    assert load_reranker(folder).logits("one two", ["three"]).tolist() == [0]


def test_a_reranker_with_two_scores_is_refused(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "two", "cross-encoder", scorer(scores=2))
    with pytest.raises(ModelError, match=r"shape \(3, 2\) for 3 passages"):
        load_reranker(folder).relevance("one", ["two", "three", "four"])


def test_without_a_calibration_the_probability_is_the_sigmoid(tmp_path: Path) -> None:
    model = scorer(inputs=("input_ids", "attention_mask", "token_type_ids"))
    folder = make_model(tmp_path / "plain", "cross-encoder", model, calibration=None)
    make_tokenizer(folder, types=True)
    reranker = load_reranker(folder)
    assert not reranker.calibrated
    assert load_reranker().calibrated  # the bundled one
    probability = reranker.relevance("one", [""])
    np.testing.assert_allclose(probability, 1 / (1 + np.exp(-2.0)), rtol=1e-6)
