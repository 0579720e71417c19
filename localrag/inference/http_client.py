"""Asks a server that the user named: JSON out, JSON back, with time limits and patience.

Nothing here runs unless a remote model is named. The standard library's client is enough for one
kind of request, and adds no dependency to an engine that is offline for almost everybody.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from localrag.errors import RemoteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["JsonClient", "Patience"]

RETRIED: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that may be another one a moment later."""
FIRST_WAIT: Final = 0.5
"""Seconds before the second try, without jitter; doubled for each further one."""
LONGEST_WAIT: Final = 30.0
LARGEST_ANSWER: Final = 64 << 20
"""Bytes. A batch of vectors has a few million; more is no answer of this kind."""
SHOWN: Final = 200
"""Characters of a server's own message that an error repeats."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one request may take, in seconds, and how often it is tried."""

    connect: float = 5.0
    """Until the server takes the connection."""
    read: float = 60.0
    """Silence of the server."""
    total: float = 300.0
    """All tries and the waits between them."""
    attempts: int = 6

    @classmethod
    def of_query(cls, seconds: float) -> Patience:
        """Return what a search has, where somebody waits: `seconds` in all, and two tries."""
        allowed = max(0.001, seconds)  # 0 would stand for no limit
        return cls(connect=min(3.0, allowed), read=allowed, total=allowed, attempts=2)


