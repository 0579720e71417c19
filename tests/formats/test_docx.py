import io
import zipfile
from collections.abc import Sequence

import pytest
from docx import Document as NewDocument
from docx.enum.style import WD_STYLE_TYPE

from localrag.errors import ReadError
from localrag.formats.containers import DOCX
from localrag.formats.docx import read_docx
from localrag.formats.registry import read_document
from localrag.records import Document

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"


def part(name: str, body: str, namespace: str = WORD) -> str:
    return (
        f'<w:{name} xmlns:w="{namespace}" xmlns:m="{MATH}" xmlns:wp="{DRAWING}"'
        f' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">{body}</w:{name}>'
    )


def relations(*pairs: tuple[str, str]) -> str:
    entries = (
        f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(pairs)
    )
    return f'<Relationships xmlns="{RELATIONSHIPS}">{"".join(entries)}</Relationships>'


def packed(body: str, others: dict[str, str] | None = None, namespace: str = WORD) -> bytes:
    """Make a file of a body and of other parts, by kind."""
    others = others or {}
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("officeDocument", "word/document.xml")),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>", namespace),
        "word/_rels/document.xml.rels": relations(*((kind, f"{kind}.xml") for kind in others)),
        **{f"word/{kind}.xml": part(kind, text) for kind, text in others.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*content: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(content)}</w:p>"


def text_of(body: str, others: dict[str, str] | None = None) -> str:
    return read_docx(packed(body, others), "a.docx").text


def built() -> Document:
    new = NewDocument()
    new.core_properties.title = "The manual"
    new.core_properties.author = "Ann"
    new.sections[0].header.paragraphs[0].text = "Running header"
    new.add_heading("First chapter", 1)
    new.add_paragraph("Some text.")
    new.add_heading("A part", 2)
    new.add_paragraph("one", style="List Bullet")
    new.add_paragraph("two", style="List Number")
    new.add_paragraph("three", style="List Number")
    new.add_paragraph("As she said", style="Quote")
    new.add_paragraph("A picture", style="Caption")
    code = new.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
    new.add_paragraph("def f():", style=code)
    new.add_paragraph("    return 1", style=code)
    table = new.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("name", "sum", "a", "1"), strict=True):
        cell.text = text
    buffer = io.BytesIO()
    new.save(buffer)
    return read_document(buffer.getvalue(), "x.docx")


def test_a_document_of_every_kind_of_block() -> None:
    document = built()
    assert document.text == (
        "# First chapter\n\nSome text.\n\n## A part\n\n- one\n1. two\n2. three\n\nAs she said\n\n"
        "A picture\n\n```\ndef f():\n    return 1\n```\n\n| name | sum |\n| --- | --- |\n| a | 1 |"
    )
    kinds = [block.kind for block in document.blocks]
    assert kinds[-5:] == ["list_item", "quote", "caption", "code", "table"]
    assert document.blocks[-1].header_rows == 2
    assert (document.title, document.metadata["author"]) == ("The manual", "Ann")
    assert document.media_type == DOCX


def test_title_of_the_only_chapter() -> None:
    new = NewDocument()
    new.core_properties.title = "Document1"
    new.add_paragraph("Before.")
    new.add_heading("The chapter", 1)
    buffer = io.BytesIO()
    new.save(buffer)
    assert read_docx(buffer.getvalue(), "x.docx").title == "The chapter"


@pytest.mark.parametrize(
    ("name", "level"),
    [("heading 3", 3), ("Title", 1), ("ChapterTitle", 1), ("HeadA", 2), ("Subtitle", 0)],
)
def test_styles_of_headings(name: str, level: int) -> None:
    style = f'<w:style w:styleId="X"><w:name w:val="{name}"/></w:style>'
    body = paragraph(run("text"), properties='<w:pStyle w:val="X"/>')
    document = read_docx(packed(body, {"styles": style}), "a.docx")
    assert document.blocks[0].level == level


def test_levels_of_outline_are_inherited() -> None:
    styles = (
        '<w:style w:styleId="A"><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
        '<w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>'
        '<w:style w:styleId="C"><w:basedOn w:val="C"/></w:style>'
    )
    bodies = [paragraph(run(one), properties=f'<w:pStyle w:val="{one}"/>') for one in "ABC"]
    bodies.append(paragraph(run("own"), properties='<w:outlineLvl w:val="3"/>'))
    bodies.append(paragraph(run("body"), properties='<w:outlineLvl w:val="9"/>'))
    document = read_docx(packed("".join(bodies), {"styles": styles}), "a.docx")
    assert [block.level for block in document.blocks] == [2, 2, 0, 4, 0]


def test_tracked_changes_are_accepted() -> None:
    body = paragraph(
        run("kept "),
        f"<w:ins>{run('new ')}</w:ins>",
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>",
        f"<w:moveFrom>{run('moved away')}</w:moveFrom><w:moveTo>{run('moved here')}</w:moveTo>",
    )
    assert text_of(body) == "kept new moved here"


