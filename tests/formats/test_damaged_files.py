"""Whatever a file holds, a reader returns a document or says why not."""

import io
import random
import zipfile
from collections.abc import Callable

import pytest
from docx import Document as NewDocument
from openpyxl import Workbook
from pptx import Presentation
from reportlab.pdfgen.canvas import Canvas
from test_epub import book

from localrag.errors import ReadError
from localrag.formats.registry import read_document

TRIES = 40


def docx() -> bytes:
    new = NewDocument()
    new.add_heading("Title", 1)
    new.add_paragraph("one", style="List Number")
    new.add_table(rows=2, cols=2).cell(0, 0).text = "cell"
    return saved(new.save)


def pptx() -> bytes:
    new = Presentation()
    slide = new.slides.add_slide(new.slide_layouts[1])
    slide.shapes.title.text = "Title"
    slide.placeholders[1].text_frame.text = "body"
    return saved(new.save)


def xlsx() -> bytes:
    new = Workbook()
    new.active.append(("name", "sum"))
    new.active.append(("a", 1.5))
    return saved(new.save)


def pdf() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pageCompression=0)
    canvas.drawString(60, 600, "Some text")
    canvas.save()
    return buffer.getvalue()


def html() -> bytes:
    return (
        b"<html lang=en><head><meta charset=utf-8><title>A</title></head><body><main><h1>A</h1>"
        b"<ol start=3><li>x</ol><table><tr><th colspan=2>a<tr><td rowspan=2>1<td>2</table>"
        b"<pre>code</pre><dl><dt>a<dd>b</dl></main></body></html>"
    )


def delimited() -> bytes:
    return b'name,sum\n"a, b",1\n"c\nd",2\n'


def saved(save: Callable[[io.BytesIO], None]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 20))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def with_damaged_part(data: bytes, chance: random.Random) -> bytes:
    """Return a container that is sound, but one of its parts is not."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        chosen = chance.choice([name for name in old.namelist() if "ml" in name or "rels" in name])
        for name in old.namelist():
            part = old.read(name)
            if name == chosen:
                # The values of attributes above all: they are what sizes lists.
                values = part.split(b'"')
                at = chance.randrange(len(values))
                values[at] = chance.choice((b"", b"-1", b"999999999999", b"abc", b"\xe2\x91\xa0"))
                part = chance.choice(
                    (b'"'.join(values), flipped(part, chance), part[: len(part) // 2])
                )
            new.writestr(name, part)
    return buffer.getvalue()


SAMPLES = {
    "a.docx": docx,
    "a.pptx": pptx,
    "a.xlsx": xlsx,
    "a.epub": book,
    "a.pdf": pdf,
    "a.html": html,
    "a.csv": delimited,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_file_is_a_document_or_an_error(name: str) -> None:
    data = SAMPLES[name]()
    assert read_document(data, name).blocks
    chance = random.Random(name)  # noqa: S311 - the same damage in every run
    read = 0
    for attempt in range(TRIES):
        if attempt % 3 == 0:
            damaged = data[: chance.randrange(len(data))]
        elif attempt % 3 == 1 and data.startswith(b"PK"):
            damaged = with_damaged_part(data, chance)
        else:
            damaged = flipped(data, chance)
        read += is_read(damaged, name)
    assert read < TRIES


def is_read(data: bytes, name: str) -> bool:
    try:
        read_document(data, name).text.encode()
    except ReadError:
        return False
    return True
