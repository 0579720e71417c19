"""What the cross-encoder reads of a chunk: rows of a table, and windows."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import pytest

from localrag.inference.fake import FakeReranker
from localrag.records import StoredChunk
from localrag.search.reading import MOST_ROWS, OF_WHOLE, as_read, read_again, windows_of

TABLE = """Settings of the station.

| key | default | note |
|-----|:-------:|------|
| `retries` | 5 |  |
| `limit` | 90 | in MB |

After | the table."""
TABS = "State\tPermits\tTotal\nAlabama\t18,870\t71,137\nAlaska\t209\t7,095"


def stored(
    text: str, *, kind: str = "mixed", preamble: str = "", context: str = "Guide"
) -> StoredChunk:
    return StoredChunk(
        id=1,
        document_id=1,
        uri="/a.md",
        title="Guide",
        ordinal=0,
        kind=kind,
        text=text,
        preamble=preamble,
        context=context,
        headings=("Guide",),
        start=0,
        end=len(text),
        page=None,
        lines=(),
        tokens=1,
        section_id=1,
        previous_id=None,
        next_id=None,
    )


def rows(count: int) -> str:
    body = "\n".join(f"| part {number} | {number * 10} |" for number in range(count))
    return f"| name | weight |\n| --- | --- |\n{body}"


def test_rows_carry_the_names_of_their_columns_and_the_rest_stays() -> None:
    assert as_read(stored(TABLE), "what is the limit?") == (
        "Guide\nSettings of the station.\n\nkey: `retries`; default: 5\n"
        "key: `limit`; default: 90; note: in MB\n\nAfter | the table."
    )


def test_rows_with_tabs_have_their_header_above_or_in_front_of_the_chunk() -> None:
    named = (
        "State: Alabama; Permits: 18,870; Total: 71,137\nState: Alaska; Permits: 209; Total: 7,095"
    )
    assert as_read(stored(TABS, kind="table", context=""), "Alaska") == named
    header, _, below = TABS.partition("\n")
    part = stored(below, kind="table", preamble=header, context="")
    assert as_read(part, "Alaska") == named


def test_a_part_of_a_table_takes_the_repeated_header_and_does_not_repeat_it() -> None:
    part = stored("| 1 | 2 |", kind="table", preamble="| a | b |\n|---|---|")
    assert as_read(part, "a") == "Guide\na: 1; b: 2"


def test_the_header_above_holds_only_up_to_other_text() -> None:
    text = "| 1 | 2 |\n\n| 3 | 4 |\nprose\n| 5 | 6 |"
    part = stored(text, preamble="| a | b |\n|---|---|", context="")
    assert as_read(part, "a") == "a: 1; b: 2\n\na: 3; b: 4\nprose\n| 5 | 6 |"


def test_a_row_that_does_not_fit_its_header_stays_as_it_is() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n| too | many | cells |"
    assert as_read(stored(text, context=""), "a") == "a: 1; b: 2\n| too | many | cells |"


def test_of_many_rows_those_with_the_words_of_the_query_are_read_in_their_order() -> None:
    chunk = stored(rows(30), kind="table", context="")
    read = as_read(chunk, "the weight of part 27 and part 3", 3).splitlines()
    assert read == [f"name: part {number}; weight: {number * 10}" for number in (0, 3, 27)]
    assert len(as_read(chunk, "weight").splitlines()) == MOST_ROWS
    assert len(as_read(stored(rows(MOST_ROWS), context=""), "weight").splitlines()) == MOST_ROWS


def test_what_has_no_named_columns_is_read_as_it_stands() -> None:
    for text, kind in (("| 1 | 2 |\n| 3 | 4 |", "table"), ("Prose.", "mixed"), (TABLE, "code")):
        chunk = stored(text, kind=kind)
        assert as_read(chunk, "1") == chunk.passage


SENTENCES = "One is here. Two is here. Three is here. Four is here."


def test_a_chunk_is_read_in_windows_below_its_context() -> None:
    chunk = replace(stored(SENTENCES, kind="paragraph"), tokens=20)
    assert windows_of(chunk, "query", 10) == [
        "Guide\nOne is here. Two is here. ",
        "Guide\nThree is here. Four is here.",
    ]
    assert windows_of(chunk, "query", 20) == [chunk.passage]


def test_windows_are_cut_out_of_named_rows() -> None:
    chunk = replace(stored(TABLE), tokens=60)
    assert as_read(chunk, "limit") == "\n".join(
        ["Guide", *(window.removeprefix("Guide\n") for window in windows_of(chunk, "limit", 25))]
    )


def test_what_is_repeated_above_a_part_of_a_block_is_repeated_above_its_windows() -> None:
    code = replace(stored("  a = 1\n  b = 2", kind="code", preamble="def f():"), tokens=24)
    assert windows_of(code, "query", 6) == [
        "Guide\ndef f():\n  a = 1",
        "Guide\ndef f():\n  b = 2",
    ]


@pytest.mark.parametrize("text", ["", " \n", "word"])
def test_there_is_always_a_window(text: str) -> None:
    chunk = replace(stored(text, kind="paragraph", context=""), tokens=0)
    assert windows_of(chunk, "query", 16) == [text.strip("\n")]


def test_a_second_look_weighs_the_whole_and_more_the_best_window() -> None:
    query = "rotate the keys and the locks of every door"
    long = replace(stored(f"{SENTENCES} Rotate the keys now.", kind="paragraph"), tokens=40)
    short = replace(stored("Rotate.", kind="paragraph"), id=2, tokens=2)
    reranker = FakeReranker()
    best = float(max(reranker.relevance(query, windows_of(long, query, 8))))
    assert 0.2 < best < 1
    mean = OF_WHOLE * log(0.2 / 0.8) + (1 - OF_WHOLE) * log(best / (1 - best))
    found = read_again(reranker, query, [long, short], {1: 0.2, 2: 0.3}, 8)
    assert found == {1: pytest.approx(1 / (1 + exp(-mean)))}  # one window is no closer look
    assert read_again(reranker, query, [short], {2: 0.3}, 8) == {}


@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_a_certain_model_can_be_read_again(certain: float) -> None:
    long = replace(stored(SENTENCES, kind="paragraph"), tokens=40)
    found = read_again(FakeReranker(), "nothing of it", [long], {1: certain}, 8)
    assert 0 < found[1] < 0.01
