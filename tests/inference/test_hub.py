"""Fetching from a hub: whole, broken off, wrong, away, closed; always from this machine."""

from __future__ import annotations

import builtins
import errno
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from conftest import NETWORK_CALLS
from hub_server import COMMIT, Hub, serving
from onnx_models import make_model

from localrag.checked import checked
from localrag.errors import ModelError
from localrag.inference import hub as module
from localrag.inference.bundle import installed_models
from localrag.inference.card import load_card
from localrag.inference.catalogue import CatalogueEntry
from localrag.inference.hub import pull
from localrag.inference.load import load_embedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPOSITORY = "somebody/tiny-encoder"
ORIGINAL_CALLS = [(owner, name, getattr(owner, name)) for owner, name in NETWORK_CALLS]
WEIGHTS = "onnx/model.onnx"


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the user's models, which does not exist yet."""
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr(time, "sleep", lambda _: None)  # the library waits between attempts
    return tmp_path / "models"


@pytest.fixture
def network(offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow connections to this machine, and only those."""
    del offline
    for owner, name, original in ORIGINAL_CALLS:
        monkeypatch.setattr(owner, name, original)
    connect = socket.socket.connect

    def only_here(plug: socket.socket, address: Any) -> None:
        assert address[0] == "127.0.0.1"
        connect(plug, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)


@pytest.fixture
def hub(network: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Return a hub that has the one model of the catalogue."""
    del network
    folder = make_model(tmp_path / "source")
    files = {
        WEIGHTS: (folder / "model.onnx").read_bytes(),
        "tokenizer.json": (folder / "tokenizer.json").read_bytes(),
        "README.md": b"not needed",
    }
    with serving(Hub(REPOSITORY, files, large={WEIGHTS})) as running:
        monkeypatch.setenv("HF_ENDPOINT", f"{running.url}/")
        know(monkeypatch)
        yield running


def know(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> CatalogueEntry:
    """Put one model into the catalogue, and return its entry."""
    facts = {
        "name": "tiny",
        "kind": "bi-encoder",
        "dimensions": 9,
        "max_tokens": 16,
        "pooling": "mean",
        "licence": "MIT",
        "source": "tests",
        "model": WEIGHTS,
        "repository": REPOSITORY,
        "revision": "main",
        "files": [{"path": WEIGHTS}, {"path": "tokenizer.json"}],
    }
    entry = checked(facts | changes, CatalogueEntry)
    monkeypatch.setattr(module, "catalogue", lambda: {"tiny": entry})
    return entry


def installed() -> list[str]:
    return [model.card.name for model in installed_models() if model.origin == "user"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# What goes well


def test_a_model_is_fetched_pinned_and_usable(hub: Hub, models: Path) -> None:
    model = pull("tiny")
    assert model.path == models / "tiny" / "model.json"
    assert [(file.path, file.sha256, file.bytes) for file in model.card.files] == [
        (name, sha256(hub.files[name]), len(hub.files[name]))
        for name in (WEIGHTS, "tokenizer.json")
    ]
    assert model.card.source == f"tests ({REPOSITORY} at {COMMIT})"
    assert load_card(model.path) == model.card
    assert load_embedder("tiny").embed_query("one").shape == (9,)
    kept = sorted(path.name for path in (models / "tiny").rglob("*") if path.is_file())
    assert kept == ["model.json", "model.onnx", "tokenizer.json"]


FRESH = """
import sys
from localrag.checked import checked_json
from localrag.inference import hub
from localrag.inference.catalogue import CatalogueEntry
entry = checked_json(sys.stdin.buffer.read(), CatalogueEntry)
hub.catalogue = lambda: {entry.name: entry}
hub.pull(entry.name)
"""


def test_a_hub_is_asked_for_what_is_needed_and_told_who_asks(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own: the library decides at its import whether it tells more."""
    environment = {key: value for key, value in os.environ.items() if "TELEMETRY" not in key}
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", FRESH],
        input=json.dumps(asdict(know(monkeypatch))),
        env=environment,
        text=True,
        check=True,
    )
    assert installed() == ["tiny"]
    assert [request for request in hub.asked if REPOSITORY not in request] == []
    assert [request for request in hub.asked if "README" in request] == []
    (agent,) = hub.agents
    assert {part.partition("/")[0] for part in agent.split("; ")} == {
        "localrag",
        "hf_hub",
        "python",
    }


def test_a_model_that_is_here_and_whole_needs_no_hub(hub: Hub) -> None:
    first = pull("tiny")
    asked = len(hub.asked)
    assert pull("tiny") == first
    assert len(hub.asked) == asked


def test_a_damaged_model_is_fetched_again(hub: Hub, models: Path) -> None:
    pull("tiny")
    (models / "tiny" / WEIGHTS).write_bytes(b"damaged")
    pull("tiny")
    assert (models / "tiny" / WEIGHTS).read_bytes() == hub.files[WEIGHTS]
    assert [path.name for path in models.iterdir() if path.name[0] != "."] == ["tiny"]


def test_hashes_of_the_catalogue_are_kept(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [
        {"path": name, "sha256": sha256(hub.files[name])} for name in (WEIGHTS, "tokenizer.json")
    ]
    know(monkeypatch, revision=COMMIT, files=files)
    assert pull("tiny").card.files[0].sha256 == sha256(hub.files[WEIGHTS])
    assert f"GET /api/models/{REPOSITORY}/revision/{COMMIT}" in hub.asked


@pytest.mark.parametrize("progress", [True, False])
def test_bars_are_shown_only_where_they_are_wanted(hub: Hub, *, progress: bool) -> None:
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled  # noqa: PLC0415 - slow to import

    del hub
    pull("tiny", progress=progress)
    assert are_progress_bars_disabled() is not progress


# What breaks off


def test_a_connection_that_breaks_is_taken_up_where_it_broke(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants  # noqa: PLC0415 - slow to import

    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 50)
    hub.cut_after = 200
    pull("tiny")
    assert hub.ranges[:2] == [f"{WEIGHTS} bytes=200-", f"{WEIGHTS} bytes=400-"]
    assert installed() == ["tiny"]


def test_what_an_interrupted_pull_has_fetched_is_kept_and_not_taken_for_a_model(
    hub: Hub, models: Path
) -> None:
    hub.missing = {"tokenizer.json"}
    with pytest.raises(ModelError):
        pull("tiny")
    assert installed() == []
    assert not (models / "tiny").exists()
    with pytest.raises(ModelError, match="no bi-encoder called tiny"):
        load_embedder("tiny")
    hub.missing = set()
    hub.asked.clear()
    pull("tiny")
    assert installed() == ["tiny"]
    assert not any(WEIGHTS in request for request in hub.asked)


def test_a_killed_pull_goes_on_within_the_file(hub: Hub, models: Path) -> None:
    """As left by a process that was killed: some bytes of one file, under its hash."""
    parts = models / ".unfinished" / "tiny" / ".parts"
    parts.mkdir(parents=True)
    (parts / sha256(hub.files[WEIGHTS])).write_bytes(hub.files[WEIGHTS][:150])
    assert installed() == []
    pull("tiny")
    assert hub.ranges == [f"{WEIGHTS} bytes=150-"]
    assert (models / "tiny" / WEIGHTS).read_bytes() == hub.files[WEIGHTS]
    assert not (models / "tiny" / ".parts").exists()


def test_a_hub_that_gives_up_midway_leaves_what_has_arrived(
    hub: Hub, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants  # noqa: PLC0415 - slow to import

    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 50)
    hub.served[WEIGHTS] = hub.files[WEIGHTS][:300]
    with pytest.raises(ModelError, match=r"tiny could not be fetched .*Consistency.* goes on"):
        pull("tiny")
    assert installed() == []
    (part,) = (models / ".unfinished" / "tiny" / ".parts").iterdir()
    assert part.stat().st_size == 300
    hub.served.clear()
    pull("tiny")
    assert hub.ranges == [f"{WEIGHTS} bytes=300-"]


def test_a_hub_without_ranges_starts_anew(hub: Hub, models: Path) -> None:
    parts = models / ".unfinished" / "tiny" / ".parts"
    parts.mkdir(parents=True)
    (parts / sha256(hub.files[WEIGHTS])).write_bytes(b"of something else" * 10)
    hub.knows_ranges = False
    pull("tiny")
    assert (models / "tiny" / WEIGHTS).read_bytes() == hub.files[WEIGHTS]


def test_parts_of_something_else_are_thrown_away(hub: Hub, models: Path) -> None:
    parts = models / ".unfinished" / "tiny" / ".parts"
    parts.mkdir(parents=True)
    (parts / sha256(hub.files[WEIGHTS])).write_bytes(b"of something else" * 10)
    with pytest.raises(ModelError, match="run the command again"):
        pull("tiny")
    assert pull("tiny").card.name == "tiny"


def test_a_full_disk_is_not_called_a_fault_of_the_network(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.file_download as library  # noqa: PLC0415 - slow to import

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    del hub
    monkeypatch.setattr(library, "http_get", full)
    with pytest.raises(ModelError, match=r"cannot write to .*No space left.*make room"):
        pull("tiny")


# What is wrong


def test_a_file_with_another_hash_is_thrown_away(hub: Hub, models: Path) -> None:
    hub.served[WEIGHTS] = bytes(len(hub.files[WEIGHTS]))
    with pytest.raises(ModelError, match=r"onnx/model\.onnx .* not the one that was promised"):
        pull("tiny")
    assert installed() == []
    assert not (models / ".unfinished" / "tiny" / WEIGHTS).exists()
    hub.served.clear()
    assert pull("tiny").card.name == "tiny"


def test_a_small_file_with_another_hash_is_thrown_away(hub: Hub) -> None:
    hub.served["tokenizer.json"] = bytes(len(hub.files["tokenizer.json"]))
    with pytest.raises(ModelError, match=r"tokenizer\.json .* not the one that was promised"):
        pull("tiny")
    assert installed() == []


def test_another_file_than_the_catalogue_knows_is_not_even_fetched(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [{"path": WEIGHTS, "sha256": "0" * 64}, {"path": "tokenizer.json"}]
    know(monkeypatch, files=files)
    with pytest.raises(ModelError, match="not the one that was promised"):
        pull("tiny")
    assert not any("resolve" in request for request in hub.asked)


def test_a_model_that_is_not_what_its_facts_say_is_not_installed(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    del hub
    know(monkeypatch, dimensions=3)
    with pytest.raises(ModelError, match="9 dimensions, its card says 3"):
        pull("tiny")
    assert installed() == []


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (401, {}, "does not show it to you"),
        (404, {"X-Error-Code": "RepoNotFound"}, f"has no {REPOSITORY}"),
        (404, {"X-Error-Code": "RevisionNotFound"}, "no longer has the files"),
        (403, {"X-Error-Code": "GatedRepo"}, "accept its terms"),
        (500, {}, "could not be fetched"),
    ],
)
def test_a_hub_that_refuses(hub: Hub, status: int, headers: dict[str, str], words: str) -> None:
    hub.status, hub.headers = status, headers
    with pytest.raises(ModelError, match=words):
        pull("tiny")
    assert installed() == []


def test_a_file_that_the_hub_lists_and_does_not_have(hub: Hub) -> None:
    hub.missing = {WEIGHTS}
    with pytest.raises(ModelError, match="no longer has the files"):
        pull("tiny")


def test_a_file_that_the_hub_does_not_list(hub: Hub) -> None:
    del hub.files["tokenizer.json"]
    with pytest.raises(ModelError, match=r"has no tokenizer\.json .* out of date"):
        pull("tiny")


def test_a_hub_without_hashes_needs_a_catalogue_that_has_them(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.large, hub.has_hashes = set(), False
    with pytest.raises(ModelError, match=r"gives no hash for onnx/model\.onnx"):
        pull("tiny")
    files = [
        {"path": name, "sha256": sha256(hub.files[name])} for name in (WEIGHTS, "tokenizer.json")
    ]
    know(monkeypatch, files=files)
    assert pull("tiny").card.name == "tiny"


def test_nobody_answers(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(ModelError, match=r"could not be fetched from http://127.*HF_ENDPOINT"):
            pull("tiny")
    assert hub.asked == []


def test_the_librarys_own_offline_switch(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants  # noqa: PLC0415 - slow to import

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE is set"):
        pull("tiny")
    assert hub.asked == []


def test_an_unknown_name_opens_no_connection() -> None:
    with pytest.raises(ModelError, match="no model called nonsense is known"):
        pull("nonsense")


def test_without_the_library_its_command_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    know(monkeypatch)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelError, match=r"pip install 'localrag\[hub\]'"):
        pull("tiny")


def test_the_library_is_imported_by_a_pull_and_by_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def watched(name: str, *arguments: Any, **options: Any) -> Any:
        assert not name.startswith("huggingface_hub"), "only a pull may import it"
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", watched)
    from localrag.inference.library import add_models, check_model  # noqa: PLC0415 - watched

    (model,) = add_models(make_model(tmp_path / "tiny", files=None))
    check_model(model)
    assert json.loads(model.path.read_text())["name"] == "tiny"
