"""What every test shares: no network, and the way to the evaluation data."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import settings
from support import CountingEmbedder, write_files

from localrag import opening
from localrag.config import make_settings
from localrag.inference import load
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from collections.abc import Iterator

if TYPE_CHECKING:
    from collections.abc import Callable

# A busy machine is no failure. Everything else is as hypothesis chose: where CI is set, its
# examples are the same in every run.
settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")

ROOT = Path(__file__).parent.parent
"""The checkout."""

NETWORK_CALLS = (
    (socket.socket, "connect"),
    (socket.socket, "connect_ex"),
    (socket.socket, "sendto"),
    (socket.socket, "sendmsg"),
    (socket, "getaddrinfo"),
    (socket, "gethostbyname"),
    (socket, "create_connection"),
)


LOOPBACK = ("127.0.0.1", "::1")


def refuse(*arguments: object, **_: object) -> NoReturn:
    """Fail the test. `pytest.fail` is no `Exception`, so that no handler swallows it."""
    pytest.fail(f"localrag must stay offline, but a test reached for the network: {arguments}")


def only_loopback(call: Callable[..., object]) -> Callable[..., object]:
    """Return `call`, which fails the test unless its address is one of this machine."""

    def guarded(*arguments: object, **options: object) -> object:
        # A method has its socket first; an address is a host, or a pair that begins with one.
        hosts = [part[0] if isinstance(part, tuple) else part for part in arguments]
        if not any(host in LOOPBACK for host in hosts if isinstance(host, str)):
            refuse(*arguments)
        return call(*arguments, **options)

    return guarded


@pytest.fixture(autouse=True)
def offline(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every attempt to reach another machine fail the test.

    A port of this machine may be reached by tests that are marked ``loopback``.
    """
    local = request.node.get_closest_marker("loopback") is not None
    for owner, name in NETWORK_CALLS:
        guard = only_loopback(getattr(owner, name)) if local else refuse
        monkeypatch.setattr(owner, name, guard)


FILES = {
    "keys.md": "# Keys\n\nKeys are rotated every month.\n\n## Locks\n\nLocks are oiled in May.\n",
    "doors.txt": "Doors stay shut at night.\n",
    "sub/windows.md": "# Windows\n\nWindows are cleaned on Mondays.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three documents."""
    return write_files(tmp_path / "docs", FILES)


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """Return an empty knowledge base whose embedder counts what it is given."""
    with KnowledgeBase(
        tmp_path / "base.db",
        embedder=CountingEmbedder(FakeEmbedder()),
        reranker=FakeReranker(),
        settings=make_settings(chunk_tokens=32, overlap_tokens=4, max_file_bytes=10_000),
    ) as opened:
        yield opened


@pytest.fixture
def fake_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let exact fakes be opened wherever a model of this machine would be."""
    for module in (opening, load):
        monkeypatch.setattr(module, "load_embedder", lambda _=None: FakeEmbedder())
        monkeypatch.setattr(module, "load_reranker", lambda _=None: FakeReranker())


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_models: None) -> Path:
    """Work in an empty folder as a person does, with the exact fake models."""
    del fake_models
    monkeypatch.chdir(tmp_path)
    for variable in ("LOCALRAG_DB", "LOCALRAG_MODEL", "LOCALRAG_RERANKER", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with the evaluation data, which stands beside the checkout."""
    for folder in (ROOT / "shared", ROOT.parent / "shared"):
        if (folder / "data").is_dir():
            return folder
    pytest.skip("the evaluation data (../shared/data) is not beside this checkout")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need the evaluation data, so that ``-m 'not shared'`` leaves them out."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)
