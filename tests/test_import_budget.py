"""What may be loaded before it is needed. Not a timed test: modules can be counted anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support import write_files

import localrag

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = (
    "onnxruntime",
    "tokenizers",
    "numpy",
    "apsw",
    "sqlite_vec",
    "pydantic",
    "rich",
    "huggingface_hub",
)
"""Together more than a second of imports; each belongs to an action that not everybody asks for."""

INDEXING = (
    "localrag.chunking.structural",
    "localrag.formats.known",
    "localrag.formats.registry",
    "localrag.inference.catalogue",
    "localrag.ingest.pipeline",
    "localrag.search.restrict",
    "pathspec",
)
"""A tenth of a second of a search that takes one, if it were to import them."""

SEARCHED_WITH = {
    "chunking": {"splitters"},
    "cli": {"main", "options", "output", "search"},
    "formats": {"code_languages"},
    "ingest": {"fingerprint", "lazy"},
}
"""Of the packages that a search hardly uses, the modules that it does use."""

UNUSED = (
    *("pydantic", "rich", "huggingface_hub", "markdown_it", "pypdfium2", "multiprocessing"),
    *("localrag.store.filters", "localrag.store.vector_codes", "localrag.store.vector_matrix"),
)
"""Of a search without a filter and in a small base; each takes 3 to 80 ms."""

REPORT = f"""
import json, sys
loaded = [name for name in {HEAVY + INDEXING!r} if name in sys.modules]
print(json.dumps(loaded))
"""

HELP = """
import sys
from localrag.cli.main import main
sys.argv = {arguments!r}
try:
    main()
except SystemExit as stopped:
    assert stopped.code == 0, stopped.code
"""


def loaded_after(program: str) -> list[str]:
    """Run `program` in a new interpreter and return which heavy modules it has loaded."""
    finished = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program + REPORT], capture_output=True, text=True, check=True
    )
    names: list[str] = json.loads(finished.stdout.splitlines()[-1])
    return names


def test_the_package_imports_without_its_engine() -> None:
    assert loaded_after("import localrag") == []


def test_records_and_errors_can_be_used_without_the_engine() -> None:
    assert loaded_after("import localrag; localrag.Answer; localrag.LocalragError") == []


def test_a_file_is_opened_without_what_only_indexing_needs() -> None:
    loaded = loaded_after("import localrag; localrag.KnowledgeBase")
    assert set(loaded) & set(INDEXING) == set()
    assert "apsw" in loaded  # what is looked for can be found


COMMANDS = (
    *("", "index", "search", "ask", "trace", "status", "reembed", "doctor"),
    *("models", "models pull"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_shown_without_the_engine(command: str) -> None:
    arguments = ["localrag", *command.split(), "--help"]
    assert loaded_after(HELP.format(arguments=arguments)) == []


SEARCH = """
import json, sys
from localrag.cli.main import main
sys.argv = {arguments!r}
try:
    main()
except SystemExit as stopped:
    assert stopped.code == 0, stopped.code
print(json.dumps(list(sys.modules)))
"""


@pytest.mark.models
def test_a_search_imports_only_what_it_uses(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", {"a.md": "# One\n\none two three four\n"})
    base = tmp_path / "base.db"
    with localrag.open(base) as kb:
        kb.sync(tmp_path / "docs")
    arguments = ["localrag", "search", "one two", "--db", str(base)]
    finished = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", SEARCH.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    *hits, report = finished.stdout.splitlines()
    assert "a.md" in hits[0]
    loaded = set(json.loads(report))
    assert {"onnxruntime", "localrag.search.pipeline"} <= loaded  # it did what a search does
    assert loaded & set(UNUSED) == set()
    for package, modules in SEARCHED_WITH.items():
        within = f"localrag.{package}."
        assert {name.removeprefix(within) for name in loaded if name.startswith(within)} == modules
