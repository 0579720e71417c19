"""The README cannot drift: its commands parse, its program runs, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from localrag.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCUMENT = "# Keys\n\nRotate the signing keys every ninety days with the command `keys rotate`.\n"


def blocks(root: Path, language: str) -> list[str]:
    text = (root / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def commands(root: Path) -> Iterator[list[str]]:
    for block in blocks(root, "sh"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] == "localrag":
                yield words[1:]


def test_every_command_parses(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(commands(root))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "keys.md").write_text(DOCUMENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # where the file lies that the commands name
    assert {words[0] for words in found} == set(cli.commands)
    for name, *arguments in found:
        cli.commands[name].make_context(name, list(arguments))


def test_every_target_exists(root: Path) -> None:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make ([\w-]+)", "\n".join(blocks(root, "sh")), flags=re.MULTILINE)
    assert "demo" in targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_every_link_leads_somewhere(root: Path) -> None:
    for page in (root / "README.md", *(root / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert link.startswith("https://") or (page.parent / link).exists(), (page.name, link)


@pytest.mark.models
def test_the_program_runs(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text(DOCUMENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (program,) = blocks(root, "python")
    exec(compile(program, "README.md", "exec"), {})  # noqa: S102 - our own text
    assert "every ninety days" in capsys.readouterr().out