class _TemporaryError(Exception):
    """This try failed; the next may not."""

    def __init__(
        self, reason: str, *, status: int | None = None, wait: float | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.wait = wait
        """Seconds that the server asks for."""


class JsonClient:
    """POSTs JSON below one address. Safe on any thread; connections are kept and used again.

    Args:
        url: the address below which requests go, such as ``http://localhost:11434/v1``.
        key_variable: environment variable that may hold an API key. It is read for each request,
            sent as a bearer token, and neither kept nor shown.
        sleep: waits the given seconds.
    """

    def __init__(
        self, url: str, key_variable: str, *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._parts = urlsplit(url.rstrip("/"))
        self.url = self._parts.geturl()
        self._key_variable = key_variable
        self._sleep = sleep
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def post(self, path: str, body: object, patience: Patience) -> object:
        """Return the JSON that the server answers to `body` at `path`.

        Connection errors, 429 and 5xx are tried again: after what ``Retry-After`` asks for, or
        after an exponentially growing time with jitter.

        Raises:
            RemoteError: no usable answer within the time and the tries.
        """
        payload = json.dumps(body).encode()
        deadline = time.monotonic() + patience.total
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(path, payload, patience, deadline)
            except _TemporaryError as failure:
                wait = _backoff(attempt) if failure.wait is None else failure.wait
                if attempt >= patience.attempts or time.monotonic() + wait >= deadline:
                    raise self._given_up(path, failure, attempt) from failure
                self._sleep(wait)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    # One try

    def _once(self, path: str, payload: bytes, patience: Patience, deadline: float) -> object:
        headers = self._headers()
        connection, reused = self._connection(patience, deadline)
        with _cut_off_at(connection, deadline) as expired:
            try:
                connection.request("POST", self._parts.path + path, payload, headers)
                with connection.getresponse() as response:
                    content = _read(response, expired)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if expired.is_set() or isinstance(error, TimeoutError):
                    raise _TemporaryError("did not answer in time") from error
                if reused:  # the server closed it while it lay idle: that is no failure
                    return self._once(path, payload, patience, deadline)
                raise _TemporaryError(f"broke off ({_reason(error)})") from error
            except BaseException:
                connection.close()
                raise
        if response.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        return self._checked(path, response, content)

    def _connection(
        self, patience: Patience, deadline: float
    ) -> tuple[http.client.HTTPConnection, bool]:
        """Return a connection and whether it was used before."""
        with self._lock:
            if self._idle:
                connection = self._idle.pop()
                connection.sock.settimeout(patience.read)
                return connection, True
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        remaining = max(0.001, deadline - time.monotonic())
        host = str(self._parts.hostname)
        connection = kind(host, self._parts.port, timeout=min(patience.connect, remaining))
        try:
            connection.connect()
        except TimeoutError as error:
            connection.close()
            raise _TemporaryError("did not take the connection in time") from error
        except (OSError, UnicodeError) as error:  # a host such as a..b is no name to look up
            connection.close()
            raise _TemporaryError(f"cannot be reached ({_reason(error)})") from error
        connection.sock.settimeout(patience.read)
        return connection, False

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "localrag",
        }
        key = self._key()
        if key:
            if not (key.isascii() and key.isprintable()):  # the client's own error would show it
                raise RemoteError(
                    f"The environment variable {self._key_variable} holds characters that no key "
                    "has. Set it again."
                )
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _key(self) -> str:
        return os.environ.get(self._key_variable, "").strip()

    # What came back

    def _checked(self, path: str, response: http.client.HTTPResponse, content: bytes) -> object:
        status = response.status
        if status in RETRIED:
            wait = _retry_after(response.headers.get("Retry-After"))
            reason = f"answered {status}{self._message(content)}"
            raise _TemporaryError(reason, status=status, wait=wait)
        if status != http.HTTPStatus.OK:
            raise self._refused(path, response, content)
        try:
            return json.loads(content)
        except ValueError as error:
            raise RemoteError(
                f"{self.url}{path} answered something other than JSON. Check that the address is "
                "that of the API; it often ends in /v1.",
                status=status,
            ) from error

    def _refused(
        self, path: str, response: http.client.HTTPResponse, content: bytes
    ) -> RemoteError:
        status = response.status
        remedy = "Correct the model's name or its card."
        if status in (401, 403):
            state = "was refused" if self._key() else "is not set"
            remedy = f"The environment variable {self._key_variable}, for the API key, {state}."
        elif status == http.HTTPStatus.NOT_FOUND:
            remedy = "Check the address, which often ends in /v1, and the model's name."
        elif status < http.HTTPStatus.BAD_REQUEST:
            remedy = f"Name the address it points to: {response.headers.get('Location')}"
        message = f"{self.url}{path} answered {status}{self._message(content)}. {remedy}"
        return RemoteError(message, status=status)

    def _given_up(self, path: str, failure: _TemporaryError, attempts: int) -> RemoteError:
        asked = f" and asks to wait {failure.wait:.0f} s" if failure.wait else ""
        tries = f"{attempts} tries" if attempts > 1 else "1 try"
        return RemoteError(
            f"{self.url}{path} {failure.reason}{asked}, after {tries}. Check that the server runs "
            "and that the address is right, then try again.",
            status=failure.status,
        )

    def _message(self, content: bytes) -> str:
        """Return the server's own words, short, on one line and without the API key."""
        text = " ".join(_error_text(content).split())
        key = self._key()
        if key:
            text = text.replace(key, "***")
        text = "".join(character for character in text if character.isprintable())
        return f" ({text[:SHOWN].rstrip('.')})" if text else ""


@contextmanager
def _cut_off_at(
    connection: http.client.HTTPConnection, deadline: float
) -> Iterator[threading.Event]:
    """End the exchange at `deadline`, however slowly bytes trickle in; say whether that happened.

    A socket's own time limit begins anew with every byte.
    """
    expired = threading.Event()
    plug = connection.sock

    def cut() -> None:
        expired.set()
        with suppress(OSError):
            socket.socket.shutdown(plug, socket.SHUT_RDWR)  # under TLS too: nobody says goodbye

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def _read(response: http.client.HTTPResponse, expired: threading.Event) -> bytes:
    # Only without an amount does the client notice that the body is shorter than announced.
    whole = response.length is not None and response.length <= LARGEST_ANSWER
    content = response.read() if whole else response.read(LARGEST_ANSWER + 1)
    if expired.is_set():  # the end of the connection looks like that of the answer
        raise TimeoutError
    if len(content) > LARGEST_ANSWER:
        raise RemoteError(
            f"The server's answer is longer than {LARGEST_ANSWER:,} bytes. Check its address."
        )
    return content


def _backoff(attempt: int) -> float:
    """Return seconds to wait after a try: doubling, less up to a half so that clients part."""
    full = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
    return full * random.uniform(0.5, 1.0)  # noqa: S311 - spreads requests, keeps no secret


def _retry_after(value: str | None) -> float | None:
    """Return the seconds of a ``Retry-After`` header, whether it names seconds or a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return str(text).rstrip(".") or type(error).__name__


def _error_text(content: bytes) -> str:
    """Return the message in the body of an error, wherever the usual servers put it."""
    try:
        found = json.loads(content)
    except ValueError:
        return ""
    for name in ("error", "detail", "message"):
        if isinstance(found, dict) and name in found:
            inner = found[name]
            return str(inner.get("message", inner) if isinstance(inner, dict) else inner)
    return ""
