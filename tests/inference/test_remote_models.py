"""Models on a server, asked over a real connection."""

from __future__ import annotations

import base64
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from servers import Asked, Reply, fake_models, in_turn, serving
from tiny_models import make_family

from localrag.errors import RemoteError
from localrag.inference.bundle import DEFAULT_FAMILY
from localrag.inference.fake import FakeEmbedder
from localrag.inference.http_client import JsonClient
from localrag.inference.remote_card import remote_card
from localrag.inference.remote_embedder import RemoteEmbedder, read_vectors
from localrag.inference.remote_reranker import RemoteReranker, read_scores, to_logits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from servers import Server

pytestmark = pytest.mark.loopback

NAN = float("nan")


@pytest.fixture(autouse=True)
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tokenizer that ships be one of whole words, which is read at once."""
    family = make_family(tmp_path)
    shutil.copytree(family, tmp_path / "models" / DEFAULT_FAMILY, ignore=lambda *_: {"models"})
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path / "models"))


@pytest.fixture
def opened() -> Iterator[list[Any]]:
    """Return a list of models that are closed at the end."""
    models: list[Any] = []
    yield models
    for model in models:
        model.close()


def embedder_at(server: Server, tmp_path: Path, opened: list[Any], **facts: Any) -> RemoteEmbedder:
    card = remote_card({"kind": "bi-encoder", "url": server.url, "model": "fake"} | facts)
    client = JsonClient(card.url, card.key_variable, sleep=lambda _: None)
    opened.append(RemoteEmbedder(card, tmp_path, client=client))
    return opened[-1]  # type: ignore[no-any-return]


def reranker_at(server: Server, opened: list[Any], **facts: Any) -> RemoteReranker:
    card = remote_card({"kind": "cross-encoder", "url": server.url, "model": "fake"} | facts)
    client = JsonClient(card.url, card.key_variable, sleep=lambda _: None)
    opened.append(RemoteReranker(card, client=client))
    return opened[-1]  # type: ignore[no-any-return]


# The bi-encoder


def test_vectors_are_of_length_one_and_in_the_order_of_the_texts(
    tmp_path: Path, opened: list[Any]
) -> None:
    """The server's are three times as long, and in the opposite order."""
    with serving(fake_models) as server:
        embedder = embedder_at(server, tmp_path, opened, batch_texts=2)
        texts = ["one two", "three", "four four one"]
        vectors = embedder.embed_passages(texts)
        assert [len(asked.body["input"]) for asked in server.asked] == [2, 1]
        assert server.connections == 1
        np.testing.assert_allclose(vectors, FakeEmbedder(32).embed_passages(texts), atol=1e-6)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(embedder.embed_query("one two"), vectors[0], atol=1e-6)
        assert server.asked[-1].body == {
            "model": "fake",
            "input": ["one two"],
            "encoding_format": "float",
        }


def test_prefixes_are_put_in_front_and_lone_surrogates_replaced(
    tmp_path: Path, opened: list[Any]
) -> None:
    with serving(fake_models) as server:
        prefixes = {"query_prefix": "q: ", "passage_prefix": "p: "}
        embedder = embedder_at(server, tmp_path, opened, **prefixes)
        embedder.embed_passages(["one\ud800"])
        embedder.embed_query("two\udfff")
        assert [asked.body["input"] for asked in server.asked] == [["p: one?"], ["q: two?"]]


def test_no_texts_ask_nothing(tmp_path: Path, opened: list[Any]) -> None:
    with serving(fake_models) as server:
        embedder = embedder_at(server, tmp_path, opened, dimensions=32)
        assert embedder.embed_passages([]).shape == (0, 32)
        assert embedder.dimensions == 32
        assert server.asked == []


def test_the_server_is_asked_once_for_the_dimensions(tmp_path: Path, opened: list[Any]) -> None:
    with serving(fake_models) as server:
        embedder = embedder_at(server, tmp_path, opened)
        assert [embedder.dimensions, embedder.dimensions] == [32, 32]
        assert len(server.asked) == 1


def test_base64_is_read_as_well(tmp_path: Path, opened: list[Any]) -> None:
    coded = base64.b64encode(np.array([3, 4], "<f4").tobytes()).decode()
    with serving(in_turn(Reply({"data": [{"embedding": coded}]}))) as server:
        vector = embedder_at(server, tmp_path, opened).embed_query("one")
    np.testing.assert_allclose(vector, [0.6, 0.8], rtol=1e-6)


