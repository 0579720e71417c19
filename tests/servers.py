"""A server on this machine whose answers a test dictates, one after the other."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from localrag.inference.fake import FakeEmbedder, FakeReranker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Reply:
    """One answer of the server."""

    body: object = b""
    """Bytes as they are, anything else as JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the answer."""
    cut: int | None = None
    """Bytes of the body after which the connection breaks; None for all of it."""
    trickle: float = 0.0
    """Seconds between the single bytes of the body."""

    @property
    def content(self) -> bytes:
        """Return the body."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """One request to the server."""

    path: str
    headers: dict[str, str]
    body: Any


class Server:
    """Answers with what `answer` returns for each request."""

    def __init__(self, answer: Callable[[Asked], Reply]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.connections = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                outer.connections += 1
                super().setup()

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                asked = Asked(self.path, dict(self.headers), json.loads(content))
                outer.asked.append(asked)
                outer.send(self, outer.answer(asked))

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        class Listener(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A client that gave up is what some tests are about."""

        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.listener.server_port}/v1"

    @staticmethod
    def send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        """Write one answer."""
        time.sleep(reply.delay)
        content = reply.content
        handler.send_response(reply.status)
        length = {} if "Transfer-Encoding" in reply.headers else {"Content-Length": len(content)}
        headers = {name: str(value) for name, value in (length | dict(reply.headers)).items()}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if reply.trickle:
            for byte in content:
                handler.wfile.write(bytes([byte]))
                time.sleep(reply.trickle)
        else:
            handler.wfile.write(content[: reply.cut])
        if reply.cut is not None:
            handler.close_connection = True


@contextmanager
def serving(answer: Callable[[Asked], Reply]) -> Iterator[Server]:
    """Run a server for the length of the block."""
    server = Server(answer)
    thread = threading.Thread(target=server.listener.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.listener.shutdown()
        server.listener.server_close()
        thread.join()


def in_turn(*replies: Reply) -> Callable[[Asked], Reply]:
    """Return what answers with `replies` one after the other, and with the last from then on."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def fake_models(asked: Asked) -> Reply:
    """Answer as a server that runs the fake models of 32 dimensions."""
    if asked.path.endswith("/embeddings"):
        vectors = 3 * FakeEmbedder(32).embed_passages(asked.body["input"])
        data = [{"index": i, "embedding": vector.tolist()} for i, vector in enumerate(vectors)]
        return Reply({"object": "list", "data": data[::-1], "model": asked.body["model"]})
    scores = FakeReranker().relevance(asked.body["query"], asked.body["documents"])
    results = [{"index": i, "relevance_score": float(s)} for i, s in enumerate(scores)]
    return Reply({"results": sorted(results, key=lambda one: -one["relevance_score"])})
