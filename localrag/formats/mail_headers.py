"""Headers of messages: encoded words, odd charsets, dates."""

from __future__ import annotations

import binascii
from contextlib import suppress
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import collapse_rfc2231_value, parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from localrag.errors import ReadError
from localrag.formats.encoding import decode

if TYPE_CHECKING:
    from email.message import Message

__all__ = ["decoded_text", "filename", "header", "properties"]

# What mail programs call by a name that stands for less than they write.
_WIDER: Final = {
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "iso-2022-jp": "iso2022_jp_ext",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "big5": "cp950",
}
_KEPT: Final = ("subject", "from", "to", "cc", "date")


def properties(message: Message) -> dict[str, object]:
    """Return subject, sender, receivers and date (ISO 8601 where it can be read)."""
    found: dict[str, object] = {key: header(message, key) for key in _KEPT}
    # What cannot be read is kept as it is written.
    with suppress(ValueError, TypeError, OverflowError, IndexError):
        found["date"] = parsedate_to_datetime(str(found["date"])).isoformat()
    return {key: value for key, value in found.items() if value}


def header(message: Message, name: str) -> str:
    """Return a header on one line; empty where there is none."""
    # `Message.get` has lost bytes beyond ASCII already.
    values = (value for key, value in message.raw_items() if key.lower() == name)
    return " ".join(_words(_unescaped(str(next(values, "")))).split())


def filename(part: Message) -> str:
    """Return the name of an attachment, without folders; empty where it has none."""
    value = part.get_param("filename", None, "content-disposition") or part.get_param("name", None)
    if not value:
        return ""
    name = _words(_unescaped(collapse_rfc2231_value(value)))
    return " ".join(name.replace("\\", "/").rpartition("/")[2].split())


def decoded_text(part: Message, data: bytes) -> str:
    """Return text in the charset that is stated, or else in the one that it is in."""
    try:
        charset = part.get_content_charset("")
    except (LookupError, ValueError, AttributeError):
        charset = ""
    return _decoded(data, charset)


def _decoded(data: bytes, charset: str) -> str:
    charset = charset.lower()
    with suppress(LookupError, ValueError):
        text = data.decode(_WIDER.get(charset, charset))
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", " ")
    try:
        return decode(data)
    except ReadError:
        return data.decode("ascii", "replace")


def _unescaped(value: str) -> str:
    """Return a header whose bytes beyond ASCII the parser has hidden in surrogates."""
    data = value.encode("utf-8", "surrogateescape")
    return data.decode() if _is_utf_8(data) else _decoded(data, "")


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _words(value: str) -> str:
    """Return a header with its encoded words decoded."""
    if "=?" not in value:
        return value
    try:
        chunks = decode_header(value)
    except (HeaderParseError, binascii.Error, ValueError):
        return value
    # Bytes without a charset are what stood between the encoded words.
    texts = (
        chunk if isinstance(chunk, str) else _decoded(chunk, charset or "utf-8")
        for chunk, charset in chunks
    )
    return "".join(texts)
