"""The pages in docs/ say what the code does."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import apsw
import click
import pytest
from click.testing import CliRunner
from onnx_models import make_model
from support import open_base, write_files

from localrag import config, errors
from localrag.checked import checked_json
from localrag.cli.main import cli
from localrag.config import setting_kinds
from localrag.inference.card import ModelFacts
from localrag.store.where_sql import BUILT_IN_FIELDS, compile_where

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

QUESTION = "keys are rotated every month"
FILES = {"keys.md": f"# Keys\n\n{QUESTION.capitalize()}.\n", "empty.md": ""}


@pytest.fixture
def generate(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script that writes the generated parts."""
    monkeypatch.syspath_prepend(str(root / "docs"))
    import generate  # noqa: PLC0415 - on the path only now

    return generate


@pytest.fixture
def here(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds docs/ and nothing else."""
    monkeypatch.setenv("LOCALRAG_MODELS", str(workplace / "models"))
    write_files(workplace / "docs", FILES)
    return workplace


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


# What is generated


def test_no_page_is_stale(root: Path, generate: ModuleType) -> None:
    for path in generate.pages():
        page = path.read_text(encoding="utf-8")
        assert generate.renewed(page) == page, f"{path.relative_to(root)} is stale: run make docs"


def test_every_generated_part_has_its_place(generate: ModuleType) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in generate.pages())
    assert sorted(generate.REGIONS) == sorted(re.findall(r"<!-- generated: (\w+) -->", pages))


def test_a_stale_page_is_written_anew(
    tmp_path: Path,
    generate: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = "By hand.\n\n<!-- generated: settings -->\nold\n<!-- end -->\n\nBy hand too.\n"
    docs = write_files(tmp_path / "docs", {"stale.md": page, "plain.md": "By hand.\n"})
    monkeypatch.setattr(generate, "DOCS", docs)
    generate.main()
    assert capsys.readouterr().out == "wrote docs/stale.md\n"
    written = (docs / "stale.md").read_text(encoding="utf-8")
    assert written == page.replace("\nold\n", f"\n\n{generate.settings()}\n\n")


def test_every_command_and_option_is_documented(root: Path) -> None:
    page = (root / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, command in cli.commands.items():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert all(flag in section for one in command.params for flag in one.opts if flag[0] == "-")


def test_every_command_in_a_group_is_documented(root: Path) -> None:
    page = (root / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, command in all_commands():
        section = page.split(f" {name}\n")[1].split("\n#")[0]
        assert all(flag in section for one in command.params for flag in one.opts if flag[0] == "-")


def all_commands() -> list[tuple[str, click.Command]]:
    """Return the commands, and those within groups, each with its whole name."""
    return [
        (" ".join(filter(None, (name, inner))), one)
        for name, command in cli.commands.items()
        for inner, one in (
            ("", command),
            *(command.commands.items() if isinstance(command, click.Group) else ()),
        )
    ]


def test_every_option_has_a_help_text() -> None:
    options = [
        (name, one.opts, one.help)
        for name, command in all_commands()
        for one in command.params
        if isinstance(one, click.Option)
    ]
    assert [option for option in options if not option[2]] == []


def test_every_setting_says_what_it_means(generate: ModuleType) -> None:
    texts = generate.field_docstrings(inspect.getsource(config), "Settings")
    assert list(texts) == list(setting_kinds())


def test_the_error_tree_that_is_drawn_is_the_tree(generate: ModuleType) -> None:
    drawn = re.findall(r"^([│├└─ ]*)(\w+)", generate.error_tree(), flags=re.MULTILINE)
    depths = {name: len(branch) // 4 for branch, name in drawn if name != "text"}
    classes = {name: getattr(errors, name) for name in errors.__all__}
    base = errors.LocalragError
    assert depths == {name: one.__mro__.index(base) for name, one in classes.items()}


# What is written by hand


def documented_keys(root: Path) -> dict[str, list[str]]:
    """Return the keys of each object in docs/json.md, by its heading."""
    page = (root / "docs" / "json.md").read_text(encoding="utf-8")
    sections = re.findall(r"^##+ (.+)\n((?:(?!^##).*\n)*)", page, flags=re.MULTILINE)
    return {
        heading: re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
        for heading, section in sections
    }


def printed(*arguments: str) -> Any:
    """Run a command with --json and return the object."""
    result = CliRunner().invoke(cli, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_json_has_the_documented_keys(root: Path, here: Path) -> None:
    make_model(here / "models" / "tiny")
    write_files(here, {"docs/moving.md": "# Moving\n\nThis file moves.\n"})
    # A copy, and a chunk that is too short: a finding.
    write_files(here / "docs", {"copy.md": FILES["keys.md"], "short.md": "Yes.\n"})
    printed("index", "docs")
    (here / "docs" / "moving.md").rename(here / "docs" / "moved.md")
    index = printed("sync")
    search = printed("search", QUESTION, "--explain")
    ask = printed("ask", QUESTION, "--explain")
    trace = printed("trace")
    cut = printed("chunks", "docs/keys.md")
    sizes = printed("chunks", "--stats")
    status = printed("status")
    reembed = printed("reembed")
    doctor = printed("doctor")
    added = printed("glossary", "add", "KB", "knowledge base")
    glossary = printed("glossary", "list")
    models = printed("models", "list")
    objects = {
        "search": search,
        "Hit": search["hits"][0],
        "Match": search["hits"][0]["matches"][0],
        "Other place": search["hits"][0]["also_in"][0],
        "ask": ask,
        "Citation": ask["citations"][0],
        "trace": trace,
        "Stage": trace["stages"][-1],
        "Chunk": trace["stages"][-1]["chunks"][0],
        "chunks FILE": cut,
        "Cut chunk": cut["chunks"][0],
        "chunks --stats": sizes,
        "Finding": sizes["findings"][0],
        "status": status,
        "Source": status["indexed"][0],
        "index": index,
        "reembed": reembed,
        "Moved document": index["moved"][0],
        "Skipped file": index["skipped"][0],
        "skipped": printed("skipped"),
        "glossary list": glossary,
        "Glossary entry": glossary["entries"][0],
        "glossary add": added,
        "glossary remove": printed("glossary", "remove", "KB"),
        "remove": printed("remove", "docs/moved.md"),
        "compact": printed("compact"),
        "models list": models,
        "Model": models["models"][0],
        "models show": printed("models", "show", "tiny"),
        "models verify": printed("models", "verify", "tiny"),
        "doctor": doctor,
        "Check": doctor["checks"][0],
    }
    assert documented_keys(root) == {name: list(value) for name, value in objects.items()}
    assert list(search["trace"]) == list(ask["trace"]) == list(trace)
    assert list(status["skipped_files"][0]) == list(index["skipped"][0])
    keys = ["query", "trace_id", "hits", "searched_also", "warnings"]
    assert list(printed("search", QUESTION)) == keys
    assert list(printed("ask", QUESTION))[-1] == "warnings"


def test_any_sqlite_shell_can_run_the_queries_of_the_schema_page(root: Path, here: Path) -> None:
    with open_base(here / "notes.db") as kb:
        kb.sync("docs")
        kb.search(QUESTION)
    shell = apsw.Connection(str(here / "notes.db"), flags=apsw.SQLITE_OPEN_READONLY)
    queries = [
        block for block in blocks(root / "docs" / "schema.md", "sql") if block.startswith("SELECT")
    ]
    rows = [shell.execute(query).fetchall() for query in queries]
    shell.close()
    assert [len(found) for found in rows] == [1, 1, 1, 6]
    assert str(rows[2][0][2]).endswith(f"{QUESTION.capitalize()}.")


def test_the_words_of_the_schema_page_are_those_of_the_index(root: Path) -> None:
    from localrag.text.analysis import analyse  # noqa: PLC0415 - of this test only

    page = (root / "docs" / "schema.md").read_text(encoding="utf-8")
    for text in ("Rotating the keys", "max_seq_len", "東京都"):
        (row,) = re.findall(rf"^\| `{text}` \| (.*) \|$", page, flags=re.MULTILINE)
        assert set(re.findall(r"`([^`_]+)`", row)) <= set(analyse(text))
    assert "max\ue05fseq\ue05flen" in analyse("max_seq_len")


def test_the_programs_of_the_pages_run(
    root: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del here
    for page in (root / "docs").glob("*.md"):
        for program in blocks(page, "python"):
            exec(compile(program, page.name, "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "5\n"


def test_the_card_of_the_models_page_is_a_card(root: Path) -> None:
    (example,) = blocks(root / "docs" / "models.md", "json")
    facts = checked_json(example.encode(), ModelFacts)
    assert (facts.kind, facts.model) == ("bi-encoder", "model.onnx")


def test_the_commands_of_the_filters_page_run(root: Path, here: Path) -> None:
    write_files(here / "clients", {"acme/2024/terms.md": "# Terms\n\nInvoices are due soon.\n"})
    assert CliRunner().invoke(cli, ["index", "docs", "clients"]).exit_code == 0
    commands = "".join(blocks(root / "docs" / "filters.md", "sh")).splitlines()
    for command in commands:
        result = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert result.exit_code in {0, 3}, (command, result.output)
    assert len(commands) == 9


def test_the_expressions_of_the_filters_page_are_right(root: Path) -> None:
    page = (root / "docs" / "filters.md").read_text(encoding="utf-8")
    section = page.split("| expression |")[1].split("\n\n")[0]
    cells = re.findall(r"^\| (`{1,2}) ?(.+?) ?\1 \|", section, flags=re.MULTILINE)
    assert len(cells) == 11
    for _, expression in cells:
        assert compile_where(expression).sql


def test_the_fields_of_the_filters_page_are_all(root: Path) -> None:
    page = (root / "docs" / "filters.md").read_text(encoding="utf-8")
    rows = page.split("| field |")[1].split("\n\n")[0]
    named = [
        name for row in rows.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert sorted(named) == sorted(BUILT_IN_FIELDS)


def test_every_module_of_the_package_is_on_the_map(root: Path) -> None:
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {root / "localrag" / name for name in re.findall(r"`([\w/]+\.py)`", page)}
    assert [path for path in named if not path.exists()] == []
    folders = {path.parent for path in (root / "localrag").glob("*/__init__.py")}
    assert [folder.name for folder in folders if f"{folder.name}/" not in page] == []
