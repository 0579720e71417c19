"""The glossary on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from support import write_files

from localrag import opening
from localrag.cli.main import cli
from localrag.inference.fake import FakeEmbedder, FakeReranker

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

FILES = {
    "a.md": "# A\n\nWe train conditional random fields (CRFs) for labels.\n",
    "b.md": "# B\n\nA conditional random field (CRF) is undirected.\n",
    "c.md": "# C\n\nThe chronic renal failure (CRF) unit receives patients.\n",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a base of three documents, with the exact fake models."""
    monkeypatch.setattr(opening, "load_embedder", FakeEmbedder)
    monkeypatch.setattr(opening, "load_reranker", FakeReranker)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOCALRAG_DB", raising=False)
    write_files(tmp_path / "docs", FILES)
    run("index", "docs")
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    """Run a command, expect its exit code, and return what it printed."""
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("command", ["list", "add", "remove"])
def test_every_command_explains_itself(command: str) -> None:
    text = run("glossary", command, "-h").stdout
    assert "--db" in text
    assert "--json" in text
    assert "LOCALRAG_DB" in text


def test_the_list_says_what_stands_for_what_and_how_often() -> None:
    assert run("glossary", "list").stdout.splitlines() == [
        "CRF             conditional random field  (2 documents)",
        "CRF             chronic renal failure  (1 document)",
    ]
    assert run("glossary", "list", "renal").stdout.count("\n") == 1
    found = json.loads(run("glossary", "list", "RENAL", "--json").stdout)
    assert found == {
        "entries": [
            {
                "short": "CRF",
                "long": "chronic renal failure",
                "documents": 1,
                "source": "found",
                "active": True,
            }
        ]
    }
    assert run("glossary", "list", "zebra", code=3).stdout == "Nothing fits zebra.\n"


def test_an_empty_glossary_is_said_to_be_empty(here: Path) -> None:
    (here / "docs" / "a.md").write_text("nothing", encoding="utf-8")
    run("index", "docs/a.md", "--db", "other.db")
    result = run("glossary", "list", "--db", "other.db", code=3)
    assert result.stdout == "No abbreviation was found.\n"


def test_entries_are_added_and_removed() -> None:
    added = run("glossary", "add", "KB", "knowledge base")
    assert added.stdout == "KB stands for knowledge base\n"
    assert "KB              knowledge base  (added)" in run("glossary", "list").stdout
    removed = run("glossary", "remove", "CRF", "chronic renal failure")
    assert removed.stdout == "CRF for chronic renal failure is not used any more\n"
    assert "renal" not in run("glossary", "list").stdout
    assert "renal failure  (1 document, removed)" in run("glossary", "list", "--all").stdout
    assert run("glossary", "remove", "KB").stdout == "KB is not used any more\n"
    missing = run("glossary", "remove", "KB", code=3)
    assert missing.stdout == "There is no KB. See what there is: localrag glossary list\n"


def test_changes_are_told_in_json() -> None:
    added = run("glossary", "add", "KB", "knowledge base", "--json").stdout
    assert json.loads(added) == {"added": {"short": "KB", "long": "knowledge base"}}
    assert json.loads(run("glossary", "remove", "KB", "--json").stdout) == {"removed": True}
    assert json.loads(run("glossary", "remove", "KB", "--json", code=3).stdout) == {
        "removed": False
    }


def test_an_entry_that_says_nothing_is_refused() -> None:
    result = run("glossary", "add", "KB", "kb", code=1)
    assert "Give both: localrag glossary add" in result.stderr


def test_a_search_says_what_else_it_looked_for() -> None:
    result = run("search", "recieve", "--mode", "lexical")
    assert "chronic renal failure" in result.stdout
    assert result.stderr == "Searched also for: recieve -> receives\n"
    found = json.loads(run("search", "chronic renal failure", "--json").stdout)
    assert found["searched_also"] == "CRF (chronic renal failure)"
    assert json.loads(run("search", "undirected", "--json").stdout)["searched_also"] == ""
    asked = run("ask", "Who recieves patients?")
    assert asked.stderr == "Searched also for: recieves -> receives\n"
    asked = json.loads(run("ask", "Who recieves patients?", "--json").stdout)
    assert asked["searched_also"] == "recieves -> receives"
