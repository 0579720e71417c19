"""Every format: what reads it, and what the page of formats says of it.

A new format is one entry of `FORMATS`. Nothing here is imported but names: a reader is when the
first such file is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from localrag.formats.code_languages import CODE_SUFFIXES, MEDIA_TYPE
from localrag.formats.containers import DOCX, EPUB, PPTX, XLSX

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["BY_MEDIA_TYPE", "BY_SUFFIX", "FORMATS", "PLAIN_TEXT", "SUPPORTED_SUFFIXES", "Format"]

PLAIN_TEXT = "text/plain"
OLE = "application/x-ole-storage"


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file, with what the page of formats in docs/ says of it."""

    name: str
    media_type: str
    suffixes: tuple[str, ...]
    """Lower case, with the dot."""
    reader: str
    """``module:function`` below `localrag.formats`: imported when the first such file is read."""
    kept: str
    """What of a file becomes text, headings and metadata."""
    dropped: str = ""
    limits: str = ""

    def read(self, data: bytes, uri: str) -> Document:
        """Return the document in `data`; raises `ReadError`."""
        module, _, function = self.reader.partition(":")
        document: Document = getattr(import_module(f"localrag.formats.{module}"), function)(
            data, uri
        )
        return document


ZIP_LIMITS = "20,000 members, 1 GiB unpacked, 256 MiB each, 200 times the packed size"

