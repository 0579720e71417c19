"""Models are put in place whole and tried, or not at all."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from onnx_models import TYPED, encoder, make_model, padded_encoder, positioned_encoder, scorer
from tiny_models import make_family, make_tokenizer
from tokenizers import Tokenizer
from tokenizers.normalizers import Replace

from localrag.errors import BusyError, ModelError
from localrag.inference.bundle import find_card, installed_models
from localrag.inference.card import load_card
from localrag.inference.library import add_models, check_model
from localrag.inference.load import load_embedder, load_reranker


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the user's models, which does not exist yet."""
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def installed() -> list[str]:
    return [model.card.name for model in installed_models() if model.origin == "user"]


def test_a_folder_becomes_a_model_that_can_be_named(tmp_path: Path, models: Path) -> None:
    (model,) = add_models(make_model(tmp_path / "tiny"))
    shutil.rmtree(tmp_path / "tiny")
    assert (model.card.name, model.path) == ("tiny", models / "tiny" / "model.json")
    assert load_embedder("tiny").embed_query("one").shape == (9,)
    assert sorted(path.name for path in (models / "tiny").iterdir()) == [
        "model.json",
        "model.onnx",
        "tokenizer.json",
    ]


def test_lengths_and_hashes_are_filled_in(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny", files=None)
    (folder / "model.onnx_data").write_bytes(b"weights")
    (folder / "notes.txt").write_text("not a part of the model")
    (model,) = add_models(folder)
    assert [file.path for file in model.card.files] == [
        "model.onnx",
        "model.onnx_data",
        "tokenizer.json",
    ]
    model.card.verify(model.path.parent)
    assert load_card(model.path) == model.card


def test_a_family_becomes_one_model_for_each_card(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    (folder / "model.json").rename(folder / "bi-encoder.json")
    other = make_model(tmp_path / "tiny-reranker", "cross-encoder", files=None)
    facts = json.loads((other / "model.json").read_text()) | {"model": "scorer.onnx"}
    (folder / "scorer.onnx").write_bytes(scorer())
    (folder / "cross-encoder.json").write_text(json.dumps(facts))
    assert [model.card.name for model in add_models(folder)] == ["tiny", "tiny-reranker"]
    assert load_reranker("tiny-reranker").relevance("one", ["two"]).shape == (1,)


def test_one_card_of_a_folder_can_be_named(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    (folder / "bi-encoder.json").write_text("{")
    assert [model.card.name for model in add_models(folder / "model.json")] == ["tiny"]


def test_adding_it_again_changes_nothing(tmp_path: Path, models: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    add_models(folder)
    before = (models / "tiny" / "model.json").read_bytes()
    add_models(folder)
    add_models(models / "tiny")
    assert (models / "tiny" / "model.json").read_bytes() == before
    assert [path.name for path in models.iterdir() if path.name[0] != "."] == ["tiny"]


def test_another_model_of_that_name_is_refused(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    add_models(folder)
    make_model(folder, pooling="first")
    with pytest.raises(ModelError, match=r"another model called tiny.*another name"):
        add_models(folder)
    assert load_embedder("tiny").card.pooling == "mean"


def test_a_damaged_model_is_repaired_by_adding_it_again(tmp_path: Path, models: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    (model,) = add_models(folder)
    (models / "tiny" / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(ModelError, match="differs"):
        check_model(model)
    add_models(folder)
    check_model(model)


def broken_hash(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(encoder(dimensions=3))


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def no_card(folder: Path) -> None:
    (folder / "model.json").unlink()


def no_json(folder: Path) -> None:
    (folder / "model.json").write_text("{")


def a_list(folder: Path) -> None:
    (folder / "model.json").write_text("[]")


def remade(model: bytes = b"", kind: str = "bi-encoder", **facts: Any) -> Any:
    return lambda folder: make_model(folder, kind, model, files=None, **facts)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (broken_hash, "differs from its card"),
        (no_tokenizer, r"tokenizer\.json is missing"),
        (no_card, "holds no model card"),
        (no_json, "not a valid model card"),
        (a_list, "not a valid model card"),
        (remade(pooling=None), "dimensions and pooling"),
        (remade(b"no model"), "cannot load the model"),
        (remade(encoder(dimensions=3)), "3 dimensions, its card says 9"),
        (remade(pooling="none"), "does not fit the pooling"),
        (remade(output="absent"), "absent"),
        (remade(padded_encoder(), max_tokens=64), "another vector when a longer one"),
        (remade(scorer(scores=2), "cross-encoder"), "one score for each"),
        (remade(encoder(), "cross-encoder"), "one score for each"),
        (remade(name="../elsewhere"), "letters, digits"),
        (remade(name="localrag-bi-encoder-12l"), "ships with localrag"),
        (remade(name="localrag-cross-encoder-6l"), "ships with localrag"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_installed(
    tmp_path: Path, models: Path, spoil: Any, words: str
) -> None:
    folder = make_model(tmp_path / "tiny")
    spoil(folder)
    with pytest.raises(ModelError, match=words):
        add_models(folder)
    assert installed() == []
    assert not (models / "tiny").exists()
    assert not (models / ".unfinished" / "tiny").exists()


def test_the_folders_of_an_export_stay_as_they_are(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    (folder / "deep").mkdir()
    (folder / "model.onnx").rename(folder / "deep" / "model.onnx")
    card = json.loads((folder / "model.json").read_text())
    del card["files"]
    (folder / "model.json").write_text(json.dumps(card | {"model": "deep/model.onnx"}))
    (model,) = add_models(folder)
    assert (model.path.parent / "deep" / "model.onnx").is_file()


def test_an_encoder_that_reads_less_than_its_card_says(tmp_path: Path) -> None:
    """A table of 512 positions fails at 513, which a short trial text would not find."""
    folder = make_model(tmp_path / "tiny", model=positioned_encoder(20), max_tokens=64)
    with pytest.raises(ModelError, match="failed"):
        add_models(folder)
    make_model(folder, model=positioned_encoder(20), max_tokens=20)
    assert len(add_models(folder)) == 1


def test_a_tokenizer_of_small_pieces_makes_no_trial_text_too_long(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny", files=None)
    pieces = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pieces.normalizer = Replace("a", "one two three")
    pieces.save(str(folder / "tokenizer.json"))
    assert [model.card.name for model in add_models(folder)] == ["tiny"]


def test_a_typed_reranker_is_tried_with_its_types(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "typed", "cross-encoder", scorer(inputs=TYPED), files=None)
    make_tokenizer(folder, types=True)
    assert [model.card.name for model in add_models(folder)] == ["typed"]


def test_two_processes_do_not_put_one_model_in_place(tmp_path: Path, models: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    (models / ".unfinished").mkdir(parents=True)
    with (
        FileLock(models / ".unfinished" / "tiny.lock"),
        pytest.raises(BusyError, match="another process"),
    ):
        add_models(folder)


def test_a_full_disk_leaves_nothing_that_looks_installed(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_source: Path, target: Path) -> None:
        Path(target).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(ModelError, match=r"No space left.*make room"):
        add_models(make_model(tmp_path / "tiny"))
    assert installed() == []
    assert not (models / ".unfinished" / "tiny").exists()


def test_files_that_are_no_models_are_refused_as_a_family(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="letters, digits"):
        add_models(make_family(tmp_path))


def test_the_users_model_is_found_after_it_was_added(tmp_path: Path, models: Path) -> None:
    add_models(make_model(tmp_path / "tiny"))
    assert find_card("tiny", "bi-encoder") == models / "tiny" / "model.json"
