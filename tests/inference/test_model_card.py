from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tiny_models import make_family

from localrag.errors import ModelError
from localrag.inference import bundle
from localrag.inference.bundle import bundled_models, cards_in, read_card
from localrag.inference.card import load_card, shipped_card

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def family(tmp_path: Path) -> Path:
    return make_family(tmp_path)


def changed(family: Path, kind: str = "bi-encoder", /, **values: Any) -> Path:
    path = family / "changed.json"
    card = json.loads((family / f"{kind}.json").read_text()) | values
    path.write_text(json.dumps({name: value for name, value in card.items() if value is not None}))
    return path


def test_card_holds_the_facts_and_defaults(family: Path) -> None:
    card = load_card(family / "bi-encoder.json")
    assert (card.kind, card.dimensions, card.pooling) == ("bi-encoder", 9, "mean")
    assert (card.normalize, card.query_prefix, card.model) == (True, "", "model.onnx")


@pytest.mark.parametrize(
    ("kind", "values", "word"),
    [
        ("bi-encoder", {"surprise": 1}, "surprise"),
        ("bi-encoder", {"dimensions": None}, "dimensions and pooling"),
        ("bi-encoder", {"pooling": "sum"}, "pooling"),
        ("bi-encoder", {"calibration": {"scale": 1, "bias": 0}}, "calibration"),
        ("bi-encoder", {"window_tokens": 96}, "window_tokens"),
        ("bi-encoder", {"max_tokens": 3}, "max_tokens"),
        ("bi-encoder", {"model": "other.onnx"}, "other.onnx"),
        ("bi-encoder", {"model": "../model.onnx"}, "model"),
        ("bi-encoder", {"model": "/model.onnx"}, "model"),
        ("bi-encoder", {"files": []}, "files"),
        ("bi-encoder", {"output": ""}, "output"),
        ("cross-encoder", {"calibration": {"scale": -1, "bias": 0}}, "scale"),
        ("cross-encoder", {"window_tokens": 3}, "window_tokens"),
        ("cross-encoder", {"dimensions": 3, "pooling": "mean"}, "dimensions and pooling"),
        ("cross-encoder", {"kind": "oracle"}, "kind"),
    ],
)
def test_a_wrong_card_is_refused_by_name_of_the_field(
    family: Path, kind: str, values: dict[str, Any], word: str
) -> None:
    with pytest.raises(ModelError, match=word):
        load_card(changed(family, kind, **values))


def test_a_cross_encoder_needs_no_calibration(family: Path) -> None:
    assert load_card(changed(family, "cross-encoder", calibration=None)).calibration is None


def test_a_cross_encoder_reads_all_of_a_passage_unless_its_card_says_otherwise(
    family: Path,
) -> None:
    assert load_card(family / "cross-encoder.json").window_tokens is None
    assert load_card(changed(family, "cross-encoder", window_tokens=96)).window_tokens == 96


@pytest.mark.parametrize("pooling", ["mean", "first", "last", "none"])
def test_every_pooling_can_be_named(family: Path, pooling: str) -> None:
    assert load_card(changed(family, pooling=pooling)).pooling == pooling


def test_a_card_without_its_files_says_who_fills_them_in(family: Path) -> None:
    with pytest.raises(ModelError, match=r"localrag models add .* fills in"):
        load_card(changed(family, files=None))


def test_the_length_of_a_model_is_that_of_its_files(family: Path) -> None:
    lengths = [(family / name).stat().st_size for name in ("model.onnx", "tokenizer.json")]
    assert load_card(family / "bi-encoder.json").bytes == sum(lengths)


def test_a_missing_card_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\.json"):
        load_card(tmp_path / "model.json")


def test_a_card_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        load_card(tmp_path)


def test_a_card_that_is_not_json(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(ModelError, match="not a valid model card: card"):
        load_card(tmp_path / "model.json")


def test_fingerprint_changes_with_what_changes_the_vectors(family: Path) -> None:
    card = load_card(family / "bi-encoder.json")
    other: list[dict[str, Any]] = [
        {"query_prefix": "q "},
        {"passage_prefix": "p "},
        {"pooling": "first"},
        {"normalize": False},
        {"output": "sentence"},
    ]
    prints = {card.fingerprint, *(load_card(changed(family, **one)).fingerprint for one in other)}
    assert len(prints) == 6
    assert len(card.fingerprint) == 16


def test_fingerprint_ignores_what_is_only_said(family: Path) -> None:
    card = load_card(family / "bi-encoder.json")
    said: dict[str, Any] = {
        "name": "new",
        "licence": "other",
        "source": "elsewhere",
        "languages": ["en"],
    }
    assert load_card(changed(family, **said)).fingerprint == card.fingerprint


SHIPPED = [card for family in bundled_models().iterdir() for card in cards_in(family)]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_card_that_ships_is_valid_so_that_it_can_be_read_without_a_check(path: Path) -> None:
    valid = load_card(path)
    assert repr(shipped_card(path)) == repr(valid)  # which tells 1 from 1.0, as == does not
    assert read_card(path) == valid


def test_the_cards_of_both_kinds_ship() -> None:
    assert {load_card(path).kind for path in SHIPPED} == {"bi-encoder", "cross-encoder"}


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"surprise": 1}, "surprise: there is no such field"),
        ({"files": None}, "fills in"),
        ({"files": [{"path": "x"}]}, r"files\.0\.sha256: is missing"),
        ({"dimensions": None}, "dimensions and pooling"),
        ({"calibration": {"scale": 1}}, r"calibration\.bias: is missing"),
    ],
)
def test_a_card_that_shipped_and_was_damaged_says_what_is_wrong(
    family: Path, values: dict[str, Any], word: str
) -> None:
    with pytest.raises(ModelError, match=word):
        shipped_card(changed(family, **values))


def test_a_card_that_did_not_ship_needs_none_that_did(
    family: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "PACKAGE", family / "localrag")
    path = family / "bi-encoder.json"
    assert read_card(path) == load_card(path)


def test_a_card_that_did_not_ship_is_checked(family: Path) -> None:
    wrong = changed(family, max_tokens="512")
    assert shipped_card(wrong).max_tokens == "512"  # type: ignore[comparison-overlap]
    with pytest.raises(ModelError, match="max_tokens: must be a valid integer"):
        read_card(wrong)


def test_verify_accepts_whole_files(family: Path) -> None:
    load_card(family / "bi-encoder.json").verify(family)


def test_verify_finds_a_changed_byte_and_a_missing_file(family: Path) -> None:
    card = load_card(family / "bi-encoder.json")
    (family / "model.onnx").write_bytes(b"not a modeL")
    with pytest.raises(ModelError, match="differs"):
        card.verify(family)
    (family / "model.onnx").unlink()
    with pytest.raises(ModelError, match="missing"):
        card.verify(family)
