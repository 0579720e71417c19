import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        [],
        ["No full stop"],
        ["Dr. Smith met J. K. Rowling in the U.S. Army.", "See Fig. 3, e.g. this one."],
        ["It costs 3.14 dollars!", "Really?", "Yes."],
        ["In 2019.", "The next items, etc.", "They end."],
        ['He said "Go."', "Then he left.", "(Note this.)", "Done…", "Now."],
        ["No. 5 is alive.", "No.", "That is wrong."],
        ["Wait... what?", "Ask Mr. Jones etc. about it."],
        ["1. First of all.", "Then more."],
        ["Version 2. is out."],
        ["Das gilt z.B. für ca. 3 Tage.", "Ende."],
        ["«Привет.»", "Он ушёл."],
        ["We use Foo Inc. products.", "It was Foo Inc.", "Then it was not."],
    ],
)
def test_european(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["「行くよ。」と言った。", "次は？", "はい。"],
        ["（これは注。）", "終わり。", "すごい!", "次です"],
        ["「長い。引用。」", "『本。』", "終わり．", "次"],
        ["値は３．１４です。", "以上！？"],
        ["你好。", "“再见！”他说。", "她走了。"],
    ],
)
def test_japanese_and_chinese(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


def test_wrapped_lines_are_one_sentence() -> None:
    assert sentences("A line\nthat goes on.\nNext one.") == ["A line\nthat goes on.", "Next one."]
    assert sentences("速い。\nそして\n安全。") == ["速い。", "そして\n安全。"]


def test_lines_of_markdown_end_sentences() -> None:
    text = (
        "# Title\nText\n\n- one\n- two. Yes\n  more\n1. First\n2. Second\n| a | b |\n| c | d |\nEnd"
    )
    assert sentences(text) == [
        "# Title",
        "Text",
        "- one",
        "- two.",
        "Yes\n  more",
        "1. First",
        "2. Second",
        "| a | b |",
        "| c | d |",
        "End",
    ]


def test_fences_are_sentences_of_their_own() -> None:
    assert sentences("See:\n```rust\nlet a;\n```\nAfter") == [
        "See:",
        "```rust",
        "let a;",
        "```",
        "After",
    ]


@given(st.text("aA .!?。」「\n-#|1\"')e.g") | st.text())
def test_sentences_cover_all_text_in_order(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@pytest.mark.parametrize(
    "piece",
    ["a. ", "。", "「", "x", "\n", ". A", "```\n", "#", ".", "1. ", "(.", "|\n", '."', "あ!", "| "],
)
def test_long_texts_take_linear_time(piece: str) -> None:
    started = time.process_time()  # of this process: the machine may be busy
    sentence_spans(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 5


def test_a_row_with_tabs_is_one_sentence() -> None:
    rows = ["First row. Yes.\tcell", "\tno\tname", "Third\trow"]
    assert sentences("Prose before\n" + "\n".join(rows) + "\nand after.") == [
        "Prose before",
        "First row. Yes.\tcell",
        "no\tname",
        "Third\trow",
        "and after.",
    ]


def test_a_tab_at_an_edge_makes_no_row() -> None:
    assert sentences("\tindented line\t\ngoes on.") == ["indented line\t\ngoes on."]
