"""The benchmark of a mixed folder, on a small one: what it checks, and that it notices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support import open_base

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


@pytest.fixture
def mixed_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import mixed_folder  # noqa: PLC0415 - on the path only now

    return mixed_folder


def test_a_small_mixed_folder_keeps_every_promise(mixed_folder: ModuleType, tmp_path: Path) -> None:
    made = mixed_folder.make_folder(tmp_path / "docs", 220, 22)
    assert (len(made.sound), len(made.broken)) == (198, 22)
    with open_base(tmp_path / "base.db") as kb:
        first = kb.sync(tmp_path / "docs")
        second = replace(kb.refresh(), seconds=0.0)  # how long it takes is not for a test
        assert list(mixed_folder.problems(made, first, second, 0)) == []
        assert kb.verify() == []


def test_every_broken_promise_is_noticed(mixed_folder: ModuleType, tmp_path: Path) -> None:
    made = mixed_folder.make_folder(tmp_path / "docs", 22, 11)
    with open_base(tmp_path / "base.db") as kb:
        first = kb.sync(tmp_path / "docs")
        second = replace(kb.refresh(), seconds=0.0)
    slow = replace(second, seconds=first.seconds)
    lost = replace(first, added=first.added[1:], skipped=first.skipped[1:])
    found = mixed_folder.problems(made, lost, replace(slow, removed=("x",)), 2 << 30)
    texts = "\n".join(found)
    for part in (
        f"sound and not added: ['{first.added[0]}']",
        f"broken and not skipped: ['{first.skipped[0].uri}']",
        "the second run changed something",
        "the second run skipped other files",
        "2,048 MiB of memory, more than 1,024",
        "the second run took 100.0%",
    ):
        assert part in texts


def test_memory_is_that_of_this_process_and_its_children(mixed_folder: ModuleType) -> None:
    with mixed_folder.Peak() as peak:
        peak._stop.wait(0.5)
    assert 10_000_000 < peak.bytes < 10**11


def test_it_prints_its_figures(
    mixed_folder: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mixed_folder, "MOST_SHARE", 1_000.0)
    assert mixed_folder.main(["--fake", "--files", "44", "--broken", "11"]) == 0
    assert "skipped         11" in capsys.readouterr().out
    assert mixed_folder.main(["--fake", "--files", "44", "--broken", "11", "--json"]) == 0
    assert '"measure": "peak memory"' in capsys.readouterr().out
