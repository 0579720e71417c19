"""What every test shares: no network, and the way to the evaluation data."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

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


def refuse(*arguments: object, **_: object) -> NoReturn:
    """Fail the test. `pytest.fail` is no `Exception`, so that no handler swallows it."""
    pytest.fail(f"localrag must stay offline, but a test reached for the network: {arguments}")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every attempt to reach another machine, or a port of this one, fail the test."""
    for owner, name in NETWORK_CALLS:
        monkeypatch.setattr(owner, name, refuse)


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