def test_a_request_that_is_too_large_is_halved(tmp_path: Path, opened: list[Any]) -> None:
    def at_most_two(asked: Asked) -> Reply:
        return fake_models(asked) if len(asked.body["input"]) <= 2 else Reply(status=413)

    texts = ["one", "two", "three", "four", "one one"]
    with serving(at_most_two) as server:
        vectors = embedder_at(server, tmp_path, opened).embed_passages(texts)
        assert [len(asked.body["input"]) for asked in server.asked] == [5, 2, 3, 1, 2]
    np.testing.assert_allclose(vectors, FakeEmbedder(32).embed_passages(texts), atol=1e-6)


def test_a_text_that_is_refused_by_itself_is_an_error(tmp_path: Path, opened: list[Any]) -> None:
    with serving(in_turn(Reply({"error": "input too long"}, 400))) as server:
        embedder = embedder_at(server, tmp_path, opened)
        with pytest.raises(RemoteError, match=r"answered 400 \(input too long\)"):
            embedder.embed_passages(["one", "two"])
        assert [len(asked.body["input"]) for asked in server.asked] == [2, 1]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "0 vectors for 2 texts"),
        ([{"embedding": [1.0, 2.0]}], "1 vectors for 2 texts"),
        ([{"embedding": [1.0, 2.0]}, {"embedding": [1.0]}], "vectors of different lengths"),
        ([{"embedding": [1.0, 2.0]}] * 2, "2 dimensions instead of 3"),
        ([{"embedding": [1.0, 2.0, NAN]}] * 2, "a vector that is zero or not finite"),
        ([{"embedding": [1.0, 2.0, 1e300]}] * 2, "a vector that is zero or not finite"),
        ([{"embedding": [0.0, 0.0, 0.0]}] * 2, "a vector that is zero or not finite"),
        ([{"embedding": [1.0, 2.0, 3.0], "index": 1}] * 2, "indices that are not 0 to 1, each"),
        (
            [{"embedding": [1.0, 2.0, 3.0], "index": i} for i in (1, 2)],
            "indices that are not 0 to 1, each",
        ),
        (
            [{"embedding": [1.0, 2.0, 3.0], "index": 1}, {"embedding": [1.0, 2.0, 3.0]}],
            "indices that are not 0 to 1, each",
        ),
        ([{"embedding": "%%%"}] * 2, "not the base64 of float32 numbers"),
        ([{"embedding": "QUJD"}] * 2, "not the base64 of float32 numbers"),
        ([{"vector": [1.0]}] * 2, "data.0.embedding"),
        ("none", "data: must be a valid list"),
    ],
)
def test_an_answer_that_cannot_be_used_says_why(
    tmp_path: Path, opened: list[Any], data: object, words: str
) -> None:
    with serving(in_turn(Reply({"data": data}))) as server:
        embedder = embedder_at(server, tmp_path, opened, dimensions=3)
        with pytest.raises(RemoteError) as caught:
            embedder.embed_passages(["one", "two"])
    assert "/v1/embeddings gave an answer for fake that cannot be used: " in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize("answer", [None, [], "text", 3, {"error": "x"}])
def test_json_of_another_form_is_no_answer(answer: object) -> None:
    with pytest.raises(ValueError, match=r"must be an object|data: is missing"):
        read_vectors(answer, 1, None)


def test_another_model_under_the_same_name_is_noticed(tmp_path: Path, opened: list[Any]) -> None:
    changed = in_turn(
        Reply({"data": [{"embedding": [1, 2]}]}), Reply({"data": [{"embedding": [1]}]})
    )
    with serving(changed) as server:
        embedder = embedder_at(server, tmp_path, opened)
        embedder.embed_query("one")
        with pytest.raises(RemoteError, match="1 dimensions instead of 2"):
            embedder.embed_query("one")


def test_tokens_are_estimated_by_the_tokenizer_that_ships(
    tmp_path: Path, opened: list[Any]
) -> None:
    with serving(fake_models) as server:
        facts = {"max_tokens": 100, "passage_prefix": "passage: one "}
        counter = embedder_at(server, tmp_path, opened, **facts).counter
    assert counter.count("one two three") == 3
    assert counter.max_tokens == 75 - 3 - 2  # three quarters, less prefix and special tokens


def test_a_tokenizer_beside_the_card_counts_exactly(tmp_path: Path, opened: list[Any]) -> None:
    with serving(fake_models) as server:
        facts = {"max_tokens": 100, "tokenizer": "tokenizer.json"}
        counter = embedder_at(server, tmp_path, opened, **facts).counter
    assert counter.max_tokens == 98


