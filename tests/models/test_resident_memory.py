"""How much memory one query takes, in a process that has done nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import write_files

pytestmark = pytest.mark.models

STATUS = Path("/proc/self/status")
MOST_MEBIBYTES = 250
PASSAGES = 30
"""As many as the cross-encoder reads by default."""
SENTENCE = "the owl of the coastal station sleeps by day and hunts over the marsh at night"

INDEX = """
import localrag
with localrag.open("base.db") as kb:
    kb.sync("docs")
"""
ASK = """
import localrag
kb = localrag.open("base.db")
result = kb.search("When does the owl hunt?", limit=30)
print(len(result.hits), [stage.note for stage in result.trace.stages])
lines = open("/proc/self/status").read().splitlines()
print([line.split()[1] for line in lines if line.startswith("VmRSS")][0])
"""


def run(folder: Path, program: str) -> list[str]:
    """Run a program in a new interpreter in `folder`; return the lines it printed."""
    command = [sys.executable, "-c", program]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    return finished.stdout.splitlines()


@pytest.mark.skipif(not STATUS.exists(), reason="/proc/self/status tells the resident memory")
def test_a_search_with_reranking_stays_within_its_memory(tmp_path: Path) -> None:
    # 250 tokens each, and no two alike, so that the cross-encoder reads thirty full passages.
    texts = {
        f"{number}.txt": " ".join(f"{word} {number}" for word in SENTENCE.split() * 5)
        for number in range(PASSAGES)
    }
    write_files(tmp_path / "docs", texts)
    run(tmp_path, INDEX)
    found, kibibytes = run(tmp_path, ASK)
    assert f"read {PASSAGES} passages" in found
    assert int(kibibytes) / 1024 < MOST_MEBIBYTES
