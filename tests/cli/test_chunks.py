"""`localrag chunks`, and the options that say how documents are cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

import click
import pytest
from click.testing import CliRunner
from support import write_files

from localrag.cli.main import cli
from localrag.config import Chunking, ContextLine, VectorForm

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "keys.md": "# Keys\n\n## Rotation\n\nKeys are turned and oiled by the guard every month. "
    "Locks are replaced in May and looked after in June.\n",
    "doors.txt": "Doors stay shut at night.\n",
}


@pytest.fixture(autouse=True)
def here(workplace: Path) -> Path:
    """Work in a folder that holds docs/ and nothing else."""
    write_files(workplace / "docs", FILES)
    return workplace


def run(*arguments: str, code: int = 0) -> str:
    """Run a command, expect its exit code, and return what it printed."""
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    return result.output


def test_a_file_is_listed_chunk_by_chunk_and_no_base_is_made(here: Path) -> None:
    first, second, chunk = run("chunks", "docs/keys.md").splitlines()
    assert first == "docs/keys.md  Keys  (text/markdown)"
    assert second == "1 chunk, 24 tokens; structural, 300 tokens, overlap 50, context line full"
    assert chunk.split()[:5] == ["0", "paragraph", "24", "lines", "1-5"]
    assert "Keys > Rotation" in chunk
    assert not (here / "localrag.db").exists()


def test_all_text_is_shown_on_request() -> None:
    output = run("chunks", "docs/keys.md", "--full", "--chunking", "sentence-window")
    assert "\n2 chunks, 26 tokens; sentence-window, 100 tokens, context line full\n" in output
    assert output.endswith(
        "\nKeys > Rotation\nLocks are replaced in May and looked after in June.\n"
    )


def test_a_heading_that_the_path_shows_is_not_said_twice(here: Path) -> None:
    (here / "a.md").write_text("# Only\n\n## Heading\n")
    assert run("chunks", "docs/keys.md").count("Rotation") == 1
    assert run("chunks", "a.md").splitlines()[-1].endswith("Only > Heading  # Only ## Heading")


def test_a_repeated_header_is_shown(here: Path) -> None:
    rows = "".join(f"| {row} | {'x ' * 30}|\n" for row in range(4))
    (here / "table.md").write_text(f"| a | b |\n|---|---|\n{rows}")
    output = run("chunks", "table.md", "--full", "--chunking", "record")
    assert "\n2 chunks, " in output
    assert output.count("| a | b |\n|---|---|\n| ") == 2


def test_json() -> None:
    printed = json.loads(run("chunks", "docs/doors.txt", "--json", "--context-line", "none"))
    (chunk,) = printed.pop("chunks")
    assert printed == {
        "document": "docs/doors.txt",
        "title": "doors",
        "media_type": "text/plain",
        "chunking": "structural",
        "context_line": "none",
        "chunk_tokens": 300,
        "overlap_tokens": 50,
    }
    assert chunk == {
        "ordinal": 0,
        "kind": "paragraph",
        "tokens": 5,
        "heading": [],
        "context": "",
        "preamble": "",
        "page": None,
        "line": 1,
        "start": 0,
        "end": 25,
        "text": "Doors stay shut at night.",
    }


def test_a_file_is_cut_as_the_base_that_is_named(here: Path) -> None:
    run("index", "docs", "--chunking", "record", "--quiet", "--db", "a.db")
    output = run("chunks", "docs/keys.md", "--db", "a.db")
    assert "; record, 100 tokens, context line full" in output
    refused = run("chunks", "docs/keys.md", "--db", "a.db", "--chunking", "fixed", code=1)
    assert "was made with chunking = record" in refused
    assert not (here / "localrag.db").exists()


def test_the_sizes_of_a_base() -> None:
    run("index", "docs", "--quiet")
    output = run("chunks", "--stats")
    assert output.startswith("2 chunks of 2 documents, 30 tokens; structural, 300 tokens")
    assert "tokens per chunk: 6 to 24, median 24; overlap 0.0% of the text" in output
    assert "        1-16        1  █" in output
    assert "\nkinds: paragraph 2\n" in output
    assert "\n! 1 chunks of 5 tokens or fewer\n" in output
    assert "    docs/doors.txt, chunk 0: Doors stay shut at night.\n" in output
    printed = json.loads(run("chunks", "--stats", "--json"))
    assert printed["chunks"] == sum(count for _, count in printed["histogram"]) == 2


def test_nothing_stands_out(here: Path) -> None:
    (here / "docs" / "doors.txt").write_text("Doors stay shut at night and by day as well.")
    run("index", "docs", "--quiet", "--context-line", "none")
    assert run("chunks", "--stats").endswith("Nothing stands out.\n")


@pytest.mark.parametrize("arguments", [(), ("docs/keys.md", "--stats")])
def test_either_a_file_or_a_base(arguments: tuple[str, ...]) -> None:
    assert "Give a FILE to cut, or --stats" in run("chunks", *arguments, code=2)


def test_a_file_that_cannot_be_read(here: Path) -> None:
    (here / "a.bin").write_bytes(bytes(range(256)) * 9)
    assert run("chunks", "a.bin", code=1).startswith("Error: unsupported: a.bin: no reader")
    assert "'missing.md' does not exist" in run("chunks", "missing.md", code=2)


def test_a_page_is_shown_where_there_are_pages() -> None:
    from localrag.cli.chunks import shown_place  # noqa: PLC0415 - no reader of pages is needed
    from localrag.records import Block, Chunk, Document  # noqa: PLC0415

    document = Document("One", (Block("paragraph", 0, 3, page=7),), "t", "x")
    chunk = Chunk(0, "paragraph", 0, 3, "One", (), "", 0, 1)
    assert shown_place(document, chunk) == ""
    paged = Chunk(0, "paragraph", 0, 3, "One", (), "", 0, 1, page=7)
    assert shown_place(document, paged) == "p. 7"


def test_the_options_offer_what_the_settings_allow() -> None:
    offered = {
        option.name: tuple(option.type.choices)
        for option in cli.commands["index"].params
        if isinstance(option.type, click.Choice)
    }
    assert offered["chunking"] == get_args(Chunking)
    assert offered["context_line"] == get_args(ContextLine)
    assert offered["vectors"] == get_args(VectorForm)


def test_another_way_of_cutting_is_refused_with_the_way_out() -> None:
    run("index", "docs", "--quiet")
    output = run("index", "docs", "--chunking", "fixed", code=1)
    assert "was made with chunking = structural" in output
    assert "--db NEW.db" in output
