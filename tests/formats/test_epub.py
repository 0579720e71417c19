import io
import zipfile

import pytest

from localrag.errors import ReadError
from localrag.formats.containers import EPUB
from localrag.formats.epub import read_epub
from localrag.formats.registry import read_document

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)
NAV = (
    "<html><body><nav><ol><li><a href='one.xhtml#top'>The first</a></li>"
    "<li><a href='one.xhtml#later'>Later</a></li></ol></nav></body></html>"
)
NCX = (
    "<?xml version='1.0'?><!DOCTYPE ncx PUBLIC 'a' 'b'><ncx><navMap><navPoint><navLabel>"
    "<text>The second</text></navLabel><content src='%32.xhtml'/></navPoint></navMap></ncx>"
)
METADATA = (
    "<dc:title>The book</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator>"
    "<dc:language>en</dc:language>"
)
ITEMS = (
    "<item id='nav' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>"
    "<item id='ncx' href='toc.ncx' media-type='application/x-dtbncx+xml'/>"
    "<item id='one' href='one.xhtml' media-type='application/xhtml+xml'/>"
    "<item id='two' href='2.xhtml' media-type='application/xhtml+xml'/>"
    "<item id='pic' href='a.png' media-type='image/png'/>"
    "<item id='lost' href='lost.xhtml' media-type='application/xhtml+xml'/>"
)
SPINE = "".join(f"<itemref idref='{name}'/>" for name in ("nav", "two", "one", "pic", "nowhere"))


def book(changes: dict[str, str | None] | None = None, spine: str = SPINE) -> bytes:
    parts: dict[str, str | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": (
            "<?xml version='1.0'?><package xmlns='http://www.idpf.org/2007/opf'"
            " xmlns:dc='http://purl.org/dc/elements/1.1/'>"
            f"<metadata>{METADATA}</metadata><manifest>{ITEMS}</manifest>"
            f"<spine>{spine}</spine></package>"
        ),
        "OPS/nav.xhtml": NAV,
        "OPS/toc.ncx": NCX,
        "OPS/one.xhtml": "<html><body><p>Text one.</p></body></html>",
        "OPS/2.xhtml": "<html><head><title/></head><body><h2>Chapter</h2><p>Two.</p></body></html>",
        "OPS/a.png": "",
        **(changes or {}),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            if text is not None:
                archive.writestr(name, text)
    return buffer.getvalue()


def reason_of(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read_epub(data, "a.epub")
    return caught.value.reason


def test_chapters_in_the_order_of_the_spine() -> None:
    document = read_document(book(), "a.epub")
    assert document.text == "## Chapter\n\nTwo.\n\n# The first\n\nText one."
    assert document.title == "The book"
    assert document.media_type == EPUB
    assert document.metadata == {"title": "The book", "author": "Ann, Bob", "language": "en"}


def test_titles_from_the_old_table_of_contents() -> None:
    plain = "<html><body><p>Two.</p><nav>Next page</nav></body></html>"
    text = read_epub(book({"OPS/2.xhtml": plain}), "a.epub").text
    assert text.startswith("# The second\n\nTwo.\n\n# The first")


def test_a_book_keeps_what_a_page_would_lose() -> None:
    chapter = "<html><body><h1>A</h1><aside class='sidebar'>Aside.</aside></body></html>"
    assert "Aside." in read_epub(book({"OPS/one.xhtml": chapter}), "a.epub").text


def test_a_missing_chapter_is_noted() -> None:
    document = read_epub(book(spine=SPINE + "<itemref idref='lost'/>"), "a.epub")
    assert document.metadata["missing_parts"] == ["OPS/lost.xhtml"]


def test_protected_books_are_refused() -> None:
    def encrypted(name: str) -> dict[str, str | None]:
        reference = f"<a><CipherReference URI='{name}'/></a>"
        return {"META-INF/encryption.xml": reference}

    assert reason_of(book(encrypted("OPS/one.xhtml"))) == "encrypted"
    assert "Text one." in read_epub(book(encrypted("OPS/font.TTF")), "a.epub").text


@pytest.mark.parametrize(
    "changes",
    [
        {"META-INF/container.xml": None},
        {"META-INF/container.xml": "<container/>"},
        {"META-INF/container.xml": "<container"},
        {"OPS/book.opf": None},
        {"OPS/book.opf": "<package>&nbsp;</package>"},
    ],
)
def test_damaged_books(changes: dict[str, str | None]) -> None:
    assert reason_of(book(changes)) == "damaged"
