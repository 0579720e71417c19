"""E-mail: one message (.eml) or a mailbox of many (.mbox), with attachments read by their readers.

The text part is read; the HTML part only where there is no text, since both say the same.
"""

from __future__ import annotations

import email
import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from localrag.errors import ReadError
from localrag.formats.assembly import Assembly
from localrag.formats.mail_headers import decoded_text, filename, header, properties
from localrag.formats.mail_text import body_blocks
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

    from localrag.records import Document

__all__ = ["MAILBOX", "MESSAGE", "read_mailbox", "read_message"]

MESSAGE: Final = "message/rfc822"
MAILBOX: Final = "application/mbox"

_MOST_NESTED = 3
_MOST_ATTACHMENTS = 100
_POSTMARK: Final = re.compile(rb"(?:\A|\r?\n\r?\n)From [^\r\n]*\d\d:\d\d[^\r\n]*\r?\n(?=[\w-]+:)")
_POSTMARK_LINE: Final = re.compile(rb"\AFrom [^\r\n]*\r?\n")
_QUOTED_FROM: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_APPLE_LENGTH: Final = re.compile(rb"\A(\d+)\s*\n")
_NESTED: ContextVar[int] = ContextVar("messages around this one", default=0)
_SHOWN: Final = (("from", "From"), ("to", "To"), ("cc", "Cc"), ("date", "Date"))


def read_message(data: bytes, uri: str) -> Document:
    """Return the message in `data`: headers, text, then each attachment under its name.

    Raises:
        ReadError: ``"damaged"`` where there are no headers of a message.
    """
    if apple := _APPLE_LENGTH.match(data):
        data = data[apple.end() : apple.end() + int(apple[1])]
    assembly = Assembly()
    metadata = _add_message(assembly, _POSTMARK_LINE.sub(b"", data))
    return assembly.build(str(metadata.get("subject", "")) or stem_of(uri), MESSAGE, metadata)


def read_mailbox(data: bytes, uri: str) -> Document:
    """Return the messages in `data`, each under its subject.

    Raises:
        ReadError: ``"damaged"`` where there is no message in it.
    """
    starts = [match.end() for match in _POSTMARK.finditer(data)]
    ends = [match.start() for match in _POSTMARK.finditer(data)][1:]
    if not starts:
        raise ReadError("damaged", "no message begins with a line 'From ...': not a mailbox")
    assembly = Assembly()
    for start, end in zip(starts, [*ends, len(data)], strict=True):
        _add_message(assembly, _QUOTED_FROM.sub(rb"\1", data[start:end]))
    return assembly.build(stem_of(uri), MAILBOX, {"messages": len(starts)})


@contextmanager
def _one_message_deeper() -> Iterator[None]:
    """Count messages within messages, whichever reader lies between them."""
    if _NESTED.get() >= _MOST_NESTED:
        raise ReadError("too large", f"more than {_MOST_NESTED} messages within each other")
    token = _NESTED.set(_NESTED.get() + 1)
    try:
        yield
    finally:
        _NESTED.reset(token)


def _add_message(assembly: Assembly, data: bytes) -> dict[str, object]:
    with _one_message_deeper():
        try:
            message = email.message_from_bytes(data)
            parts = list(_parts(message))
        except RecursionError as error:
            raise ReadError("damaged", "its parts are nested too deeply") from error
        metadata = properties(message)
        if not metadata:
            raise ReadError("damaged", "no sender, subject or date: not a message")
        assembly.heading(str(metadata.get("subject", "")) or "(no subject)", 1)
        shown = (f"{name}: {header(message, key)}" for key, name in _SHOWN if header(message, key))
        assembly.add("paragraph", "\n".join(shown))
        attachments = [_add_part(assembly, part) for part in parts]
        if names := [name for name in attachments if name]:
            metadata["attachments"] = names
        return metadata


def _parts(message: Message) -> Iterator[Message]:
    """Yield the parts that are read, in order."""
    kind = message.get_content_type()
    payload = message.get_payload()
    if not message.is_multipart() or not isinstance(payload, list) or kind == MESSAGE:
        yield message
        return
    children = [part for part in payload if not isinstance(part, str)]
    if kind == "multipart/alternative":
        children = _best(children)
    elif kind == "multipart/signed":
        children = children[:1]
    for child in children[:_MOST_ATTACHMENTS]:
        yield from _parts(child)


def _best(alternatives: list[Message]) -> list[Message]:
    """Return the alternative that is text, else the last, which its sender thinks the best."""
    for kinds in (("text/plain",), ("text/html", "multipart/related", "multipart/mixed")):
        for part in alternatives:
            if part.get_content_type() in kinds and (part.is_multipart() or _bytes(part).strip()):
                return [part]
    return alternatives[-1:]


def _bytes(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _add_part(assembly: Assembly, part: Message) -> str:
    """Add one part, and return its name if it is an attachment."""
    kind, name = part.get_content_type(), filename(part)
    attached = bool(name) or part.get_content_disposition() == "attachment"
    if kind == MESSAGE:
        _add_document(assembly, _inner(part), name or "message.eml")
        return name or "message.eml"
    if attached or kind not in ("text/plain", "text/html"):
        if name:
            _add_document(assembly, _bytes(part), name)
        return name
    text = decoded_text(part, _bytes(part))
    if kind == "text/html":
        _embed(assembly, b"\xef\xbb\xbf" + text.encode(), "part.html", below=1)
        return ""
    for block, lines in body_blocks(text):
        assembly.add(block, lines)
    return ""


def _inner(part: Message) -> bytes:
    payload = part.get_payload()
    inner = payload[0] if isinstance(payload, list) and payload else None
    return _bytes(part) if inner is None or isinstance(inner, str) else inner.as_bytes()


def _add_document(assembly: Assembly, data: bytes, name: str) -> None:
    assembly.heading(f"Attachment: {name}", 2, name=name)
    _embed(assembly, data, name, below=2)


def _embed(assembly: Assembly, data: bytes, name: str, *, below: int) -> None:
    from localrag.formats.registry import read_document  # noqa: PLC0415 - it names this module

    try:
        assembly.embed(read_document(data, name), below=below)
    except ReadError as error:
        # The message is worth having all the same.
        if below > 1:
            assembly.add("paragraph", f"(not read: {error.reason})")
