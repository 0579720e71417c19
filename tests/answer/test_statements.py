from __future__ import annotations

from dataclasses import replace

from test_extract import chunk, passage

from localrag.answer.statements import statements_of

TABLE = """Settings of the station.

| key | default |
|-----|:-------:|
| `retries` | 5 |
| `a \\| b` | x |
| too | many | cells |

After the table."""


def shown(document: str) -> list[str]:
    found = statements_of(passage(chunk(0, 0, len(document), document=document)))
    assert all(document[one.start : one.end] == one.text for one in found)
    return [one.shown for one in found]


def test_a_row_is_shown_with_the_names_of_its_columns() -> None:
    assert shown(TABLE) == [
        "Settings of the station.",
        "key: `retries`; default: 5",
        "key: `a \\| b`; default: x",
        "| too | many | cells |",
        "After the table.",
    ]


def test_what_is_cited_is_the_row_as_it_stands() -> None:
    found = statements_of(passage(chunk(0, 0, len(TABLE), document=TABLE)))
    assert found[1].text == "| `retries` | 5 |"
    assert found[1].passage == "Keys > Rotation\nkey: `retries`; default: 5"


def test_the_rows_of_a_cut_table_take_the_columns_from_the_repeated_header() -> None:
    rows = "| `retries` | 5 |\n| `pause` |  |"
    cut = replace(
        chunk(0, 0, len(rows), document=rows), preamble="| key | default |\n|---|---|", kind="table"
    )
    assert [one.shown for one in statements_of(passage(cut))] == [
        "key: `retries`; default: 5",
        "key: `pause`",
    ]


def test_a_table_without_a_header_stays_as_it_is() -> None:
    assert shown("| a | b |\n| c | d |") == ["| a | b |", "| c | d |"]


def test_headings_fences_and_rules_state_nothing() -> None:
    assert shown("# Keys\n\n```sh\nrotate --all\n```\n\n---\n\nDone.") == ["rotate --all", "Done."]


def test_a_sentence_that_runs_over_the_end_of_a_chunk_stays_whole() -> None:
    document = "One sentence that is cut. And one more."
    first = chunk(0, 0, 12, document=document)
    second = chunk(1, 13, len(document), document=document)
    found = statements_of(passage(first, second))
    assert [one.text for one in found] == ["One sentence that is cut.", "And one more."]
    assert [one.chunk.ordinal for one in found] == [0, 1]


def test_a_statement_in_two_chunks_belongs_to_the_one_that_matched() -> None:
    document = "First. Shared. Last."
    first = chunk(0, 0, 14, document=document)
    second = chunk(1, 7, len(document), document=document)
    found = statements_of(replace(passage(first, second), matched=(second.id,)))
    assert [one.chunk.ordinal for one in found] == [0, 1, 1]


TABBED = (
    "Countries.\n\nName\tArea (km2)\tCapital\nBelgium\t30,689\tBrussels\nMalta\t316\t\n\nAfter it."
)


def test_a_row_with_tabs_is_shown_with_the_names_of_its_columns() -> None:
    assert shown(TABBED) == [
        "Countries.",
        "Name: Belgium; Area (km2): 30,689; Capital: Brussels",
        "Name: Malta; Area (km2): 316",
        "After it.",
    ]
    found = statements_of(passage(chunk(0, 0, len(TABBED), document=TABBED)))
    assert found[1].text == "Belgium\t30,689\tBrussels"


def test_rows_with_tabs_that_no_header_names_stay_as_they_are() -> None:
    assert shown("Ann\tCook\nBob\tBaker") == ["Ann Cook", "Bob Baker"]
    assert shown("2023\t2024\n$1.5\t-3 %") == ["2023 2024", "$1.5 -3 %"]
    assert shown("x\t1\ny\t2") == ["x 1", "y 2"]
    assert shown("only\tone row") == ["only one row"]


def test_a_row_with_tabs_of_another_width_stays_as_it_is() -> None:
    assert shown("name\tsum\na\t1\nb\t2\tmore") == ["name: a; sum: 1", "b 2 more"]


def test_the_columns_of_a_table_end_with_it() -> None:
    assert shown("name\tsum\na\t1\n\nb\t2") == ["name: a; sum: 1", "b 2"]
    assert shown("| k | v |\n|---|---|\n| a | 1 |\n\n| b | 2 |") == ["k: a; v: 1", "| b | 2 |"]
    assert shown("name\tsum\na\t1\n| b | 2 |") == ["name: a; sum: 1", "name: b; sum: 2"]


def test_the_rows_of_a_cut_table_with_tabs_take_the_columns_from_the_repeated_rows() -> None:
    rows = "Alabama\t18,870\t859\n\t4\t5"
    cut = replace(
        chunk(0, 0, len(rows), document=rows),
        preamble="\tPermits\nState\t2014\tOther",
        kind="table",
    )
    assert [one.shown for one in statements_of(passage(cut))] == [
        "State: Alabama; Permits 2014: 18,870; Other: 859",
        "Permits 2014: 4; Other: 5",
    ]
    prose = replace(cut, preamble="def signature() -> None:")
    assert statements_of(passage(prose))[0].shown == "Alabama 18,870 859"


def test_tags_and_placeholders_of_templates_state_nothing() -> None:
    lines = (
        "{{#include ../main.rs}}",
        '<Listing number="4-3" caption="With scopes">',
        "<!-- not shown --> </p>",
        ">",
        "<https://example.org/keys>",
        "The type is `Vec<T>`.",
    )
    assert shown("\n\n".join(lines)) == list(lines[-2:])


def test_a_sentence_of_a_quotation_runs_over_its_lines() -> None:
    quoted = (
        "> Both are parts of memory. They are not alike, and\n> knowing that is\n> enough.\n"
        "> Another\n>\n> paragraph\n\nNo quotation\n> but this is"
    )
    assert shown(quoted) == [
        "Both are parts of memory.",
        "They are not alike, and knowing that is enough.",
        "Another",
        "paragraph",
        "No quotation",
        "but this is",
    ]


def test_many_placeholders_before_a_sentence_take_no_time_to_tell() -> None:
    line = "{{a}}" * 500 + " is meant."  # 2^500 ways, where each could end at any later one
    assert shown(line) == [line]


def test_a_sentence_is_also_read_after_the_one_before_it_and_a_row_is_not() -> None:
    document = "The pump starts. It stops at noon.\n\n# Care\n\nOil it.\n\n" + TABLE
    found = statements_of(passage(chunk(0, 0, len(document), document=document)))
    assert {one.shown: one.before for one in found} == {
        "The pump starts.": "",
        "It stops at noon.": "The pump starts.",
        "Oil it.": "",
        "Settings of the station.": "Oil it.",
        "key: `retries`; default: 5": "",
        "key: `a \\| b`; default: x": "",
        "| too | many | cells |": "",
        "After the table.": "",
    }
    assert found[1].passage_with_before == "Keys > Rotation\nThe pump starts. It stops at noon."
    assert found[0].passage_with_before == found[0].passage
