from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tiny_models import make_family

from localrag.errors import ModelError
from localrag.inference import bundle
from localrag.inference.bundle import DEFAULT_FAMILY, bundled_models, find_card
from localrag.inference.load import load_embedder, load_reranker

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def family(tmp_path: Path) -> Path:
    return make_family(tmp_path)


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCALRAG_MODELS", raising=False)


def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path))
    assert bundled_models() == tmp_path


def test_an_environment_that_names_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path / "absent"))
    with pytest.raises(ModelError, match="correct or unset"):
        bundled_models()


def test_the_wheel_comes_before_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "PACKAGE", tmp_path / "localrag")
    with pytest.raises(ModelError, match="reinstall localrag"):
        bundled_models()
    (tmp_path / "models" / DEFAULT_FAMILY).mkdir(parents=True)
    assert bundled_models() == tmp_path / "models"
    (tmp_path / "localrag" / "_models" / DEFAULT_FAMILY).mkdir(parents=True)
    assert bundled_models() == tmp_path / "localrag" / "_models"


def test_a_model_is_a_card_a_directory_or_a_name(
    family: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = family / "bi-encoder.json"
    monkeypatch.setenv("LOCALRAG_MODELS", str(family.parent))
    assert find_card(card, "bi-encoder") == card
    assert find_card(family, "bi-encoder") == card
    assert find_card(str(family), "cross-encoder") == family / "cross-encoder.json"
    assert find_card(family.name, "bi-encoder") == card


def test_a_directory_with_one_model_has_model_json(family: Path) -> None:
    (family / "bi-encoder.json").rename(family / "model.json")
    assert find_card(family, "bi-encoder") == family / "model.json"


def test_an_unknown_model_says_what_to_give(family: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALRAG_MODELS", str(family.parent))
    with pytest.raises(ModelError, match="no bi-encoder called absent"):
        find_card("absent", "bi-encoder")


def test_making_a_model_reads_no_weights(family: Path) -> None:
    (family / "model.onnx").unlink()
    (family / "tokenizer.json").unlink()
    assert load_embedder(family).dimensions == 9
    assert load_reranker(family).name == "tiny cross-encoder"


def test_the_wrong_kind_is_refused(family: Path) -> None:
    with pytest.raises(ModelError, match="give a bi-encoder"):
        load_embedder(family / "cross-encoder.json")
    with pytest.raises(ModelError, match="give a cross-encoder"):
        load_reranker(family / "bi-encoder.json")