FORMATS = (
    Format(
        "Markdown",
        "text/markdown",
        (".md", ".markdown", ".mdown", ".mkd", ".mdx"),
        "markdown:read_markdown",
        kept="the source as written; headings, tables, code, lists, quotes; front matter as"
        " metadata; what `alt`, `title` and `caption` say",
        dropped="comments, HTML tags, rules, the tails of endless link targets",
    ),
    Format(
        "Plain text",
        PLAIN_TEXT,
        (".txt", ".text"),
        "plain_text:read_plain_text",
        kept="everything, in paragraphs parted by blank lines; files without a suffix as well",
    ),
    Format(
        "HTML",
        "text/html",
        (".html", ".htm", ".xhtml"),
        "html:read_html",
        kept="main content: headings, paragraphs, lists, tables, code, quotes; title, author, date"
        " and language as metadata",
        dropped="navigation, headers and footers, cookie banners, scripts, styles, forms",
    ),
    Format(
        "PDF",
        "application/pdf",
        (".pdf",),
        "pdf:read_pdf",
        kept="the text layer by page in reading order, columns one after another; headings by the"
        " outline or by size; tables row by row, cells parted by tabs; properties as metadata",
        dropped="running headers and footers, page numbers, hyphens at line ends, pictures",
        limits="20,000 pages; scanned pages need the extra `localrag[ocr]`; a password is needed"
        " where there is one",
    ),
    Format(
        "Word",
        DOCX,
        (".docx", ".docm", ".dotx"),
        "docx:read_docx",
        kept="headings, paragraphs, lists, tables, foot- and endnotes, text boxes, equations,"
        " tracked changes as accepted; core properties as metadata",
        dropped="headers and footers, comments, tables of contents, hidden text, pictures",
        limits=ZIP_LIMITS,
    ),
    Format(
        "PowerPoint",
        PPTX,
        (".pptx", ".pptm", ".ppsx"),
        "pptx:read_pptx",
        kept="slides as pages under their titles, tables, charts, speaker notes",
        dropped="layout, master slides, pictures",
        limits=ZIP_LIMITS,
    ),
    Format(
        "Excel",
        XLSX,
        (".xlsx", ".xlsm"),
        "spreadsheet:read_spreadsheet",
        kept="sheets as pages under their names, rows with the header repeated on every chunk,"
        " values of formulas, dates as they read; hidden sheets, which are named in the metadata",
        dropped="formulas, styles, pictures, charts",
        limits=f"{ZIP_LIMITS}; 5 million cells",
    ),
    Format(
        "CSV",
        "text/csv",
        (".csv", ".tsv", ".tab"),
        "delimited:read_delimited",
        kept="rows with the header repeated on every chunk; delimiter, header and encoding are"
        " found by content",
    ),
    Format(
        "EPUB",
        EPUB,
        (".epub",),
        "epub:read_epub",
        kept="chapters in the order of the spine, as in HTML; title, authors, language",
        dropped="tables of contents, covers, pictures",
        limits=ZIP_LIMITS,
    ),
    Format(
        "Old Office",
        OLE,
        (".doc", ".xls", ".ppt"),
        "legacy_office:read_legacy_office",
        kept="nothing: skipped, with what to save it as",
    ),
    Format(
        "reStructuredText",
        "text/x-rst",
        (".rst", ".rest"),
        "rst:read_rst",
        kept="the source as written; sections, literal blocks, tables, lists, the content of"
        " directives; title, author and dates as metadata",
        dropped="comments, labels, options of directives, and directives that write no text"
        " (`toctree`, `include`, `raw`)",
        limits="by its lines: no directive is run, no file is included",
    ),
    Format(
        "AsciiDoc",
        "text/asciidoc",
        (".adoc", ".asciidoc", ".asc"),
        "asciidoc:read_asciidoc",
        kept="the source as written, attributes replaced by their values; sections, code, tables,"
        " lists, quotes, block titles; every branch of conditions",
        dropped="comments, attribute entries, block attributes, delimiters, passthrough blocks",
        limits="by its lines: no file is included",
    ),
    Format(
        "Org",
        "text/org",
        (".org",),
        "org:read_org",
        kept="the source as written; headlines, code, tables, lists, quotes; `#+TITLE`, author and"
        " date as metadata",
        dropped="comments, drawers, keywords, export blocks; task words, priorities and tags in"
        " the names of headlines",
    ),
    Format(
        "LaTeX",
        "application/x-latex",
        (".tex", ".latex", ".ltx"),
        "latex:read_latex",
        kept="the words, accents and quotes as characters; sections, lists, code, tables,"
        " captions, names of theorems, math as written; title, author and date as metadata",
        dropped="the preamble, comments, labels, index entries, layout commands",
        limits="by its text: no macro is expanded, no file is included",
    ),
    Format(
        "Jupyter notebook",
        "application/x-ipynb+json",
        (".ipynb",),
        "notebook:read_notebook",
        kept="Markdown cells with their headings, code cells, the beginning of text outputs",
        dropped="pictures, HTML and other rich outputs, base64",
        limits="1,000 characters of the outputs of a cell",
    ),
    Format(
        "E-mail",
        "message/rfc822",
        (".eml", ".emlx"),
        "mail:read_message",
        kept="subject, sender, receivers and date as text and metadata; the text part, or the HTML"
        " part where there is no text; attachments by their own readers; quotes as quotes",
        dropped="other headers, signatures of cryptography, replies quoted three times",
        limits="messages within messages to 3 levels, 100 attachments, 60 lines of a quotation",
    ),
    Format(
        "Mailbox",
        "application/mbox",
        (".mbox", ".mbx"),
        "mail:read_mailbox",
        kept="every message as in E-mail, each under its subject",
        dropped="as in E-mail",
        limits="as in E-mail",
    ),
    Format(
        "JSON",
        "application/json",
        (".json", ".geojson", ".jsonc", ".json5", ".webmanifest"),
        "json_data:read_json",
        kept="records of `path: value` lines, JSON in strings included; comments and commas too"
        " many are tolerated; as written where it is broken",
        dropped="punctuation, the tails of base64",
        limits="64 levels",
    ),
    Format(
        "JSON Lines",
        "application/x-ndjson",
        (".jsonl", ".ndjson"),
        "json_data:read_json_lines",
        kept="each line as a record of `path: value` lines",
        dropped="punctuation, the tails of base64",
        limits="64 levels",
    ),
    Format(
        "YAML",
        "application/yaml",
        (".yaml", ".yml"),
        "yaml_data:read_yaml",
        kept="records of `path: value` lines, comments on lines of their own; as written where it"
        " is broken or a template",
        dropped="punctuation, comments behind values",
        limits="64 levels; tags are not constructed, aliases not expanded",
    ),
    Format(
        "XML",
        "application/xml",
        (".xml", ".xsd", ".xsl", ".xslt", ".rss", ".atom", ".opml", ".plist", ".gpx", ".kml",
         ".dita", ".docbook", ".dbk", ".tmx", ".xliff", ".xlf", ".wsdl", ".resx", ".csproj"),
        "xml_data:read_xml",
        kept="records of `path: value` lines, attributes too; elements with text between their"
        " children as one value; as written where it is broken",
        dropped="comments, tags, processing instructions, namespace declarations",
        limits="64 levels; nothing external is fetched, entities within entities are refused",
    ),
    Format(
        "Subtitles",
        "text/x-subtitles",
        (".srt", ".vtt", ".ass", ".ssa"),
        "subtitles:read_subtitles",
        kept="what is said, in paragraphs behind their time; who says it, where that is written",
        dropped="cue numbers, end times, settings, tags, comments",
        limits="a paragraph ends at a pause of 2.5 seconds, or after 30 to 60 seconds",
    ),
    Format(
        "Log",
        "text/x-log",
        (".log",),
        "log:read_log",
        kept="everything; an entry with its indented lines is never parted",
        dropped="colours of terminals",
    ),
    Format(
        "Source code",
        MEDIA_TYPE,
        CODE_SUFFIXES,
        "source_code:read_source_code",
        kept="everything; functions and classes are headings; folder and name as title, language"
        " as metadata; also `Makefile`, `Dockerfile` and scripts with `#!`",
        limits="Python by its own parser, other languages by tree-sitter with the extra"
        " `localrag[code]`, else by keywords and indentation",
    ),
)  # fmt: skip
"""Every format, in the order of the documentation."""

BY_MEDIA_TYPE = {known.media_type: known for known in FORMATS}
BY_SUFFIX = {suffix: known for known in FORMATS for suffix in known.suffixes}

SUPPORTED_SUFFIXES = tuple(BY_SUFFIX)
"""Lower case, with the dot. A file without any suffix is read as plain text if it is text."""
