"""Requests to a server that is slow, broken, refusing or absent."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest
from servers import Asked, Reply, in_turn, serving

from localrag.errors import RemoteError
from localrag.inference import http_client
from localrag.inference.http_client import JsonClient, Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from servers import Server

pytestmark = pytest.mark.loopback

VARIABLE = "TEST_API_KEY"
QUICK = Patience(connect=1, read=5, total=20, attempts=3)
OK = Reply({"fine": True})


@pytest.fixture
def waits() -> list[float]:
    """Return the seconds that the client wanted to wait; it does not."""
    return []


@pytest.fixture
def ask(waits: list[float]) -> Iterator[Callable[..., object]]:
    """Return what posts to a server and closes its client at the end."""
    clients: dict[str, JsonClient] = {}

    def post(server: Server, patience: Patience = QUICK) -> object:
        client = clients.setdefault(
            server.url, JsonClient(server.url, VARIABLE, sleep=waits.append)
        )
        return client.post("/thing", {"question": "ä"}, patience)

    yield post
    for client in clients.values():
        client.close()


def error_of(
    ask: Callable[..., object], *replies: Reply, patience: Patience = QUICK
) -> RemoteError:
    with serving(in_turn(*replies)) as server, pytest.raises(RemoteError) as caught:
        ask(server, patience)
    return caught.value


def test_json_goes_there_and_comes_back(ask: Callable[..., object]) -> None:
    with serving(in_turn(OK)) as server:
        assert ask(server) == {"fine": True}
        [asked] = server.asked
    assert asked.path == "/v1/thing"
    assert asked.body == {"question": "ä"}
    assert "Authorization" not in asked.headers


def test_a_connection_is_used_again(ask: Callable[..., object]) -> None:
    with serving(in_turn(OK)) as server:
        for _ in range(3):
            ask(server)
        assert server.connections == 1
        assert len(server.asked) == 3


def test_a_connection_that_the_server_closed_meanwhile_is_no_failure(
    ask: Callable[..., object], waits: list[float]
) -> None:
    """The server says nothing of closing, and closes."""
    with serving(in_turn(Reply({"fine": True}, cut=1000))) as server:
        for _ in range(3):
            assert ask(server) == {"fine": True}
        assert server.connections == 3
    assert waits == []


def test_the_key_is_sent_and_never_shown(
    ask: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, " sk-secret-key\n")
    echo = Reply({"error": {"message": "Incorrect key sk-secret-key."}}, status=401)
    with serving(in_turn(OK, echo)) as server:
        ask(server)
        assert server.asked[0].headers["Authorization"] == "Bearer sk-secret-key"
        with pytest.raises(RemoteError) as caught:
            ask(server)
    assert "secret" not in str(caught.value)
    assert "(Incorrect key ***)" in str(caught.value)
    assert str(caught.value).endswith("TEST_API_KEY, for the API key, was refused.")
    assert caught.value.status == 401


def test_a_missing_key_is_named_by_its_variable(ask: Callable[..., object]) -> None:
    text = str(error_of(ask, Reply(status=403)))
    assert text.endswith(
        "answered 403. The environment variable TEST_API_KEY, for the API key, is not set."
    )


def test_a_key_that_cannot_be_sent_is_not_shown(
    ask: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "sk-secret\nkey")
    text = str(error_of(ask, OK))
    assert "TEST_API_KEY holds characters that no key has" in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(status=404), "answered 404. Check the address, which often ends in /v1"),
        (Reply({"error": "no such\nmodel\x07."}, 404), r"answered 404 (no such model). Check"),
        (Reply({"detail": "too long"}, 400), "answered 400 (too long). Correct the model's name"),
        (Reply({"message": "x" * 900}, 422), f"answered 422 ({'x' * 200}). Correct"),
        (Reply(b"<html>", 405), "answered 405. Correct"),
        (Reply(status=301, headers={"Location": "https://b/"}), "points to: https://b/"),
        (Reply(b"<html>hello</html>"), "answered something other than JSON"),
        (Reply(b'{"fine": tr'), "answered something other than JSON"),
    ],
)
def test_what_trying_again_would_not_change_is_explained_at_once(
    ask: Callable[..., object], waits: list[float], reply: Reply, words: str
) -> None:
    assert words in str(error_of(ask, reply))
    assert waits == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_after_growing_waits(
    ask: Callable[..., object], waits: list[float], status: int
) -> None:
    with serving(in_turn(Reply(status=status), Reply(status=status), OK)) as server:
        assert ask(server) == {"fine": True}
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


def test_waits_end_to_grow_at_half_a_minute() -> None:
    assert 15 <= http_client._backoff(30) <= 30


def test_the_server_says_how_long_to_wait(ask: Callable[..., object], waits: list[float]) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)
    busy = [Reply(status=429, headers={"Retry-After": value}) for value in ("7", moment)]
    with serving(in_turn(*busy, OK)) as server:
        ask(server)
    assert waits[0] == 7
    assert 7 <= waits[1] <= 9


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("1.5", 1.5),
        ("-3", 0),
        ("soon", None),
        (None, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str | None, seconds: float | None) -> None:
    assert http_client._retry_after(value) == seconds


def test_a_longer_wait_than_there_is_time_for_is_not_begun(
    ask: Callable[..., object], waits: list[float]
) -> None:
    error = error_of(ask, Reply(status=429, headers={"Retry-After": "3600"}))
    assert "answered 429 and asks to wait 3600 s, after 1 try." in str(error)
    assert error.status == 429
    assert waits == []


def test_too_many_failures_are_an_error(ask: Callable[..., object], waits: list[float]) -> None:
    error = error_of(ask, Reply({"error": "overloaded"}, 500))
    assert "/v1/thing answered 500 (overloaded), after 3 tries. Check that the server" in str(error)
    assert error.status == 500
    assert len(waits) == 2


def test_a_broken_answer_is_tried_again(ask: Callable[..., object], waits: list[float]) -> None:
    with serving(in_turn(Reply({"fine": True}, cut=3), OK)) as server:
        assert ask(server) == {"fine": True}
        assert len(server.asked) == 2
    assert len(waits) == 1
    assert "broke off" in str(error_of(ask, Reply({"fine": True}, cut=3)))


def test_silence_ends_a_try(ask: Callable[..., object]) -> None:
    patience = Patience(connect=1, read=0.1, total=5, attempts=2)
    with serving(in_turn(Reply(OK.body, delay=1), OK)) as server:
        assert ask(server, patience) == {"fine": True}
    text = str(error_of(ask, Reply(OK.body, delay=0.5), patience=patience))
    assert "did not answer in time, after 2 tries" in text


CLOSING = {"Connection": "close", "Transfer-Encoding": "identity"}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b" " * 500, trickle=0.02),
        Reply(b"1" * 500, trickle=0.02, headers=CLOSING),
        Reply(OK.body, delay=8),
    ],
)
def test_the_total_time_ends_an_answer_that_trickles_in(
    ask: Callable[..., object], reply: Reply
) -> None:
    """Each byte comes well within the time that the server may be silent."""
    started = time.monotonic()
    error = error_of(ask, reply, patience=Patience(connect=1, read=5, total=0.3, attempts=9))
    assert "did not answer in time" in str(error)
    assert time.monotonic() - started < 4.5  # other limits would take 5 s and more


def test_a_server_that_is_not_there_is_tried_again_and_named(
    waits: list[float],
) -> None:
    with socket.socket() as plug:
        plug.bind(("127.0.0.1", 0))
        port = plug.getsockname()[1]
    client = JsonClient(f"http://127.0.0.1:{port}/v1/", VARIABLE, sleep=waits.append)
    with pytest.raises(
        RemoteError, match=r"/v1/thing cannot be reached \(Connection refused\), after 3"
    ) as caught:
        client.post("/thing", {}, QUICK)
    assert caught.value.status is None
    assert len(waits) == 2


def test_a_host_that_is_no_name_is_an_error_too(
    monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    def nameless(_: http.client.HTTPConnection) -> None:
        raise UnicodeError("label too long")  # as from looking up such a host

    monkeypatch.setattr(http.client.HTTPConnection, "connect", nameless)
    client = JsonClient(f"http://{'a' * 64}.b/v1", VARIABLE, sleep=waits.append)
    with pytest.raises(RemoteError, match="cannot be reached"):
        client.post("/thing", {}, QUICK)


def test_a_server_that_takes_no_connection_is_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    def never(connection: http.client.HTTPConnection) -> None:
        assert connection.timeout == 1
        raise TimeoutError

    monkeypatch.setattr(http.client.HTTPConnection, "connect", never)
    client = JsonClient("http://127.0.0.1:1/v1", VARIABLE, sleep=waits.append)
    with pytest.raises(RemoteError, match="did not take the connection in time, after 3 tries"):
        client.post("/thing", {}, QUICK)


def test_an_answer_without_end_is_refused(
    ask: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "LARGEST_ANSWER", 100)
    assert "longer than 100 bytes" in str(error_of(ask, Reply(b"1" * 101)))


@pytest.mark.parametrize("headers", [{"Connection": "close"}, CLOSING])
def test_a_server_that_closes_after_each_answer_is_served(
    ask: Callable[..., object], headers: dict[str, str]
) -> None:
    with serving(in_turn(Reply(OK.body, headers=headers))) as server:
        ask(server)
        ask(server)
        assert server.connections == 2


def test_threads_do_not_share_a_connection(ask: Callable[..., object]) -> None:
    together = threading.Barrier(3, timeout=10)

    def answer(_: Asked) -> Reply:
        together.wait()
        return OK

    with serving(answer) as server:
        threads = [threading.Thread(target=ask, args=(server,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.connections == 3


def test_https_is_spoken_where_the_address_says_so() -> None:
    """A server without TLS cannot be talked to: nothing is sent to it in the clear."""
    with serving(in_turn(OK)) as server:
        client = JsonClient(server.url.replace("http:", "https:"), VARIABLE, sleep=lambda _: None)
        with pytest.raises(RemoteError, match="cannot be reached"):
            client.post("/thing", {}, QUICK)
        assert server.asked == []


def test_an_interruption_closes_the_connection(
    ask: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    with serving(in_turn(OK)) as server:
        with monkeypatch.context() as patched:
            patched.setattr(http_client, "_read", interrupted)
            with pytest.raises(KeyboardInterrupt):
                ask(server)
        assert ask(server) == {"fine": True}
        assert server.connections == 2