def test_of_a_query_only_what_fits_is_sent(tmp_path: Path, opened: list[Any]) -> None:
    with serving(fake_models) as server:
        embedder = embedder_at(server, tmp_path, opened, max_tokens=64)
        embedder.embed_query("one " * 200)
        assert server.asked[0].body["input"][0].split() == ["one"] * 46


def test_a_query_waits_no_longer_than_the_card_says(tmp_path: Path, opened: list[Any]) -> None:
    with serving(in_turn(Reply(delay=1))) as server:
        embedder = embedder_at(server, tmp_path, opened, query_seconds=0.1)
        with pytest.raises(RemoteError, match="did not answer in time"):
            embedder.embed_query("one")


# The cross-encoder


def test_scores_are_probabilities_in_the_order_of_the_passages(opened: list[Any]) -> None:
    with serving(fake_models) as server:
        reranker = reranker_at(server, opened, batch_texts=2, query_prefix="q ")
        passages = ["nothing", "one two", "one"]
        scores = reranker.relevance("one two", passages)
        np.testing.assert_allclose(scores, [0, 2 / 3, 1 / 3], atol=1e-4)
        assert server.asked[0].path == "/v1/rerank"
        assert server.asked[0].body == {
            "model": "fake",
            "query": "q one two",
            "documents": ["nothing", "one two"],
            "top_n": 2,
            "return_documents": False,
        }
        assert reranker.relevance("one", []).shape == (0,)
        assert len(server.asked) == 2


def results(*scores: float) -> Callable[[Asked], Reply]:
    found = [{"index": i, "relevance_score": score} for i, score in enumerate(scores)]
    return in_turn(Reply({"results": found}))


def test_logits_become_probabilities_where_the_card_says_so(opened: list[Any]) -> None:
    with serving(results(-2.0, 0.0, 5.0)) as server:
        reranker = reranker_at(server, opened, scores="logit")
        expected = 1 / (1 + np.exp([2.0, 0.0, -5.0]))
        np.testing.assert_allclose(reranker.relevance("q", ["a"] * 3), expected, rtol=1e-5)


def test_the_calibration_is_of_logits(opened: list[Any]) -> None:
    calibration = {"scale": 2.0, "bias": -1.0}
    with serving(results(0.5, 0.9)) as server:
        reranker = reranker_at(server, opened, calibration=calibration)
        logits = np.array([0.0, np.log(9)])
        expected = 1 / (1 + np.exp(1 - 2 * logits))
        np.testing.assert_allclose(reranker.relevance("q", ["a", "b"]), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([{"index": 0, "relevance_score": 0.5}], "1 scores for 2 texts"),
        ([{"index": 0, "relevance_score": 0.5}] * 2, "indices that are not 0 to 1, each once"),
        ([{"index": i, "relevance_score": 0.5} for i in (0, 2)], "indices that are not 0 to 1"),
        ([{"index": i, "relevance_score": NAN} for i in (0, 1)], "a score that is not a number"),
        ([{"index": i, "relevance_score": -7.5} for i in (0, 1)], '"scores": "logit"'),
        ([{"index": i, "score": 0.5} for i in (0, 1)], "results.0.relevance_score: is missing"),
        ({}, "results: must be a valid list"),
    ],
)
def test_scores_that_cannot_be_used_say_why(opened: list[Any], found: object, words: str) -> None:
    with serving(in_turn(Reply({"results": found}))) as server:
        reranker = reranker_at(server, opened)
        with pytest.raises(RemoteError) as caught:
            reranker.relevance("q", ["a", "b"])
    assert "/v1/rerank gave an answer for fake that cannot be used: " in str(caught.value)
    assert words in str(caught.value)


def test_all_batches_of_a_query_share_its_time(opened: list[Any]) -> None:
    answers = results(0.5)
    with serving(lambda asked: Reply(answers(asked).body, delay=0.2)) as server:
        reranker = reranker_at(server, opened, batch_texts=1, query_seconds=0.5)
        with pytest.raises(RemoteError, match="did not answer in time"):
            reranker.relevance("q", ["a"] * 10)
        assert 2 <= len(server.asked) <= 4


def test_certain_scores_stay_finite() -> None:
    assert np.isfinite(to_logits(np.array([0.0, 1.0, 1.0005], np.float32))).all()
    assert read_scores({"results": []}, 0).shape == (0,)
