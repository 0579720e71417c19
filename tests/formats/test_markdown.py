import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.formats.markdown import read_markdown
from localrag.records import Block, Document


def read(source: str, uri: str = "folder/note.md") -> Document:
    return read_markdown(source.encode(), uri)


def kinds(source: str) -> list[tuple[str, str]]:
    document = read(source)
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def headings(source: str) -> list[tuple[int, str]]:
    return [(b.level, b.heading) for b in read(source).blocks if b.kind == "heading"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# One", (1, "One")),
        ("## Two ##", (2, "Two")),
        ("One\n===", (1, "One")),
        ("Two\nlines\n---", (2, "Two lines")),
        ("### `code` and *stars*", (3, "`code` and stars")),
        ("# [Link](http://a.b) ![picture](c.png)", (1, "Link picture")),
        ("# [ref]\n\n[ref]: http://a.b", (1, "ref")),
        ("# DOM の更新 {#dom-update}", (1, "DOM の更新")),
        ("# Vec<T> &amp; <b>bold</b> \\*", (1, "Vec & bold *")),
        ("# A<br>B <!-- no -->", (1, "AB")),
        ("#", (1, "")),
        ("# " + "x" * 60_000, (1, "")),
    ],
)
def test_headings(source: str, expected: tuple[int, str]) -> None:
    assert headings(source) == [expected]


def test_headings_in_fences_comments_and_quotes_are_none() -> None:
    source = "```\n# a\n```\n<!--\n# b\n-->\n> # c\n\n~~~\nd\n===\n~~~\n"
    assert headings(source) == []
    assert [kind for kind, _ in kinds(source)] == ["code", "quote", "code"]


def test_blocks() -> None:
    source = (
        "# T\n\nOne\nparagraph.\n\n- a\n  - nested\n- b\n\n  more of b\n\n1. c\n\n"
        "> quoted\n> text\n>\n> more\n\n    indented\n\n| h | i |\n|---|---|\n| 1 | 2 |\n\n"
        "```py\ncode\n\n\nmore\n```\n"
    )
    assert kinds(source) == [
        ("heading", "# T"),
        ("paragraph", "One\nparagraph."),
        ("list_item", "- a\n  - nested"),
        ("list_item", "- b\n\n  more of b"),
        ("list_item", "1. c"),
        ("quote", "> quoted\n> text\n>"),
        ("quote", "> more"),
        ("code", "    indented"),
        ("table", "| h | i |\n|---|---|\n| 1 | 2 |"),
        ("code", "```py\ncode\n\n\nmore\n```"),
    ]
    assert [block.header_rows for block in read(source).blocks if block.kind == "table"] == [2]


def test_code_and_tables_in_containers_are_blocks() -> None:
    source = "- see\n  ```\n  code\n  ```\n  after\n- next\n\n> | a |\n> |---|\n> | b |\n"
    assert [kind for kind, _ in kinds(source)] == [
        "list_item",
        "code",
        "list_item",
        "list_item",
        "table",
    ]


def test_what_is_no_block_is_a_paragraph() -> None:
    assert kinds("[a]: http://a.b 'title'\n\ntext\n\n[b]: c") == [
        ("paragraph", "[a]: http://a.b 'title'"),
        ("paragraph", "text"),
        ("paragraph", "[b]: c"),
    ]
    assert kinds("- \n- a\n") == [("paragraph", "-"), ("list_item", "- a")]


def test_comments_are_not_text() -> None:
    source = (
        "<!--\nEnglish\n\nmore\n-->\n\n日本語<!-- inline -->です\n\n`<!-- kept -->` <!-- not -->\n"
    )
    document = read(source)
    assert document.text == "日本語です\n\n`<!-- kept -->` \n"
    assert [document.line(block.start) for block in document.blocks] == [7, 9]


def test_lines_are_right_after_what_was_left_out() -> None:
    source = "One\ntwo <b\nclass='x'>three</b>.\n\n<!--\ncomment\n-->\n\nFour\nfive.\n"
    document = read(source)
    lines = source.split("\n")
    for word in ("One", "two", "three", "Four", "five"):
        line = document.line(document.text.index(word))
        assert line
        assert word in lines[line - 1]


def test_comments_in_code_are_code() -> None:
    assert kinds("```html\n<!-- a -->\n```") == [("code", "```html\n<!-- a -->\n```")]


def test_a_comment_that_never_ends_is_text() -> None:
    assert "visible" in read("<!-- visible\n\n<!-- more\n").text


def test_text_behind_a_comment_stays() -> None:
    assert kinds("<!-- a --> visible <!-- b -->") == [("paragraph", " visible")]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<div class='x'>\ntext\n</div>", "text"),
        ("<p align=center>\n  <b>bold</b> text<br>next\n</p>", "  bold text next"),
        ('<img src="a.png" alt="Three tables" title=\'T\'>', "Three tables T"),
        ("a<br/>b <kbd>Ctrl</kbd>-<kbd>C</kbd>", "a b Ctrl-C"),
        ("<Listing number='1' caption='A caption'>\n\ntext\n\n</Listing>", None),
        ("Use Vec<T> and <your-name>.", "Use Vec<T> and <your-name>."),
        ("<script>\nvar a = '<b>';\n</script>\n\ntext", "text"),
        ("<style>p {}</style>\n\ntext", "text"),
        ("<!DOCTYPE html>\n<?php echo 1 ?>\ntext", "text"),
        ("<script>never closed", "never closed"),
        ("<div\n\ntext", "<div\n\ntext"),
        ("`<b>` is <b>bold</b>", "`<b>` is bold"),
        ("a\n\n***\n\nb", "a\n\nb"),
    ],
)
def test_html(source: str, text: str | None) -> None:
    found = read(source).text.strip("\n ")
    expected = "<Listing number='1' caption='A caption'>\n\ntext" if text is None else text
    assert found == expected.strip()