def test_a_deleted_paragraph_mark_joins_paragraphs() -> None:
    body = paragraph(run("one "), properties="<w:rPr><w:del/></w:rPr>") + paragraph(run("two"))
    assert text_of(body) == "one two"


def test_notes_follow_their_paragraph() -> None:
    notes = (
        f'<w:footnote w:id="0" w:type="separator">{paragraph(run("---"))}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph(run("The note."))}</w:footnote>'
    )
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    missing = '<w:r><w:footnoteReference w:id="7"/></w:r>'
    body = paragraph(run("Text"), reference, missing, run(".")) + paragraph(run("More"), reference)
    assert text_of(body, {"footnotes": notes}) == "Text[^1].\n\n[^1]: The note.\n\nMore"


def test_a_note_of_a_table_follows_it() -> None:
    notes = f'<w:endnote w:id="2">{paragraph(run("The note."))}</w:endnote>'
    reference = '<w:r><w:endnoteReference w:id="2"/></w:r>'
    row = f"<w:tr>{cell(paragraph(run('a'), reference))}{cell(paragraph(run('b')))}</w:tr>"
    text = text_of(f"<w:tbl>{row}</w:tbl>", {"endnotes": notes})
    assert text == "| a[^1] | b |\n\n[^1]: The note."


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def table(rows: Sequence[Sequence[str]], properties: str = "") -> str:
    cells = ("".join(cell(paragraph(run(text))) for text in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{properties}{row}</w:tr>' for row in cells)}</w:tbl>"


def test_merged_cells_are_said_once() -> None:
    restart, go_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    span = '<w:gridSpan w:val="2"/>'
    body = (
        f"<w:tbl><w:tr>{cell(paragraph(run('wide')), span)}"
        f"{cell(paragraph(run('tall')), restart)}</w:tr>"
        f"<w:tr>{cell(paragraph(run('a')))}{cell(paragraph(run('b')))}"
        f"{cell(paragraph(run('hidden')), go_on)}</w:tr></w:tbl>"
    )
    assert text_of(body) == "| wide |  | tall |\n| --- | --- | --- |\n| a | b |  |"


def test_tables_in_tables() -> None:
    inner = table([["a", "b"], ["c", "d"]])
    body = f"<w:tbl><w:tr>{cell(inner)}{cell(paragraph(run('x')))}</w:tr></w:tbl>"
    assert text_of(body) == "| a, b; c, d | x |"


def test_a_frame_is_no_table() -> None:
    assert text_of(table([["one"], ["two"]])) == "one\n\ntwo"


def test_deleted_rows_are_left_out() -> None:
    kept, deleted = table([["a", "b"]]), table([["c", "d"]], "<w:trPr><w:del/></w:trPr>")
    assert text_of(kept + deleted) == "| a | b |"


def test_stated_header_rows() -> None:
    stated = table([["1", "2"]], "<w:trPr><w:tblHeader/></w:trPr>").removesuffix("</w:tbl>")
    rest = table([["3", "4"]]).removeprefix("<w:tbl>")
    assert text_of(stated + rest) == "| 1 | 2 |\n| --- | --- |\n| 3 | 4 |"


def test_equations() -> None:
    def math(content: str) -> str:
        return paragraph(f"<m:oMath>{content}</m:oMath>")

    def letters(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    def arg(name: str, text: str) -> str:
        return f"<m:{name}>{letters(text)}</m:{name}>"

    sign = "<m:naryPr><m:chr m:val='∑'/></m:naryPr>"
    cases = {
        f"<m:f>{arg('num', 'a+b')}{arg('den', 'c')}</m:f>": "(a+b)/c",
        f"<m:sSup>{arg('e', 'x')}{arg('sup', '2')}</m:sSup>": "x^2",
        f"<m:sSub>{arg('e', 'x')}{arg('sub', 'i+1')}</m:sSub>": "x_(i+1)",
        f"<m:sSubSup>{arg('e', 'x')}{arg('sub', 'i')}{arg('sup', '2')}</m:sSubSup>": "x_i^2",
        f"<m:rad>{arg('e', 'y')}</m:rad>": "√y",
        f"<m:nary>{sign}{arg('sub', 'i')}{arg('e', 'x')}</m:nary>": "∑_i x",
        f"<m:nary>{arg('e', 'x')}</m:nary>": "∫ x",
        f"<m:d>{arg('e', 'x')}{arg('e', 'y')}</m:d>": "(x,y)",
        f"<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr>{arg('e', 'x')}</m:d>": (
            "[x]"
        ),
        f"<m:m><m:mr>{arg('e', '1')}{arg('e', '2')}</m:mr></m:m>": "[1  2]",
        f"<m:box>{arg('e', 'z')}</m:box>": "z",
    }
    for source, expected in cases.items():
        assert text_of(math(source)) == expected.replace("  ", " "), source


def test_characters_and_what_wraps_text() -> None:
    body = paragraph(
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/></w:r>",
        f"<w:hyperlink>{run('link')}</w:hyperlink>",
        "<w:r><w:instrText>PAGE</w:instrText></w:r>",
        f"<w:r><w:rPr><w:vanish/></w:rPr>{run('hidden')}</w:r>",
        f"<w:r><w:ruby><w:rt>{run('やま')}</w:rt><w:rubyBase>{run('山')}</w:rubyBase></w:ruby></w:r>",
    )
    assert text_of(f"<w:sdt><w:sdtContent>{body}</w:sdtContent></w:sdt>") == "a b\nc-link山"


def test_text_boxes_and_descriptions() -> None:
    box = f"<w:txbxContent>{paragraph(run('In the box'))}</w:txbxContent>"
    drawing = f"<w:drawing><wp:docPr descr='A red house'/>{box}</w:drawing>"
    twice = (
        f"<w:r><mc:AlternateContent><mc:Choice>{drawing}</mc:Choice>"
        f"<mc:Fallback>{drawing}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert text_of(paragraph(run("Text"), twice)) == "Text [A red house]\n\nIn the box"
    block = (
        f"<mc:AlternateContent><mc:Choice>{paragraph(run('one'))}</mc:Choice></mc:AlternateContent>"
    )
    assert text_of(block) == "one"


def test_contents_are_left_out() -> None:
    style = '<w:style w:styleId="X"><w:name w:val="toc 1"/></w:style>'
    body = paragraph(run("Chapter 1"), properties='<w:pStyle w:val="X"/>') + paragraph(run("text"))
    assert text_of(body, {"styles": style}) == "text"


def numbered(text: str, depth: int = 0, list_id: int = 1) -> str:
    number = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return paragraph(run(text), properties=number)


def levels(*formats: tuple[str, str]) -> str:
    return "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for depth, (kind, text) in enumerate(formats)
    )


def numbering(*formats: tuple[str, str], extra: str = "") -> dict[str, str]:
    return {
        "numbering": f'<w:abstractNum w:abstractNumId="0">{levels(*formats)}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>{extra}'
    }


def test_numbers_of_lists() -> None:
    lists = numbering(("decimal", "%1."), ("lowerLetter", "%1.%2)"), ("bullet", "x"))
    body = "".join(
        numbered(text, depth)
        for text, depth in (("a", 0), ("b", 1), ("c", 1), ("d", 2), ("e", 0), ("f", 1))
    )
    assert text_of(body, lists) == "1. a\n  1.a) b\n  1.b) c\n    - d\n2. e\n  2.a) f"


@pytest.mark.parametrize(
    ("kind", "markers"),
    [
        ("upperLetter", ["A", "B"]),
        ("lowerRoman", ["i", "ii"]),
        ("upperRoman", ["I", "II"]),
        ("none", ["-", "-"]),
    ],
)
def test_formats_of_numbers(kind: str, markers: list[str]) -> None:
    text = text_of(numbered("x") + numbered("y"), numbering((kind, "%1")))
    assert text == f"{markers[0]} x\n{markers[1]} y"


def test_a_list_that_starts_anew() -> None:
    extra = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="30"/></w:lvlOverride></w:num><w:num w:numId="3">'
        '<w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:lvl w:ilvl="0">'
        '<w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1%2"/></w:lvl></w:lvlOverride></w:num>'
    )
    body = numbered("a") + numbered("b", list_id=2) + numbered("c", list_id=3)
    body += numbered("d", list_id=9)
    assert text_of(body, numbering(("decimal", "%1."), extra=extra)) == "1. a\n30. b\na c\n\nd"


def test_a_numbered_heading_keeps_its_number() -> None:
    number = '<w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/>'
    body = paragraph(run("Aims"), properties=number)
    assert text_of(body, numbering(("decimal", "%1."))) == "# 1. Aims"


def test_strict_files() -> None:
    data = packed(paragraph(run("strict")), namespace=STRICT_WORD)
    assert read_docx(data, "a.docx").text == "strict"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("word/document.xml", None, "damaged"),
        ("_rels/.rels", "<Relationships/>", "damaged"),
        ("word/document.xml", "<w:document", "damaged"),
        ("word/document.xml", '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "unsupported"),
    ],
)
def test_damaged_parts(name: str, content: str | None, reason: str) -> None:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(packed(paragraph(run("a"))))) as old,
        zipfile.ZipFile(buffer, "w") as new,
    ):
        for one in old.namelist():
            if one != name:
                new.writestr(one, old.read(one))
        if content is not None:
            new.writestr(name, content)
    with pytest.raises(ReadError) as caught:
        read_docx(buffer.getvalue(), "a.docx")
    assert caught.value.reason == reason


def test_a_document_without_a_body_is_empty() -> None:
    with pytest.raises(ReadError, match="empty"):
        read_document(packed(""), "a.docx")
