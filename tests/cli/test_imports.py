"""What starting up costs: models and runtimes are loaded when they are needed, not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["onnxruntime", "tokenizers", "numpy", "apsw", "sqlite_vec", "pydantic", "rich"]
PROBE = """
import sys
{}
print(*[name for name in {} if name in sys.modules])
"""
HELP = """
from localrag.cli.main import cli
cli(["--help"], standalone_mode=False)
"""


@pytest.mark.parametrize("statement", ["import localrag", HELP])
def test_a_small_start_loads_nothing_heavy(statement: str) -> None:
    command = [sys.executable, "-c", PROBE.format(statement, HEAVY)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own script
    assert printed.stdout.splitlines()[-1] == ""
