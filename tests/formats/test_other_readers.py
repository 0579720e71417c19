"""Notebooks, subtitles, logs; what a file is told by."""

from __future__ import annotations

import json
from typing import Any

import pytest
from reading import blocks, line_of, outline, read

from localrag.errors import ReadError
from localrag.formats.assembly import Assembly
from localrag.formats.detect import signature_of, text_type_of
from localrag.formats.known import FORMATS, Format
from localrag.formats.plain_text import read_plain_text
from localrag.formats.registry import read_document

# Notebooks


def notebook(*cells: dict[str, Any], **more: Any) -> bytes:
    language = {"language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": language, "nbformat": 4, **more}).encode()


def code(source: object, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_a_notebook() -> None:
    data = notebook(
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Some *text*."]},
        code(["x = 1\n", "x"], {"data": {"text/plain": ["1"], "image/png": "iVBOR"}}),
        {"cell_type": "raw", "source": "raw text"},
        {"cell_type": "markdown", "source": "![a](data:image/png;base64," + "AbC/" * 50 + ")"},
        "not a cell",  # type: ignore[arg-type]
    )
    document = read(data, "a.ipynb")
    assert document.title == "Title"
    assert document.metadata == {"programming_language": "python"}
    assert blocks(data, "a.ipynb") == [
        ("heading", "# Title"),
        ("paragraph", "Some *text*."),
        ("code", "```python\nx = 1\nx\n```"),
        ("code", "```output\n1\n```"),
        ("paragraph", "raw text"),
        ("paragraph", "![a](data:image/png;base64,…)"),
    ]
    assert read(data, "without suffix").media_type == "application/x-ipynb+json"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({"text": ["a\n", "\x1b[31mred\x1b[0m\n"]}, "a\nred"),
        ({"ename": "ValueError", "evalue": "no", "traceback": ["long"]}, "ValueError: no"),
        ({"data": {"text/markdown": "**b**", "text/plain": "b"}}, "**b**"),
        ({"text": "A" * 300}, "…"),
        ({"text": "".join(f"{number:04}\n" for number in range(500))}, "0199\n…"),
        ({"text": "wide " * 300}, "wide \n…"),
    ],
)
def test_outputs_are_cut(output: dict[str, Any], shown: str) -> None:
    [_, (_, text)] = blocks(notebook(code("x", output)), "a.ipynb")
    assert text.endswith(f"{shown}\n```")
    assert len(text) < 1_100


@pytest.mark.parametrize(
    "output",
    [
        {"data": {"image/png": "iVBOR"}},
        {"data": {"text/plain": "<Figure size 640x480 with 1 Axes>"}},
        {"data": {"text/plain": ["<PIL.Image at 0x7f00>"]}},
        {"data": 3, "text": 4},
    ],
)
def test_pictures_leave_no_output(output: dict[str, Any]) -> None:
    assert len(blocks(notebook(code("x", output)), "a.ipynb")) == 1


def test_code_that_holds_fences_is_fenced_by_longer_ones() -> None:
    assert blocks(notebook(code("'''\n```\n'''"), metadata={}), "a.ipynb") == [
        ("code", "````\n'''\n```\n'''\n````")
    ]


def test_a_notebook_of_an_old_version() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "print(1)", "outputs": [{"text": "1"}]},
    ]
    metadata = {"kernelspec": {"language": "julia"}}
    data = json.dumps({"worksheets": [{"cells": cells}], "metadata": metadata, "nbformat": 3})
    document = read(data, "a.ipynb")
    assert outline(document) == [(2, "Old", None)]
    assert "```julia\nprint(1)\n```" in document.text


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"cells": 1}', b"[" * 100_000])
def test_what_is_no_notebook(data: bytes) -> None:
    with pytest.raises(ReadError) as caught:
        read(data, "a.ipynb")
    assert caught.value.reason == "damaged"


# Subtitles

