from __future__ import annotations

import http.client
import socket
import urllib.request
from typing import TYPE_CHECKING

import pytest
from support import open_base

from localrag.errors import FingerprintError
from localrag.inference.load import open_embedder, open_reranker
from localrag.knowledge_base import KnowledgeBase
from localrag.store.settings import set_setting

if TYPE_CHECKING:
    from pathlib import Path

LOCAL = ("127.0.0.1", 9)
ADDRESS = "http://127.0.0.1:9/v1#model"


def test_naming_a_remote_model_opens_no_socket(tmp_path: Path) -> None:
    """Nor does opening a file with it: only a text to embed does."""
    embedder, reranker = open_embedder(ADDRESS), open_reranker(ADDRESS)
    with open_base(tmp_path / "base.db") as kb:
        other = kb.database.path
    with pytest.raises(FingerprintError):
        KnowledgeBase(other, embedder=embedder, reranker=reranker)
    embedder.close()
    reranker.close()


def test_a_remote_model_reaches_for_its_server_only_when_asked() -> None:
    with pytest.raises(pytest.fail.Exception, match="stay offline"):
        open_embedder(ADDRESS).embed_query("text")
    with pytest.raises(pytest.fail.Exception, match="stay offline"):
        open_reranker(ADDRESS).relevance("query", ["text"])


def test_a_file_of_a_remote_model_cannot_name_a_server(tmp_path: Path) -> None:
    """Whatever a file that came by mail holds: who opens it names the server, or there is none."""
    with open_base(tmp_path / "base.db") as kb, kb.database.atomic() as connection:
        set_setting(connection, "fingerprint", f"remote-1 {kb.status().settings['fingerprint']}")
        set_setting(connection, "model", ADDRESS)
    with pytest.raises(FingerprintError, match=r"made with http://127\.0\.0\.1:9/v1#model;"):
        open_base(tmp_path / "base.db")


@pytest.mark.loopback
def test_a_test_with_its_own_server_reaches_no_further() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        socket.create_connection(listening.getsockname()).close()
    for address in (("192.0.2.1", 80), ("localhost", 80)):
        with pytest.raises(pytest.fail.Exception, match="stay offline"):
            socket.create_connection(address)


def test_a_connection_fails_the_test_that_opens_it() -> None:
    with socket.socket() as plug, pytest.raises(pytest.fail.Exception, match="stay offline"):
        plug.connect(LOCAL)


def test_a_datagram_fails_the_test_that_sends_it() -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as plug,
        pytest.raises(pytest.fail.Exception, match="stay offline"),
    ):
        plug.sendto(b"hello", LOCAL)


def test_a_name_is_not_looked_up() -> None:
    with pytest.raises(pytest.fail.Exception, match="stay offline"):
        socket.getaddrinfo("localhost", 80)


def test_the_standard_clients_are_stopped() -> None:
    with pytest.raises(pytest.fail.Exception, match="stay offline"):
        http.client.HTTPConnection("localhost").request("GET", "/")
    with pytest.raises(pytest.fail.Exception, match="stay offline"):
        urllib.request.urlopen("http://localhost/", timeout=1)
