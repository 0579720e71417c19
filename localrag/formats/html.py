"""HTML files: the main content with its headings, lists, tables and code."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from localrag.errors import ReadError
from localrag.formats.builder import DocumentBuilder, one_line
from localrag.formats.encoding import decode
from localrag.formats.html_blocks import HtmlBlocks
from localrag.formats.html_content import NOT_TEXT, content_root
from localrag.formats.titles import title_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "decode_html", "parse_html", "read_html"]

MEDIA_TYPE = "text/html"

_DECLARATION_WITHIN = 4_096
_CHARSET = re.compile(
    rb"""<meta[^>]+?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]+?encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
# What pages declare and what browsers read instead: the common superset.
_SUPERSETS = {
    "shift_jis": "cp932",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-9": "cp1254",
    "euc_kr": "cp949",
}
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# An HTML parser takes "<script/>" for the start of an element that never ends.
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
    r"([a-zA-Z][\w:-]*)((?:\s[^<>]*?)?)\s*/>"
)
_METADATA = {
    "author": "author",
    "article:author": "author",
    "dc.creator": "author",
    "description": "description",
    "og:description": "description",
    "keywords": "keywords",
    "og:site_name": "site",
    "date": "date",
    "dc.date": "date",
    "dcterms.date": "date",
    "article:published_time": "date",
    "article:modified_time": "modified",
}


def read_html(data: bytes, uri: str) -> Document:
    """Return the content of the page in `data`.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    tree = parse_html(decode_html(data))
    stated, is_in_text = _title(tree)
    title = title_of({"title": stated}, (), uri)
    builder = DocumentBuilder()
    if title == stated and not is_in_text:
        builder.heading(title, 1)
    root = content_root(tree)
    before = len(builder.blocks)
    if root is not None:
        HtmlBlocks(builder, in_content=root.tag != "body").add(root)
        if len(builder.blocks) == before:
            # All of it looks like boilerplate: then that is what the page says.
            HtmlBlocks(builder, keeps_all=True).add(root)
    metadata = _metadata(tree)
    return builder.build(title, MEDIA_TYPE, metadata)


def decode_html(data: bytes) -> str:
    """Return the text of a page: by its byte order mark, by what it declares, or by guess."""
    if data.startswith(_MARKS):
        return decode(data)
    match = _CHARSET.search(data[:_DECLARATION_WITHIN])
    declared = (match[1] or match[2]).decode("ascii") if match else ""
    try:
        name = codecs.lookup(declared).name
        name = _SUPERSETS.get(name, name)
        # A page that holds zero bytes has not the encoding that it declares.
        if declared and b"\x00" not in data and not name.startswith("utf-16"):
            return data.decode(name)
    except (LookupError, UnicodeDecodeError):
        pass
    return decode(data)


def parse_html(text: str, *, is_xhtml: bool = False) -> LexborHTMLParser:
    """Return the tree of a page without what is never text.

    Raises:
        ReadError: ``"damaged"``: the parser gave up.
    """
    if (
        is_xhtml
        or text.lstrip().startswith("<?xml")
        or 'xmlns="http://www.w3.org/1999/xhtml"' in text[:2_000]
    ):
        text = _SELF_CLOSED.sub(r"<\1\2></\1>", text)
    try:
        tree = LexborHTMLParser(text)
    except Exception as error:  # the parser documents no error of its own
        raise ReadError("damaged", f"the page cannot be parsed ({error})") from error
    tree.strip_tags(list(NOT_TEXT))
    return tree


def _title(tree: LexborHTMLParser) -> tuple[str, bool]:
    """Return the title, and whether a heading of the page says it.

    Where a heading is part of the title, the rest is the name of the site.
    """
    element = tree.css_first("title")
    title = one_line(element.text(deep=True)) if element is not None else ""
    for heading in tree.css("h1, h2"):
        text = one_line(heading.text(deep=True))
        if text and (title.startswith(text) or (text in title and len(text) > len(title) // 3)):
            return text, True
    return title, False


def _metadata(tree: LexborHTMLParser) -> dict[str, object]:
    found: dict[str, object] = {}
    for element in tree.css("meta[content]"):
        name = element.attributes.get("name") or element.attributes.get("property") or ""
        key = _METADATA.get(name.strip().lower())
        value = one_line(element.attributes.get("content") or "")
        if key and value:
            found.setdefault(key, value)
    published = tree.css_first("time[itemprop=datePublished][datetime], article time[datetime]")
    if published is not None:
        found.setdefault("date", one_line(published.attributes.get("datetime") or ""))
    canonical = tree.css_first("link[rel=canonical][href]")
    if canonical is not None:
        found["url"] = one_line(canonical.attributes.get("href") or "")
    root = tree.css_first("html")
    attributes = root.attributes if root is not None else {}
    language = attributes.get("lang") or attributes.get("xml:lang")
    if language:
        found["language"] = language.strip()
    return {key: value for key, value in found.items() if value}
