"""The catalogue says of every model what a card must say."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import pytest

from localrag.checked import InvalidValueError, checked
from localrag.inference.card import ModelCard, ModelFacts
from localrag.inference.catalogue import CatalogueEntry, catalogue

NAMED = {
    "all-MiniLM-L6-v2",
    "bge-m3",
    "bge-reranker-v2-m3-int8",
    "bge-small-en-v1.5",
    "japanese-reranker-small-v2",
    "japanese-reranker-tiny-v2",
    "japanese-reranker-xsmall-v2",
    "ms-marco-MiniLM-L12-v2",
    "ms-marco-MiniLM-L6-v2",
    "multilingual-e5-base-fp32",
    "multilingual-e5-small-fp32",
    "ruri-v3-130m-int8",
    "ruri-v3-30m",
    "ruri-v3-30m-int8",
    "ruri-v3-310m-int8",
}


def test_the_models_are_these() -> None:
    assert set(catalogue()) == NAMED


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_entry_becomes_a_card_once_its_files_are_known(name: str) -> None:
    entry = catalogue()[name]
    facts = {fact.name: getattr(entry, fact.name) for fact in fields(ModelFacts)}
    files = [{"path": file.path, "sha256": "0" * 64, "bytes": 1} for file in entry.files]
    card = checked(facts | {"files": files}, ModelCard)
    assert card.architecture
    assert card.languages
    assert card.licence in {"MIT", "Apache-2.0"}


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_hash_belongs_to_a_commit(name: str) -> None:
    """The newest files of a repository can be others tomorrow, so that a hash needs a commit."""
    entry = catalogue()[name]
    if entry.revision == "main":
        weights = [file for file in entry.files if file.path != entry.tokenizer]
        assert all(file.bytes for file in weights if file.sha256)
    else:
        assert len(entry.revision) == 40


def test_models_of_one_family_have_its_prefixes() -> None:
    for name, entry in catalogue().items():
        if name.startswith("ruri-v3"):
            assert (entry.query_prefix, entry.passage_prefix) == ("検索クエリ: ", "検索文書: ")
        if "e5" in name:
            assert (entry.query_prefix, entry.passage_prefix) == ("query: ", "passage: ")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"revision": "v1"}, "revision"),
        ({"repository": "https://example.org/x"}, "repository"),
        ({"name": "../x"}, "name"),
        ({"model": "other.onnx"}, "other.onnx"),
        ({"dimensions": None}, "dimensions"),
        ({"surprise": 1}, "surprise"),
        ({"files": [{"path": "../model.onnx"}, {"path": "tokenizer.json"}]}, "path"),
    ],
)
def test_a_wrong_entry_is_refused(changes: dict[str, Any], word: str) -> None:
    facts = asdict(catalogue()["all-MiniLM-L6-v2"]) | changes
    with pytest.raises(InvalidValueError, match=word):
        checked(facts, CatalogueEntry)
