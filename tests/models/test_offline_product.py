"""The product itself, with its real models, in a process that cannot reach a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support import write_files

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.models

FILES = {
    "keys.md": "# Keys\n\nThe signing keys are rotated every ninety days.\n",
    "鍵.txt": "合鍵は毎月交換します。\n",
}
QUESTION = "How often are the signing keys rotated?"

# An audit hook sees every socket that Python makes, in whichever module, and `os._exit` cannot be
# caught: a library that tries and carries on without a network is found too.
NO_SOCKETS = """
import os, sys
def watch(event, arguments):
    if event.startswith("socket."):
        os.write(2, f"{event} {arguments}".encode())
        os._exit(97)
sys.addaudithook(watch)
"""

INDEX_AND_ASK = f"""
import os, sys
from localrag.cli.main import main
for arguments in (["index", "docs", "-q"], ["reembed", "-q"], ["ask", {QUESTION!r}]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as stopped:
        assert not stopped.code, stopped.code
# What native code opened does not pass through Python, but would still be open.
if os.path.isdir("/proc/self/fd"):
    opened = [os.readlink(f"/proc/self/fd/{{fd}}") for fd in os.listdir("/proc/self/fd")
              if os.path.exists(f"/proc/self/fd/{{fd}}")]
    assert not [name for name in opened if name.startswith("socket:")], opened
"""


def run(folder: Path, program: str, *wrapper: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a new interpreter in `folder`."""
    return subprocess.run(  # noqa: S603 - our own program
        [*wrapper, sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.socket()",
        "import _socket; _socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import urllib.request as r\ntry: r.urlopen('http://localhost/')\nexcept Exception: pass",
    ],
)
def test_the_watch_ends_a_process_that_tries(tmp_path: Path, attempt: str) -> None:
    assert run(tmp_path, NO_SOCKETS + attempt).returncode == 97


def test_no_socket_is_made(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", FILES)
    finished = run(tmp_path, NO_SOCKETS + INDEX_AND_ASK)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("The signing keys are rotated every ninety days. [1]\n")


def test_it_works_where_there_is_no_network_at_all(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare is not installed, so a process cannot be parted from the network")
    wrapper = (unshare, "--map-root-user", "--net")
    if run(tmp_path, "", *wrapper).returncode != 0:
        pytest.skip("unshare --net is not allowed on this machine")
    write_files(tmp_path / "docs", FILES)
    finished = run(tmp_path, INDEX_AND_ASK, *wrapper)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("The signing keys are rotated every ninety days. [1]\n")
