"""A hub on this machine: repositories with files, ranges, and the failures that real ones have."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMIT = "c" * 40


@dataclass
class Hub:
    """What the server has, how it misbehaves, and what it was asked."""

    repository: str
    files: dict[str, bytes] = field(default_factory=dict)
    large: set[str] = field(default_factory=set)
    """Files kept in LFS, known by their SHA-256; the others by git's hash."""
    status: int = 0
    """Answer to everything, where it is not 0."""
    headers: dict[str, str] = field(default_factory=dict)
    """Sent with that answer."""
    missing: set[str] = field(default_factory=set)
    """Files that are listed and cannot be had."""
    served: dict[str, bytes] = field(default_factory=dict)
    """What comes in place of a file."""
    cut_after: int | None = None
    """Bytes after which every connection breaks."""
    knows_ranges: bool = True
    has_hashes: bool = True
    """Whether it says the hashes of small files, as mirrors may not."""
    asked: list[str] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    url: str = ""

    def listing(self) -> dict[str, Any]:
        """Return what the hub says of the repository."""
        return {
            "id": self.repository,
            "sha": COMMIT,
            "siblings": [self._sibling(name, data) for name, data in self.files.items()],
        }

    def _sibling(self, name: str, data: bytes) -> dict[str, Any]:
        entry: dict[str, Any] = {"rfilename": name, "size": len(data)}
        if self.has_hashes:
            entry["blobId"] = git_hash(data)
        if name in self.large:
            digest = hashlib.sha256(data).hexdigest()
            entry["lfs"] = {"sha256": digest, "size": len(data), "pointerSize": 134}
        return entry


def git_hash(data: bytes) -> str:
    """Return the hash under which git keeps `data`."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Answer for `hub` on a port of this machine."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, *_: object) -> None:
        """Stay silent."""

    def _answer(self, *, body: bool) -> None:
        hub, path = self.hub, urlsplit(self.path).path
        hub.asked.append(f"{self.command} {path}")
        hub.agents.add(self.headers.get("User-Agent", ""))
        if hub.status:
            self._send(hub.status, b"", hub.headers, body=body)
        elif path.startswith(f"/api/models/{hub.repository}"):
            headers = {"Content-Type": "application/json"}
            self._send(200, json.dumps(hub.listing()).encode(), headers, body=body)
        else:
            self._file(path.partition(f"/{hub.repository}/resolve/{COMMIT}/")[2], body=body)

    def _file(self, name: str, *, body: bool) -> None:
        hub = self.hub
        if name not in hub.files or name in hub.missing:
            headers = {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}
            self._send(404, b"", headers, body=body)
            return
        data = hub.served.get(name, hub.files[name])
        digest = hashlib.sha256(hub.files[name]).hexdigest()
        headers = {
            "ETag": f'"{digest if name in hub.large else git_hash(hub.files[name])}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        span = self.headers.get("Range")
        if span and body and hub.knows_ranges:
            hub.ranges.append(f"{name} {span}")
            start = int(span.removeprefix("bytes=").partition("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            self._send(206, data[start:], headers, body=body)
        else:
            self._send(200, data, headers, body=body)

    def _send(self, status: int, data: bytes, headers: dict[str, str], *, body: bool) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not body:
            return
        cut = self.hub.cut_after
        if cut is not None and len(data) > cut and status in {200, 206} and "ETag" in headers:
            self.wfile.write(data[:cut])
            self.wfile.flush()
            self.close_connection = True
            return
        self.wfile.write(data)
