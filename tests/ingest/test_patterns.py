"""Patterns mean what they mean to git, which is asked where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import write_files

from localrag.errors import SettingsError
from localrag.ingest.discover import Root, discover
from localrag.ingest.patterns import Ignored, Patterns, Wanted

GIT = shutil.which("git")


@pytest.mark.parametrize(
    ("lines", "path", "folder", "expected"),
    [
        (["*.log"], "a/b.log", False, True),
        (["*.log", "!keep.log"], "keep.log", False, False),
        (["!keep.log", "*.log"], "keep.log", False, True),
        (["/top.md"], "sub/top.md", False, None),
        (["build/"], "build", False, None),
        (["build/"], "a/build", True, True),
        (["build/"], "build/b.md", False, None),
        (["docs/**/x.md"], "docs/a/b/x.md", False, True),
        (["docs/**"], "docs", True, None),
        (["#comment", "", "   "], "comment", False, None),
        (["\\#literal"], "#literal", False, True),
        (["鍵*"], "鍵.md", False, True),
        (["*", "!*/"], "a/b", True, False),
        (["!*/"], "a/b.md", False, None),
        (["a[0-9].md"], "a5.md", False, True),
    ],
)
def test_the_last_pattern_that_matches_decides(
    lines: list[str], path: str, *, folder: bool, expected: bool | None
) -> None:
    assert Patterns(lines).verdict(path, folder=folder) is expected


def test_a_line_that_is_no_pattern_is_passed_over_in_a_file_and_refused_from_the_user() -> None:
    assert Patterns(["!", "*.md"]).verdict("a.md", folder=False) is True
    with pytest.raises(SettingsError, match=r"'!' is no pattern .* such as '\*\.md'"):
        Wanted(exclude=("!",)).check()
    Wanted(("*.md",), ("drafts/",)).check()


def test_include_names_files_and_exclude_has_the_last_word() -> None:
    wanted = Wanted(include=("*.md", "!secret.md"), exclude=("drafts/",))
    assert wanted.takes("a/b.md", folder=False)
    assert not wanted.takes("a/b.txt", folder=False)
    assert not wanted.takes("secret.md", folder=False)
    assert wanted.takes("a", folder=True)
    assert not wanted.takes("drafts", folder=True)
    assert Wanted().takes("anything", folder=False)


def taken(folder: Path, wanted: Wanted | None = None) -> list[str]:
    roots = [Root(folder, 1_000, wanted or Wanted())]
    return [os.path.relpath(found.uri, folder) for found in discover(roots)]


def test_ignore_files_hold_for_their_folder_and_deeper_ones_decide(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n",
            "a.log": "x",
            "a.md": "x",
            "build/b.md": "x",
            "sub/.gitignore": "!keep.log\n*.md\n",
            "sub/keep.log": "x",
            "sub/c.md": "x",
            "sub/build/d.md": "x",
        },
    )
    assert taken(tmp_path) == ["a.md", "sub/keep.log"]


def test_localragignore_decides_over_gitignore_in_the_same_folder(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            ".gitignore": "notes/\n*.csv\n",
            ".localragignore": "!notes/\nsecret.md\n",
            "notes/a.md": "x",
            "secret.md": "x",
            "b.csv": "x",
        },
    )
    assert taken(tmp_path) == ["notes/a.md"]


def test_an_ignore_file_may_be_in_any_shape(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "x", "b.md": "x", "c.md": "x", "d/e.md": "x"})
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.md\r\n\xff\xfe\r\nb.md")
    (tmp_path / "d" / ".gitignore").mkdir()
    assert taken(tmp_path) == ["c.md", "d/e.md"]


def test_the_ignore_files_above_count_up_to_the_repository(tmp_path: Path) -> None:
    files = {".gitignore": "*.tmp.md\n", "a.tmp.md": "x", "a.md": "x"}
    write_files(tmp_path, {f"repository/docs/{name}": text for name, text in files.items()})
    write_files(tmp_path, {".gitignore": "*.md\n", "repository/.gitignore": "b.md\n"})
    write_files(tmp_path / "repository", {"docs/b.md": "x"})
    assert taken(tmp_path / "repository" / "docs") == ["a.md", "b.md"]
    (tmp_path / "repository" / ".git").mkdir()
    assert taken(tmp_path / "repository" / "docs") == ["a.md"]


def test_a_folder_that_is_ignored_above_is_taken_when_it_is_given(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "build/\n", ".git/config": "", "build/docs/a.md": "x"})
    assert taken(tmp_path) == []
    assert taken(tmp_path / "build") == ["docs/a.md"]
    assert taken(tmp_path / "build" / "docs") == ["a.md"]
    assert Ignored.above(str(tmp_path / "build")) == Ignored()


def test_a_roots_own_patterns_are_relative_to_it(tmp_path: Path) -> None:
    write_files(tmp_path, dict.fromkeys(["a.md", "sub/a.md", "sub/b.txt", "drafts/c.md"], "x"))
    assert taken(tmp_path, Wanted(include=("*.md",), exclude=("/drafts/",))) == ["a.md", "sub/a.md"]
    assert taken(tmp_path, Wanted(include=("/sub/*.txt",))) == ["sub/b.txt"]
    assert taken(tmp_path, Wanted(exclude=("*",))) == []


def test_a_file_that_is_given_passes_the_users_patterns_too(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "*\n", "a.md": "x", "draft.md": "x"})
    wanted = Wanted(exclude=("draft*",))
    roots = [Root(tmp_path / name, 9, wanted) for name in ("a.md", "draft.md")]
    assert [found.uri for found in discover(roots)] == [str(tmp_path / "a.md")]


PATTERNS = [
    *("*", "!*/", "!*.md", "build/", "/a", "a/", "a/b", "**/b", "a/**", "*.txt", "!a.txt"),
    *("b/*", "!b/a.md", "/b/", "a.md", "!a/", "[ab].md", "?", "**"),
]
LINES = st.lists(st.sampled_from(PATTERNS), max_size=4)
FILES = [
    *("a.md", "a.txt", "b/a.md", "b/a.txt", "b/a/x.md", "build/a.md", "c/build/a.md"),
    *("c/a/a.md", "a/a.md", "a/b/a.md", "a/b/a.txt"),
]


@pytest.mark.skipif(GIT is None, reason="git is not installed")
@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(FILES), unique=True, min_size=3), LINES, LINES, LINES)
def test_what_is_taken_is_what_git_would_add(
    files: list[str], top: list[str], below_a: list[str], below_c: list[str]
) -> None:
    files = [file for file in files if not any(other.startswith(f"{file}/") for other in files)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ignore = {".gitignore": top, "a/.gitignore": below_a, "c/.gitignore": below_c}
        write_files(folder, dict.fromkeys(files, "x"))
        write_files(folder, {path: "\n".join(lines) for path, lines in ignore.items() if lines})

        def git(*arguments: str) -> str:
            command = [str(GIT), "-C", name, *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603

        git("init", "-q")
        listed = git("ls-files", "--others", "--exclude-standard").splitlines()
        expected = {path for path in listed if not path.endswith(".gitignore")}
        assert set(taken(folder)) == expected