SRT = """\
1
00:00:01,000 --> 00:00:02,500
<i>Hello</i> &amp; welcome

2
00:00:03,000 --> 00:00:04,000
to the show.

3
00:00:10,000 --> 00:00:11,000

4
00:00:20,000 --> 00:00:21,000
After a pause.
"""


def test_subtitles_become_paragraphs_behind_their_time() -> None:
    document = read(SRT, "a.srt")
    assert [text for _, text in blocks(SRT, "a.srt")] == [
        "00:00:01,000\nHello & welcome\nto the show.",
        "00:00:20,000\nAfter a pause.",
    ]
    assert document.metadata == {"duration": 21.0}
    assert [line_of(document, text) for text in ("Hello", "to the", "After")] == [3, 7, 14]
    assert read(SRT, "without suffix").media_type == "text/x-subtitles"


def test_a_long_speech_is_parted_at_its_sentences() -> None:
    cues = "".join(
        f"{second // 60:02}:{second % 60:02}.000 --> {second // 60:02}:{second % 60 + 1:02}.900\n"
        f"Part {second}{'.' if second % 8 == 0 else ''}\n\n"
        for second in range(0, 120, 2)
    )
    found = [text for _, text in blocks(f"WEBVTT - The talk\n\n{cues}", "a.vtt")]
    assert read(f"WEBVTT - The talk\n\n{cues}", "a.vtt").title == "The talk"
    assert len(found) == 4
    assert all(text.endswith(".") for text in found[:-1])
    endless = cues.replace(".\n", "\n")
    assert len(blocks(f"WEBVTT\n\n{endless}", "a.vtt")) == 2


def test_voices_and_scripts() -> None:
    vtt = "WEBVTT\n\nNOTE x\n\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hi <c.x>you</c></v>\n"
    assert [text for _, text in blocks(vtt, "a.vtt")] == ["00:01.000\nAnn: Hi you"]
    ass = (
        "[Script Info]\nTitle: The film\n[Events]\n"
        "Comment: 0,0:00:00.00,0:00:01.00,D,,0,0,0,,hidden\n"
        "Dialogue: 0,0:00:01.00,0:00:02.00,D,Ann,0,0,0,,{\\i1}Hi,\\Nyou\n"
        "Dialogue: 0,0:00:02.50,0:00:03.00,D,Bob,0,0,0,,Me too\n"
        "Dialogue: 0,0:00:09.00,0:00:10.00,D,,0,0,0,,{\\p1}\n"
    )
    document = read(ass, "a.ass")
    assert document.title == "The film"
    assert document.text.strip() == "0:00:01.00 Ann: Hi, you\nBob: Me too"
    assert line_of(document, "Me too") == 6


def test_subtitles_without_cues() -> None:
    with pytest.raises(ReadError, match="no subtitle cues"):
        read("just text", "a.srt")


# Logs


def test_an_entry_of_a_log_holds_its_lines() -> None:
    source = (
        "\x1b[32m10:00 INFO start\x1b[0m\n10:01 ERROR failed\n  at f()\nCaused by: x\n\n10:02 end\n"
    )
    assert blocks(source, "a.log") == [
        ("code", "10:00 INFO start"),
        ("code", "10:01 ERROR failed\n  at f()\nCaused by: x"),
        ("code", "10:02 end"),
    ]
    assert line_of(read(source, "a.log"), "10:02") == 6
    assert len(blocks("x\n" + " y\n" * 500, "a.log")) == 3


# Plain text in scripts without spaces


def test_words_across_the_ends_of_wrapped_lines_are_joined() -> None:
    line = "吾輩は猫である名前はまだ無いどこで生れたか"
    source = f"{line}\n{line}\n頓と見当がつかぬ。\n\nりんご\nみかん\n"
    document = read_plain_text(source.encode(), "a.txt")
    assert document.text == f"{line}{line}頓と見当がつかぬ。\n\nりんご\nみかん\n"
    assert [line_of(document, text) for text in ("頓と", "みかん")] == [3, 6]


