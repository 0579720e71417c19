"""`localrag models`, and models named on the command line."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from onnx_models import make_model, scorer
from support import write_files

from localrag.cli.main import cli
from localrag.inference import hub
from localrag.inference.bundle import InstalledModel
from localrag.inference.card import load_card

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the user's models, which does not exist yet."""
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("LOCALRAG_DB", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def parsed(*arguments: str, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code).stdout)


def test_what_is_here_and_what_can_be_fetched(models: Path) -> None:
    make_model(models / "tiny")
    make_model(models / "broken", max_tokens=0)
    text = run("models", "list").stdout
    here, away = text.split("Can be fetched")
    assert "tiny" in here
    assert "localrag-bi-encoder-12l " in here
    assert "bge-m3" in away
    assert "2,285 MB" in away
    assert "37+ MB" in away
    assert "Your models are kept in models" in away
    assert "Broken: models/broken/model.json" in away


def test_the_list_for_programs(models: Path) -> None:
    make_model(models / "tiny")
    found = parsed("models", "list")
    assert found["directory"] == str(models)
    by_name = {one["name"]: one for one in found["models"]}
    assert by_name["tiny"]["origin"] == "user"
    assert by_name["localrag-bi-encoder-12l"]["origin"] == "bundled"
    assert by_name["bge-m3"] == {
        "name": "bge-m3",
        "kind": "bi-encoder",
        "origin": "catalogue",
        "dimensions": 1024,
        "max_tokens": 8192,
        "languages": by_name["bge-m3"]["languages"],
        "licence": "MIT",
        "bytes": 2_284_709_191,
        "bytes_known": True,
    }


def test_a_model_that_was_fetched_is_listed_once(models: Path) -> None:
    make_model(models / "bge-m3")
    found = [one for one in parsed("models", "list")["models"] if one["name"] == "bge-m3"]
    assert [one["origin"] for one in found] == ["user"]


def test_all_that_is_known_of_a_model(models: Path) -> None:
    make_model(models / "tiny")
    text = run("models", "show", "tiny").stdout
    assert 'passage prefix  "passage: "' in text
    assert "model.onnx, " in text
    assert "models/tiny/model.json" in text
    shown = parsed("models", "show", "tiny")
    assert shown["path"] == str(models / "tiny" / "model.json")
    card = load_card(models / "tiny" / "model.json")
    assert shown["card"] == json.loads(json.dumps(asdict(card)))


def test_all_that_the_catalogue_knows_of_a_model() -> None:
    text = run("models", "show", "ms-marco-MiniLM-L12-v2").stdout
    assert "not here yet: localrag models pull ms-marco-MiniLM-L12-v2" in text
    assert "size not known, SHA-256 as the hub says" in text
    assert "sigmoid of the model's own score" in text
    assert "normalize" not in text
    assert parsed("models", "show", "ms-marco-MiniLM-L12-v2")["path"] is None
    calibration = parsed("models", "show", "localrag-cross-encoder-6l")["card"]["calibration"]
    shown = run("models", "show", "localrag-cross-encoder-6l").stdout
    assert f"scale {calibration['scale']}" in shown
    assert "languages       ar, de, en" in shown


def test_a_name_of_no_model() -> None:
    assert "models list shows" in run("models", "show", "nonsense", code=1).stderr
    assert "is on this machine" in run("models", "verify", "nonsense", code=1).stderr
    assert "is known" in run("models", "pull", "nonsense", code=1).stderr


def test_models_are_verified(models: Path) -> None:
    make_model(models / "tiny")
    make_model(models / "judge", "cross-encoder")
    assert run("models", "verify", "tiny", "judge").stdout.count("files whole") == 2
    (models / "tiny" / "model.onnx").write_bytes(b"damaged")
    make_model(models / "broken", max_tokens=0)
    text = run("models", "verify", "tiny", "judge", "broken", code=1).stdout
    assert [line.split()[:2] for line in text.splitlines()] == [
        ["FAIL", "tiny"],
        ["ok", "judge"],
        ["FAIL", "broken"],
    ]
    found = parsed("models", "verify", "tiny", code=1)
    assert (found["ok"], found["checks"][0]["name"]) == (False, "tiny")
    assert "differs" in found["checks"][0]["detail"]


@pytest.mark.models
def test_without_names_every_model_is_verified(models: Path) -> None:
    make_model(models / "tiny")
    make_model(models / "broken", max_tokens=0)
    found = parsed("models", "verify", code=1)
    assert {check["name"]: check["ok"] for check in found["checks"]} == {
        "localrag-bi-encoder-12l": True,
        "localrag-cross-encoder-6l": True,
        "tiny": True,
        "broken": False,
    }


def test_a_model_of_ones_own_is_added_named_and_used(tmp_path: Path, models: Path) -> None:
    make_model(tmp_path / "tiny", files=None, max_tokens=64)
    make_model(tmp_path / "judge", "cross-encoder", scorer(), files=None, max_tokens=64)
    text = run("models", "add", "tiny").stdout
    assert "tiny is ready" in text
    assert "--model tiny" in text
    assert "--reranker judge" in run("models", "add", "judge").stdout
    assert sorted(path.name for path in models.iterdir()) == [".unfinished", "judge", "tiny"]
    write_files(tmp_path / "docs", {"a.md": "# One\n\none two three four\n"})
    too_small = run("index", "docs", "--model", "tiny", code=1).stderr
    assert "--chunk-tokens 40" in too_small
    assert not (tmp_path / "localrag.db").exists()
    run("index", "docs", "--model", "tiny", "--reranker", "judge", "--chunk-tokens", "40")
    assert "embedder      tiny" in run("status").stdout
    assert parsed("search", "one two")["hits"][0]["relevance"] == 1
    assert parsed("ask", "one two", "--reranker", "judge")["found"] is True
    assert "not on this machine" not in run("search", "one", "--reranker", "judge").stdout
    assert (
        "made with tiny" in run("index", "docs", "--model", "multilingual-e5-small", code=1).stderr
    )


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no model card" in run("models", "add", "empty", code=1).stderr
    run("models", "add", "absent", code=2)


def test_pull_hands_the_name_on_and_says_what_to_do_next(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, bool]] = []

    def pulled(name: str, *, progress: bool) -> InstalledModel:
        asked.append((name, progress))
        path = make_model(models / name) / "model.json"
        return InstalledModel(load_card(path), path, "user")

    monkeypatch.setattr(hub, "pull", pulled)
    assert "bge-m3 is ready" in run("models", "pull", "bge-m3").stdout
    assert asked == [("bge-m3", False)]


def test_the_commands_are_listed_in_the_order_of_their_use() -> None:
    lines = run("models", "--help").stdout.partition("Commands:")[2].split("\n")
    assert [line.split()[0] for line in lines if line.strip()] == [
        "list",
        "show",
        "pull",
        "verify",
        "add",
    ]
