"""Filters, properties and copies on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import FILES, run
from support import write_files

NOTICE = (
    "Whoever receives this message by mistake is asked to delete it, to tell the sender, and to "
    "keep no copy of it in any place that others can read."
)


@pytest.fixture(autouse=True)
def here(workplace: Path) -> Path:
    """Work in a folder that holds docs/ and nothing else."""
    write_files(workplace / "docs", FILES)
    return workplace


@pytest.fixture
def labelled(here: Path) -> Path:
    """Return a base with two copies of a notice, and properties of a folder."""
    run("index", "docs")
    folder = here / "more"
    for name in ("a.md", "b.md"):
        path = folder / "2024" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Notice\n\n{NOTICE}\n", encoding="utf-8")
        os.utime(path, (1, 1))
    run(
        *("index", "more", "--meta", "team=sales", "--meta", "floor=3"),
        *("--label", "hr", "--path-pattern", "{year}/**"),
    )
    return here


def test_a_hit_says_where_else_its_text_stands(labelled: Path) -> None:
    del labelled
    result = run("search", "delete message sender", "--mode", "lexical")
    assert result.stdout.splitlines()[-1].strip() == (
        f"also in 1 place: {Path('more/2024/a.md')}:1 > Notice"
    )
    found = json.loads(run("search", "delete message sender", "--json").stdout)["hits"][0]
    assert found["also_in_count"] == 1
    assert [Path(place["document"]).name for place in found["also_in"]] == ["a.md"]
    apart = run("search", "delete message sender", "--mode", "lexical", "--copies", "apart")
    assert "also in" not in apart.stdout
    assert apart.stdout.count("> Notice") == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--where", 'team = "sales" and floor = 3 and year = 2024'),
        ("--path", "2024/**"),
        ("--path", "./more/2024"),
        ("--path", "nowhere", "--path", "more/**"),
    ],
)
def test_a_search_can_be_filtered(labelled: Path, options: tuple[str, ...]) -> None:
    del labelled
    hits = json.loads(run("search", "keys", "--json", *options).stdout)["hits"]
    assert {hit["title"] for hit in hits} == {"Notice"}


def test_labels_hide_what_has_others(labelled: Path) -> None:
    del labelled
    query = ("search", "delete message sender", "--mode", "lexical", "--label")
    assert "Notice" in run(*query, "hr").stdout
    assert run(*query, "it", code=3).stdout == "Nothing found.\n"


def test_nothing_found_says_what_the_filter_let_through(labelled: Path) -> None:
    del labelled
    for command, text in (("search", "Nothing found."), ("ask", "Not found in the documents.")):
        result = run(command, "keys", "--where", "tema = 1", code=3)
        assert result.stdout == f"{text}\n"
        assert "where tema = 1: 0 of 5 documents" in result.stderr
        assert "no document has tema; fields: floor, indexed" in result.stderr


def test_a_wrong_filter_is_shown_with_its_place(labelled: Path) -> None:
    del labelled
    result = run("search", "keys", "--where", "team = sales", code=1)
    assert result.stderr == (
        "Error: The filter goes wrong at character 8. Expected a value; put text in quotes: "
        '"sales".\n'
        "  team = sales\n         ^\n"
    )


def test_properties_stay_until_they_are_reset(labelled: Path) -> None:
    del labelled
    team = ("search", "keys", "--where", 'team = "sales"')
    run("index", "more")
    run(*team)
    run("index", "more", "--reset-properties", "--meta", "floor=4")
    run(*team, code=3)
    assert "Notice" in run("search", "keys", "--where", "floor = 4", "--label", "it").stdout


@pytest.mark.parametrize("pair", ["team", "=sales", " =x"])
def test_a_property_needs_a_key_and_a_value(pair: str) -> None:
    assert (
        "is not KEY=VALUE. Write --meta team=sales."
        in run("index", "docs", "--meta", pair, code=2).stderr
    )


def test_a_path_pattern_that_matches_nothing_is_named(here: Path) -> None:
    del here
    result = run("index", "docs", "--path-pattern", "docs/{kind}/**", "--path-pattern", "{file}.md")
    assert "--path-pattern 'docs/{kind}/**' matches no file." in result.stderr
    assert "{file}" not in result.stderr
    assert run("index", "docs/keys.md", "--path-pattern", "{file}.md").stderr == ""
    assert run("index", "docs", "--path-pattern", "x/{y}", "--quiet").stderr == ""


def test_status_says_how_each_source_was_indexed(labelled: Path) -> None:
    run("index", "docs", "--include", "*.md", "--exclude", "sub/", "--max-mb", "2")
    assert [line[16:] for line in run("status").stdout.splitlines()[4:6]] == [
        "docs  --include *.md  --exclude sub/  --max-mb 2",
        "more  --meta team=sales  --meta floor=3  --label hr  --path-pattern {year}/**",
    ]
    docs, more = json.loads(run("status", "--json").stdout)["indexed"]
    assert docs == {
        "path": str(labelled / "docs"),
        "include": ["*.md"],
        "exclude": ["sub/"],
        "max_bytes": 2_000_000,
        "metadata": {},
        "labels": [],
        "path_patterns": [],
    }
    assert more["metadata"] == {"team": "sales", "floor": 3}


def test_an_answer_says_where_else_its_text_stands(labelled: Path) -> None:
    del labelled
    question = "asked to delete it and to tell the sender"
    lines = run("ask", question).stdout.splitlines()
    assert lines[-1].strip() == f"also in 1 place: {Path('more/2024/a.md')}:1 > Notice"
    [cited] = json.loads(run("ask", question, "--json").stdout)["citations"]
    assert cited["also_in_count"] == 1
    assert Path(cited["also_in"][0]["document"]).name == "a.md"
