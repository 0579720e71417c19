"""Which reader reads which file of those that `localrag.formats.known` lists.

What a file holds decides before what it is called: a picture named ``notes.txt`` is not text, and a
web page named so is still a web page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.errors import ReadError
from localrag.formats.builder import one_line
from localrag.formats.code_languages import CODE_NAMES, MEDIA_TYPE
from localrag.formats.containers import zip_media_type
from localrag.formats.detect import signature_of, text_type_of
from localrag.formats.known import BY_MEDIA_TYPE, BY_SUFFIX, FORMATS, PLAIN_TEXT

if TYPE_CHECKING:
    from localrag.formats.known import Format
    from localrag.records import Document

__all__ = ["media_type_of", "read_document", "suffix_of"]

# What text may turn out to be in spite of its name. The rest of what can be told is only believed
# of files without a suffix: a page about JSON may begin with some.
_IN_SPITE = {
    ".txt": {"text/html", "application/xml"},
    ".text": {"text/html", "application/xml"},
    ".json": {"application/x-ipynb+json"},
    ".xml": {"text/html"},
}
# Mail programs name the files of messages by numbers and flags.
_MAIL = {"message/rfc822", "application/mbox"}


def media_type_of(data: bytes, suffix: str, name: str = "") -> str:
    """Return the media type by content, then by name; ``""`` where neither tells.

    Args:
        data: the whole file.
        suffix: such as ``".md"``; empty where the name has none.
        name: file name without folders.
    """
    if binary := signature_of(data):
        return zip_media_type(data) if binary == "application/zip" else binary
    if name.lower() in CODE_NAMES:
        return MEDIA_TYPE
    suffix = suffix.lower()
    known = BY_SUFFIX.get(suffix)
    if known is None or suffix in _IN_SPITE:
        told = text_type_of(data)
        believed = _IN_SPITE.get(suffix, _MAIL) if suffix else BY_MEDIA_TYPE
        if told in BY_MEDIA_TYPE and told in believed:
            return told
    return known.media_type if known else "" if suffix else PLAIN_TEXT


def read_document(data: bytes, uri: str) -> Document:
    """Return the document that `data`, found at `uri`, holds.

    Raises:
        ReadError: ``"empty"``, ``"binary"``, ``"unreadable"``, ``"damaged"``, ``"unsafe"``,
            ``"too large"`` or ``"unsupported"``.
    """
    name = uri.replace("\\", "/").rpartition("/")[2]
    suffix = suffix_of(uri)
    media_type = media_type_of(data, suffix, name)
    if media_type not in BY_MEDIA_TYPE:
        what = media_type or suffix
        readable = ", ".join(known.name for known in FORMATS)
        raise ReadError("unsupported", f"no reader for {what}; save it as one of: {readable}")
    document = _read(BY_MEDIA_TYPE[media_type], data, uri)
    if not document.blocks:
        raise ReadError("empty", "the file holds no text")
    return document


_LONGEST_CAUSE = 300
"""Characters of a library's error that are kept."""


def _read(known: Format, data: bytes, uri: str) -> Document:
    try:
        return known.read(data, uri)
    except (ReadError, MemoryError):  # the latter is for the process that reads to report
        raise
    except Exception as error:
        # One file costs itself alone, whatever a reader or a library under it does with it.
        what = one_line(f"{type(error).__name__}: {error}")[:_LONGEST_CAUSE]
        raise ReadError("damaged", f"the {known.name} reader failed ({what})") from error


def suffix_of(uri: str) -> str:
    """Return the suffix of a file's name in lower case, with the dot; ``""`` where it has none."""
    name = uri.replace("\\", "/").rpartition("/")[2].lstrip(".")
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    return f".{suffix}" if suffix and " " not in suffix else ""
