"""Naming a model on a server: by an address or by a card."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import make_family

from localrag.errors import ModelError
from localrag.inference.bi_encoder import BiEncoder
from localrag.inference.cross_encoder import CrossEncoder
from localrag.inference.load import open_embedder, open_reranker
from localrag.inference.remote_card import (
    RemoteCard,
    batches,
    card_of_address,
    is_address,
    remote_card,
)
from localrag.inference.remote_embedder import RemoteEmbedder
from localrag.inference.remote_reranker import RemoteReranker

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "http://localhost:11434/v1#nomic-embed-text"
FACTS = {"kind": "bi-encoder", "url": "https://api.example/v1", "model": "m"}


def card(**facts: Any) -> RemoteCard:
    return remote_card(FACTS | facts)


def write(folder: Path, **facts: Any) -> Path:
    path = folder / "remote.json"
    path.write_text(json.dumps(FACTS | facts), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("model", "address"),
    [(ADDRESS, True), ("HTTPS://A/v1#m", True), ("httpx", False), ("models/http", False)],
)
def test_an_address_is_told_from_a_name(model: str, *, address: bool) -> None:
    assert is_address(model) == address
    assert not is_address(None)


def test_an_address_is_a_card_with_the_usual_limits() -> None:
    found = card_of_address(ADDRESS, "bi-encoder")
    assert (found.url, found.model) == ("http://localhost:11434/v1", "nomic-embed-text")
    assert found.max_tokens == 512
    assert found.key_variable == "LOCALRAG_EMBEDDINGS_API_KEY"
    assert card_of_address(ADDRESS, "cross-encoder").key_variable == "LOCALRAG_RERANK_API_KEY"
    assert card_of_address("http://a/#org/model:7b", "bi-encoder").model == "org/model:7b"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://localhost/v1", "model: must have at least 1 character"),
        ("http:///v1#m", "names a host"),
        ("http://user:secret@host/v1#m", "no password"),
        ("http://secret@host/v1#m", "no password"),
        ("http://host/v1?key=1#m", "no ?"),
        ("http://host:port/v1#m", "Port could not be cast"),
        ("http://host/v 1#m", "without blanks"),
        ("http://höst/v1#m", "in ASCII"),
    ],
)
def test_a_wrong_address_is_explained_without_its_password(address: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        card_of_address(address, "bi-encoder")
    assert words in str(caught.value)
    assert str(caught.value).endswith("Write it as http://HOST:PORT/v1#MODEL")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_address_opens_remote_models() -> None:
    embedder = open_embedder(ADDRESS)
    assert isinstance(embedder, RemoteEmbedder)
    assert embedder.name == "nomic-embed-text"
    assert isinstance(open_reranker(ADDRESS), RemoteReranker)


def test_a_card_with_an_address_opens_remote_models(tmp_path: Path) -> None:
    embedder = open_embedder(write(tmp_path, dimensions=7))
    assert isinstance(embedder, RemoteEmbedder)
    assert embedder.dimensions == 7
    write(tmp_path).rename(tmp_path / "model.json")
    assert isinstance(open_embedder(str(tmp_path)), RemoteEmbedder)
    reranker = open_reranker(write(tmp_path, kind="cross-encoder", scores="logit"))
    assert isinstance(reranker, RemoteReranker)
    assert reranker.card.scores == "logit"


def test_other_cards_and_names_open_local_models(tmp_path: Path) -> None:
    family = make_family(tmp_path)
    assert isinstance(open_embedder(family), BiEncoder)
    assert isinstance(open_reranker(str(family)), CrossEncoder)
    assert isinstance(open_embedder(), BiEncoder)
    (family / "bi-encoder.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="not a valid model card"):
        open_embedder(family)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"model": ""}, "model: must have at least 1 character"),
        ({"url": "ftp://a"}, "url: an address begins with"),
        ({"colour": "red"}, "colour: there is no such field"),
        ({"max_tokens": 3}, "max_tokens"),
        ({"api_key_variable": "sk-abc def"}, "api_key_variable"),
        ({"scores": "logit"}, "of the other kind of model: scores"),
        ({"kind": "cross-encoder", "dimensions": 4}, "of the other kind of model: dimensions"),
        ({"tokenizer": "../tokenizer.json"}, "tokenizer"),
    ],
)
def test_a_wrong_card_is_explained(tmp_path: Path, facts: dict[str, Any], words: str) -> None:
    path = write(tmp_path, **facts)
    with pytest.raises(ModelError) as caught:
        open_embedder(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


def test_a_card_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is the card of a bi-encoder: give a cross-encoder"):
        open_reranker(write(tmp_path))


def test_the_fingerprint_is_of_what_decides_the_vectors() -> None:
    same = [card(), card(url="http://other/v1"), card(batch_texts=2, api_key_variable="K")]
    assert len({one.fingerprint for one in same}) == 1
    other = [card(model="n"), card(query_prefix="q: "), card(passage_prefix="q: ")]
    assert len({one.fingerprint for one in (*other, card())}) == 4


@given(
    st.lists(st.text("ab", max_size=9)),
    st.integers(1, 5),
    st.integers(1, 20),
)
def test_batches_hold_every_text_once_in_order_within_the_limits(
    texts: list[str], most: int, characters: int
) -> None:
    runs = list(batches(texts, card(batch_texts=most, batch_characters=characters)))
    assert [position for run in runs for position in run] == list(range(len(texts)))
    for run in runs:
        assert 1 <= len(run) <= most
        assert len(run) == 1 or sum(len(texts[position]) for position in run) <= characters
