"""The product with models on a server: indexing, searching, and what happens when it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from servers import Asked, Reply, Server, fake_models, serving
from support import open_base, write_files

from localrag.answer.extract import NOT_JUDGED
from localrag.cli.main import cli
from localrag.config import make_settings
from localrag.errors import FingerprintError, RemoteError
from localrag.inference import http_client, load
from localrag.inference.bundle import DEFAULT_FAMILY
from localrag.inference.fake import FakeEmbedder
from localrag.inference.load import open_embedder, open_reranker
from localrag.ingest import pipeline
from localrag.ingest import reembed as reembed_module
from localrag.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parent / "inference"))

from tiny_models import make_family

pytestmark = pytest.mark.loopback

FILES = {
    "keys.md": "# Keys\n\n## Rotation\n\nKeys are rotated every month. Locks are oiled in May.\n",
    "doors.md": "# Doors\n\nDoors stay shut at night.\n",
    "windows.md": "# Windows\n\nWindows are open by day.\n",
}
QUESTION = "keys are rotated every month"


class Broken:
    """The fake models, which fail once as many requests were answered."""

    def __init__(self) -> None:
        self.left = 10**6
        self.reply = Reply({"error": "out of memory"}, 400)

    def __call__(self, asked: Asked) -> Reply:
        self.left -= 1
        return fake_models(asked) if self.left >= 0 else self.reply


@pytest.fixture
def broken() -> Broken:
    return Broken()


@pytest.fixture
def server(broken: Broken) -> Iterator[Server]:
    with serving(broken) as running:
        yield running


@pytest.fixture(autouse=True)
def here(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds docs/; local models are fakes, the tokenizer is a tiny one."""
    family = workplace / "models" / DEFAULT_FAMILY
    family.mkdir(parents=True)
    make_family(family)
    monkeypatch.setenv("LOCALRAG_MODELS", str(family.parent))
    monkeypatch.setattr(http_client, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(pipeline, "BATCH_CHUNKS", 1)
    write_files(workplace / "docs", FILES)
    return workplace


def run(*arguments: str, code: int = 0) -> Any:
    """Run a command, expect its exit code, and return what it printed."""
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    return result


def named(server: Server) -> str:
    return f"{server.url}#fake"


def test_a_base_is_made_and_asked_with_remote_models(server: Server) -> None:
    model = ("--model", named(server))
    assert run("index", "docs", *model).stdout.startswith("3 added\n")
    both = (*model, "--reranker", named(server))
    assert run("ask", QUESTION, *both).stdout.startswith("Keys are rotated every month. [1]\n")
    found = run("search", QUESTION, "--mode", "vector", *both)
    assert "docs/keys.md:1 > Keys > Rotation" in found.stdout
    assert found.stderr == ""
    assert {asked.path for asked in server.asked} == {"/v1/embeddings", "/v1/rerank"}
    assert "model         fake\n" in run("status", *model).stdout
    assert b"127.0.0.1" not in Path("localrag.db").read_bytes(), "the file may be mailed"


def test_the_model_can_be_named_once_in_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALRAG_MODEL", named(server))
    monkeypatch.setenv("LOCALRAG_RERANKER", named(server))
    run("index", "docs")
    assert run("ask", QUESTION).stdout.startswith("Keys are rotated every month. [1]\n")
    run("trace")
    assert "3 documents" in run("doctor").stdout


def test_a_file_of_a_remote_model_does_not_reach_for_it_by_itself(server: Server) -> None:
    run("index", "docs", "--model", named(server))
    before = len(server.asked)
    for command in (["search", "keys"], ["ask", "keys"], ["status"], ["index", "docs"]):
        refused = run(*command, code=1).stderr
        assert "localrag.db was made with fake;" in refused
        assert "where a server has it, name it with --model" in refused
    assert len(server.asked) == before


def test_without_the_server_words_are_searched_and_the_trace_says_so(
    server: Server, broken: Broken
) -> None:
    run("index", "docs", "--model", named(server))
    broken.left = 0
    model = ("--model", named(server))
    for mode in ("hybrid", "vector"):
        result = run("search", QUESTION, "--mode", mode, *model)
        assert "docs/keys.md:1 > Keys > Rotation" in result.stdout
        assert result.stderr.startswith("Warning: 2b. vector failed: http://127.0.0.1:")
        assert "answered 400 (out of memory)" in result.stderr
        assert result.stderr.endswith("Searched by words only.\n")
    [warning] = json.loads(run("search", QUESTION, "--json", *model).stdout)["warnings"]
    assert warning.endswith("Searched by words only.")
    assert "failed: http" in run("trace", *model).stdout


def test_without_its_server_the_reranker_leaves_the_fused_order(
    server: Server, broken: Broken
) -> None:
    run("index", "docs")
    broken.left = 0
    fused = run("search", QUESTION, "--no-rerank").stdout
    result = run("search", QUESTION, "--reranker", named(server))
    assert result.stdout == fused, "without relevance: a fused score is none"
    assert result.stderr.startswith("Warning: 4. rerank failed: http://127.0.0.1:")
    assert result.stderr.endswith("The order stays as it was.\n")


def test_what_nobody_judged_is_not_called_not_found(server: Server, broken: Broken) -> None:
    run("index", "docs")
    broken.left = 0
    reranker = ("--reranker", named(server))
    result = run("ask", QUESTION, *reranker, code=3)
    assert result.stdout == f"{NOT_JUDGED}\n"
    assert "Warning: 6. answer failed:" in result.stderr
    printed = json.loads(run("ask", QUESTION, "--json", *reranker, code=3).stdout)
    assert (printed["found"], printed["answer"]) == (False, NOT_JUDGED)
    assert [warning.split(" failed")[0] for warning in printed["warnings"]] == [
        "4. rerank",
        "6. answer",
    ]
    broken.left = 1  # the passages are judged, their sentences are not
    assert run("ask", QUESTION, *reranker, code=3).stdout == f"{NOT_JUDGED}\n"


@pytest.mark.parametrize(
    "reply", [Reply(b"oops"), Reply({"data": []}), Reply(status=500), Reply(cut=0), Reply({}, 429)]
)
def test_no_failure_of_a_server_makes_a_query_raise(
    server: Server, broken: Broken, reply: Reply
) -> None:
    embedder, reranker = open_embedder(named(server)), open_reranker(named(server))
    with KnowledgeBase("base.db", embedder=embedder, reranker=reranker) as kb:
        kb.sync("docs")
        broken.left, broken.reply = 0, reply
        assert len(kb.search(QUESTION)) > 0
        answer = kb.ask(QUESTION)
        assert not answer.found
        assert len(answer.trace.failures) == 3


def test_a_server_that_stops_while_indexing_keeps_what_was_finished(
    server: Server, broken: Broken
) -> None:
    model = ("--model", named(server))
    run("index", "docs/doors.md", *model)
    broken.left = 1
    stopped = run("index", "docs", *model, code=1)
    assert stopped.stderr.startswith("Error: http://127.0.0.1:")
    assert "/v1/embeddings answered 400 (out of memory)" in stopped.stderr
    broken.left = 100
    assert run("index", "docs", *model).stdout.startswith("1 added, 2 unchanged\n")


def test_a_server_that_cannot_be_asked_leaves_no_empty_file_behind(
    server: Server, broken: Broken
) -> None:
    broken.left = 0
    assert "out of memory" in run("index", "docs", "--model", named(server), code=1).stderr
    assert not Path("localrag.db").exists()


def test_another_model_on_the_server_is_noticed_by_its_dimensions(
    server: Server, broken: Broken
) -> None:
    model = ("--model", named(server))
    run("index", "docs", *model)
    broken.left = 0
    broken.reply = Reply({"data": [{"embedding": [1.0, 2.0]}]})
    warned = run("search", "keys", *model).stderr
    assert "returns 2 dimensions and the file's vectors have 32" in warned
    write_files(Path("docs"), {"new.md": "Gates are closed."})
    refused = run("index", "docs", *model, code=1).stderr
    assert "the server now runs another model under that name" in refused


def test_a_card_names_prefixes_limits_and_the_variable_of_the_key(
    here: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    card = {
        "kind": "bi-encoder",
        "url": server.url,
        "model": "fake",
        "dimensions": 32,
        "passage_prefix": "passage: ",
        "api_key_variable": "MY_KEY",
    }
    (here / "card.json").write_text(json.dumps(card), encoding="utf-8")
    run("index", "docs", "--model", "card.json")
    assert all(asked.headers["Authorization"] == "Bearer sk-secret" for asked in server.asked)
    assert all(text.startswith("passage: ") for text in server.asked[0].body["input"])
    assert b"sk-secret" not in (here / "localrag.db").read_bytes()


# reembed


def test_a_file_is_changed_over_to_a_remote_model_and_back(server: Server) -> None:
    run("index", "docs")
    model = ("--model", named(server))
    plan = run("reembed", *model, "--dry-run").stdout
    assert plan.startswith("3 texts, ")
    assert "to embed with fake (32 dimensions). Meanwhile localrag.db grows by about 0.0" in plan
    printed = run("reembed", *model).stdout
    assert printed.startswith("3 texts, ")
    assert "localrag.db is searched with fake from now on (32 dimensions, 3 chunks).\n" in printed
    assert run("ask", QUESTION, *model).stdout.startswith("Keys are rotated every month. [1]\n")
    assert run("reembed", *model).stdout == "localrag.db is already searched with fake.\n"
    nothing = run("reembed", *model, "--dry-run").stdout
    assert nothing == "Nothing to do: localrag.db is searched with fake.\n"
    back = json.loads(run("reembed", "--json").stdout)
    assert back["model"] == "fake-embedder"
    assert (back["dimensions"], back["embedded"], back["swapped"]) == (256, 3, True)
    assert run("ask", QUESTION).stdout.startswith("Keys are rotated every month. [1]\n")
    assert run("reembed", "--quiet").output == ""


def test_a_server_that_stops_while_reembedding_is_gone_on_with(
    server: Server, broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed_module, "BATCH_TEXTS", 1)
    run("index", "docs")
    broken.left = 2  # one for the dimensions
    model = ("--model", named(server))
    assert "answered 400" in run("reembed", *model, code=1).stderr
    assert run("ask", QUESTION).stdout.startswith("Keys are rotated every month. [1]\n")
    assert "model         fake-embedder (localrag reembed is under way)" in run("status").stdout
    broken.left = 100
    plan = run("reembed", *model, "--dry-run").stdout
    assert plan.startswith("2 texts, ")
    assert "1 kept from an earlier run" in plan
    assert ", 1 kept from an earlier run\n" in run("reembed", *model).stdout


def test_ctrl_c_while_reembedding_exits_with_130(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(FakeEmbedder):
        def embed_passages(self, texts: Any) -> Any:
            raise KeyboardInterrupt(texts)

    with open_base(here / "localrag.db", make_settings(chunk_tokens=32)) as kb:
        kb.sync("docs")
    monkeypatch.setattr(load, "load_embedder", lambda _=None: Interrupted(32))
    stopped = run("reembed", code=130)
    assert stopped.stderr == (
        "Stopped. What was embedded is kept, and searches use the former vectors; run the same "
        "command to go on.\n"
    )
    with open_base(here / "localrag.db") as kb:
        assert len(kb.search("keys")) > 0


def test_a_missing_file_is_not_made(here: Path) -> None:
    assert "does not exist" in run("reembed", code=1).stderr
    assert not (here / "localrag.db").exists()


def test_the_api_takes_a_remote_model(server: Server) -> None:
    embedder = open_embedder(named(server))
    with open_base(Path("base.db")) as kb:
        kb.sync("docs")
        kb.reembed(embedder)
        assert kb.search(QUESTION, mode="vector")[0].document.endswith("keys.md")
    with pytest.raises(FingerprintError), open_base(Path("base.db")):
        pass
    with pytest.raises(RemoteError, match="cannot be reached"):
        open_embedder("http://127.0.0.1:9/v1#fake").embed_query("x")