def test_endless_link_targets_are_cut() -> None:
    target = "https://play.example/#" + "A" * 5_000
    text = read(f"[Try it]({target}) now, or ![](data:image/png;base64,{'B' * 5_000}) later").text
    assert len(text) < 300
    assert text.endswith(") later")
    assert target in read(f"```\n{target}\n```").text


def test_front_matter_is_metadata() -> None:
    document = read("---\ntitle: 設計メモ\ndate: 2024-05-01\n---\n\n# Other\n\ntext\n")
    assert document.title == "設計メモ"
    assert document.metadata == {"title": "設計メモ", "date": "2024-05-01"}
    assert document.text == "# Other\n\ntext\n"
    assert [document.line(block.start) for block in document.blocks] == [6, 8]
    json.dumps(document.metadata)


def test_broken_front_matter_is_text() -> None:
    document = read("---\ntitle: [broken\n---\n\ntext")
    assert "front_matter_error" in document.metadata
    assert "broken" in document.text


def test_text_between_rules_is_no_front_matter() -> None:
    document = read("---\nOnce upon a time.\n---\nThe end.")
    assert document.metadata == {}
    assert "Once upon a time." in document.text


def test_front_matter_that_is_never_closed_is_text() -> None:
    assert "Bartholomew" in read("---\ntitle: x\n\n# Real\n\nThe walrus was Bartholomew.").text


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("---\ntitle: 2024\n---\n# A", "2024"),
        ("---\ntitle: [a]\n---\n# A", "A"),
        ("---\ntitle: ' '\n---\ntext", "note"),
        ("## B\n\n# A", "A"),
        ("## B\n\ntext", "B"),
        ("text\n\n## B", "note"),
        ("", "note"),
    ],
)
def test_title(source: str, title: str) -> None:
    assert read(source).title == title


def test_line_ends_of_windows_and_old_macs() -> None:
    source = "# A\n\n```\ncode\n```\n\ntext\n"
    for breaks in ("\r\n", "\r"):
        assert read(source.replace("\n", breaks)) == read(source)


def test_tabs_and_form_feeds() -> None:
    assert kinds("a\n\n\tcode\n") == [("paragraph", "a"), ("code", "\tcode")]
    assert read("a\n\f\nb\n").text == "a\n\f\nb\n"


def check_blocks(document: Document) -> None:
    position = 0
    for block in document.blocks:
        assert position <= block.start < block.end
        assert not document.text[position : block.start].strip()
        check_edges(document.text[block.start : block.end])
        assert document.line(block.start)
        position = block.end
    assert not document.text[position:].strip()


def check_edges(text: str) -> None:
    assert text == text.rstrip()
    assert text.split("\n", maxsplit=1)[0].strip()


MARKDOWN = st.text("#*-+>`~|<!/[]()=_:\\ \t\nab1.é漢", max_size=200)
PIECES = st.lists(
    st.sampled_from(
        [
            "# A\n",
            "a\n",
            "\n",
            "- b\n",
            "  c\n",
            "> q\n",
            "```\n",
            "<!--",
            "-->",
            "<div>",
            "| a |\n",
            "|---|\n",
            "---\n",
            "===\n",
            "<b>",
            "</b>",
            "    x\n",
            "[a]: b\n",
            "1. n\n",
            "`",
            "\t",
        ]
    )
).map("".join)


@given(MARKDOWN | PIECES)
def test_only_blanks_lie_outside_blocks(source: str) -> None:
    check_blocks(read(source))


@given(PIECES)
def test_lines_are_those_of_the_source(source: str) -> None:
    document = read(source)
    lines = source.split("\n")
    for block in document.blocks:
        line = document.line(block.start)
        assert line
        assert document.text[block.start : block.end].lstrip()[0] in lines[line - 1]


@pytest.mark.parametrize(
    "source",
    [
        "[" * 50_000,
        "[a](" * 20_000,
        "> " * 20_000 + "a",
        "- " * 20_000 + "a",
        "*a " * 20_000,
        "*a <b> " * 7_000,
        "<" * 50_000,
        "<!--" * 20_000,
        "<!--\n\n" * 10_000,
        "<script>\n" * 10_000,
        "<a " * 20_000,
        "# <b>[x](y)\n" * 1_000,
        "".join("  " * depth + "- a\n" for depth in range(300)),
        "---\n" + "[" * 5_000 + "\n---\n",
        "| a " * 2_000 + "|\n" + "|---" * 2_000 + "|\n",
    ],
    ids=lambda source: source[:8],
)
def test_hostile_sources_are_read_in_time(source: str) -> None:
    started = time.process_time()  # a busy machine takes longer, and no more work
    check_blocks(read(source))
    assert time.process_time() - started < 10


def test_block_of_records() -> None:
    assert read("# A").blocks == (Block("heading", 0, 3, heading="A", level=1),)
