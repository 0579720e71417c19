from __future__ import annotations

from pathlib import Path

import pytest
from onnx_models import make_model
from tiny_models import make_family

from localrag.errors import ModelError
from localrag.inference import bundle
from localrag.inference.bundle import (
    DEFAULT_FAMILY,
    bundled_models,
    card_paths,
    find_card,
    find_fingerprint,
    installed_models,
    lasting_name,
    user_models,
)
from localrag.inference.card import load_card
from localrag.inference.load import load_embedder, load_reranker


@pytest.fixture
def family(tmp_path: Path) -> Path:
    return make_family(tmp_path)


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the user's models, which is empty."""
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def test_the_users_models_lie_where_the_environment_says(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert user_models() == models
    monkeypatch.setenv("LOCALRAG_MODELS", "~/mine")
    assert user_models() == Path.home() / "mine"


def test_the_users_models_lie_in_a_directory_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCALRAG_MODELS")
    assert user_models().parts[-2:] == ("localrag", "models")
    assert user_models().is_absolute()


def test_the_wheel_comes_before_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "PACKAGE", tmp_path / "place" / "localrag")
    with pytest.raises(ModelError, match="reinstall localrag"):
        bundled_models()
    (tmp_path / "place" / "models" / DEFAULT_FAMILY).mkdir(parents=True)
    assert bundled_models() == tmp_path / "place" / "models"
    (tmp_path / "place" / "localrag" / "_models" / DEFAULT_FAMILY).mkdir(parents=True)
    assert bundled_models() == tmp_path / "place" / "localrag" / "_models"


def test_a_model_is_a_card_or_a_directory(family: Path) -> None:
    card = family / "bi-encoder.json"
    assert find_card(card, "bi-encoder") == card
    assert find_card(family, "bi-encoder") == card
    assert find_card(str(family), "cross-encoder") == family / "cross-encoder.json"


def test_a_model_that_ships_is_named_by_its_family_or_its_card() -> None:
    family = bundled_models() / DEFAULT_FAMILY
    for name in (None, DEFAULT_FAMILY):
        assert find_card(name, "bi-encoder") == family / "bi-encoder.json"
        assert find_card(name, "cross-encoder") == family / "cross-encoder.json"
    named = find_card("localrag-cross-encoder-6l", "cross-encoder")
    assert named == family / "cross-encoder.json"


def test_the_users_model_is_named_by_its_folder(models: Path) -> None:
    folder = make_model(models / "tiny")
    assert find_card("tiny", "bi-encoder") == folder / "model.json"


def test_an_installed_model_comes_before_a_folder_of_that_name(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_model(tmp_path / "tiny")
    assert find_card("tiny", "bi-encoder") == Path("tiny") / "model.json"
    make_model(models / "tiny")
    assert find_card("tiny", "bi-encoder") == models / "tiny" / "model.json"
    assert find_card("./tiny", "bi-encoder") == Path("tiny") / "model.json"


def test_a_lasting_name_is_one_that_is_installed_or_a_whole_path(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_model(tmp_path / "tiny")
    assert lasting_name("tiny", "bi-encoder") == str(tmp_path / "tiny")
    make_model(models / "tiny")
    assert lasting_name("tiny", "bi-encoder") == "tiny"
    assert lasting_name(Path("tiny/model.json"), "bi-encoder") == str(tmp_path / "tiny/model.json")
    assert lasting_name(DEFAULT_FAMILY, "bi-encoder") == DEFAULT_FAMILY
    assert lasting_name("absent", "bi-encoder") == "absent"


def test_a_directory_with_one_model_has_model_json(family: Path) -> None:
    (family / "bi-encoder.json").rename(family / "model.json")
    assert find_card(family, "bi-encoder") == family / "model.json"


@pytest.mark.parametrize("name", ["absent", "../absent", ".", ""])
def test_an_unknown_model_says_what_to_give(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(ModelError, match=r"no bi-encoder called .*models list"):
        find_card(name, "bi-encoder")


def test_a_model_of_the_catalogue_says_how_to_fetch_it() -> None:
    with pytest.raises(ModelError, match="localrag models pull bge-m3"):
        find_card("bge-m3", "bi-encoder")


def test_every_model_on_the_machine_is_listed(models: Path) -> None:
    make_model(models / "tiny")
    make_model(models / ".unfinished" / "half")
    (models / "notes.txt").write_text("no model")
    found = [(model.card.name, model.origin) for model in installed_models()]
    assert found == [
        ("localrag-bi-encoder-12l", "bundled"),
        ("localrag-cross-encoder-6l", "bundled"),
        ("tiny", "user"),
    ]


def test_a_card_that_is_not_valid_hides_no_other(models: Path) -> None:
    make_model(models / "broken", max_tokens=0)
    make_model(models / "tiny")
    assert [model.card.name for model in installed_models()][2:] == ["tiny"]
    assert [path.parent.name for path, _ in card_paths()][2:] == ["broken", "tiny"]


def test_a_model_is_found_by_what_it_computes(models: Path) -> None:
    folder = make_model(models / "tiny")
    fingerprint = load_card(folder / "model.json").fingerprint
    assert find_fingerprint(fingerprint) == folder / "model.json"
    assert find_fingerprint("0" * 16) is None


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
