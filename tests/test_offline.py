from __future__ import annotations

import http.client
import socket
import urllib.request

import pytest

LOCAL = ("127.0.0.1", 9)


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