# What a file is told by


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"%PDF-1.7", "application/pdf"),
        (b"RIFF1234WEBPVP8", "image/webp"),
        (b"0000ftypisom", "video/mp4"),
        (b"x" * 257 + b"ustar ", "application/x-tar"),
        (b"RIFF is a word", ""),
        (b"text", ""),
        (b"", ""),
    ],
)
def test_signatures(data: bytes, media_type: str) -> None:
    assert signature_of(data) == media_type


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("<!-- x -->\n<!DOCTYPE HTML>\n<p>", "text/html"),
        ("\n<html lang='en'>", "text/html"),
        ('<?xml version="1.0"?><html>', "text/html"),
        ('<?xml version="1.0"?><a/>', "application/xml"),
        ('{"cells": [{"cell_type": "code"}]}', "application/x-ipynb+json"),
        ('{"a": 1}', "application/json"),
        ('[{"a": 1}]', "application/json"),
        ("WEBVTT\n", "text/x-subtitles"),
        ("#!/bin/sh\n", "text/x-source-code"),
        ("From a@b.c Mon Jan 1 10:00:00 2024\nFrom: a\n", "application/mbox"),
        ("From: a\nTo: b\nSubject: c\n\nx", "message/rfc822"),
        ("Received: a\n by b\nX-A: 1\nDate: c\n\nx", "message/rfc822"),
        ("To: do\nSubject: x\nDate: y\n", ""),
        ("From: a\nnot a header\nTo: b\nSubject: c\n", ""),
        ("[note] Some text", ""),
        ("{curly} text", ""),
        ("html is a word", ""),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_that_shows_what_it_is(text: str, media_type: str, encoding: str) -> None:
    assert text_type_of(text.encode(encoding)) == media_type


def test_utf_16_that_begins_with_the_other_end() -> None:
    assert text_type_of(b"\xfe\xff" + '{"a": 1}'.encode("utf-16-be")) == "application/json"


@pytest.mark.parametrize(
    ("data", "uri", "media_type"),
    [
        (b'<?xml version="1.0"?><a>x</a>', "a.txt", "application/xml"),
        (b'{"a": 1}', "data", "application/json"),
        (b'{"a": 1}', "a.txt", "text/plain"),
        (b'{"a": 1}', "a.md", "text/markdown"),
        (notebook(code("x")), "a.json", "application/x-ipynb+json"),
        (b"text", "Dockerfile", "text/x-source-code"),
    ],
)
def test_content_decides_where_it_is_certain(data: bytes, uri: str, media_type: str) -> None:
    assert read_document(data, uri).media_type == media_type


def test_an_error_of_a_reader_costs_the_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("too deep\n" + "x" * 9_999)

    monkeypatch.setattr(Format, "read", broken)
    with pytest.raises(ReadError, match="the Plain text reader failed") as caught:
        read_document(b"text", "a.txt")
    assert caught.value.reason == "damaged"
    assert "RecursionError: too deep xx" in caught.value.detail
    assert len(caught.value.detail) < 400


def test_a_reader_that_runs_out_of_memory_is_no_damaged_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hungry(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Format, "read", hungry)
    with pytest.raises(MemoryError):
        read_document(b"text", "a.txt")


def test_every_format_says_what_it_keeps() -> None:
    assert all(known.kept and known.suffixes for known in FORMATS)
    suffixes = [suffix for known in FORMATS for suffix in known.suffixes]
    assert len(suffixes) == len(set(suffixes))


def test_an_assembly_leaves_out_what_is_empty() -> None:
    assembly = Assembly()
    assembly.heading(" \x00 ", 1)
    assembly.code("\n\n")
    assembly.add("paragraph", "\n\n  a\x07b  \n")
    assembly.embed(read_plain_text(b" ", "x"))
    document = assembly.build("a\x00 b", "m")
    assert document.text == "  a b"
    assert document.title == "a b"
