"""What the tests of the commands share: a folder with documents, and how a command is run."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from localrag.cli.main import cli

FILES = {
    "keys.md": "# Keys\n\n## Rotation\n\nKeys are rotated every month. Locks are oiled in May.\n",
    "doors.txt": "Doors stay shut at night.\n",
    "sub/鍵.md": "# 鍵\n\n鍵は毎月交換します。\n",
}
QUESTION = "keys are rotated every month"
UNANSWERED = "who baked the sourdough bread?"


def run(*arguments: str, code: int = 0, color: bool = False) -> Result:
    """Run a command, expect its exit code, and return what it printed."""
    result = CliRunner().invoke(cli, arguments, color=color)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def parsed(*arguments: str, code: int = 0) -> Any:
    """Run a command with --json and return the object, the only thing on standard output."""
    return json.loads(run(*arguments, "--json", code=code).stdout)
