"""Operators: what is asked for holds, what is excluded is not shown, and nothing raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import open_base, write_files

from localrag.text.analysis import analyse, analyse_phrase
from localrag.text.operators import Asked, Condition, read_operators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import SearchResult

FILES = {
    "guide.md": "# Key guide\n\n## Rotation\n\nRotate the keys every month. Keyboards are fine.\n",
    "draft.md": "# Draft\n\nKeys, keys, the rotated keys and more keys of a draft.\n",
    "notes/東京.md": "# メモ\n\n東京都の鍵を交換する Rust も書く。\n",
    "notes/langs.md": "# Languages\n\nC++ and max_seq_len; organization of teams.\n",
    "notes/c.md": "# Plain C\n\nThe C language, and the max of a seq.\n",
} | {f"bulk/{n}.md": f"# Bulk\n\nKeys, draft number {n}: keys keys.\n" for n in range(60)}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("operators")
    docs = write_files(folder / "docs", FILES)
    with open_base(folder / "base.db") as opened:
        opened.sync(docs)
        yield opened


def titles(result: SearchResult) -> set[str]:
    return {hit.title for hit in result}


# Reading


@pytest.mark.parametrize(
    ("query", "words", "conditions"),
    [
        ("how to rotate keys", "how to rotate keys", []),
        ('"rotate  keys" now', "rotate keys now", ['"rotate keys"']),
        ("“rotate keys” now", "rotate keys now", ['"rotate keys"']),
        ("keys -draft", "keys", ["-draft"]),
        ("keys -“a draft”", "keys", ['-"a draft"']),
        ("鍵 －下書き", "鍵", ["-下書き"]),
        ("rotat* keys", "rotat keys", ["rotat*"]),
        ("title:guide keys", "guide keys", ["title:guide"]),
        ("TITLE:guide", "guide", ["title:guide"]),
        ("-path:bulk keys path:notes/*", "keys", ["-path:bulk", "path:notes/*"]),
        (
            'heading:"key guide" body:month',
            "key guide month",
            ['heading:"key guide"', "body:month"],
        ),
        ("-title:draft* x", "x", ["-title:draft*"]),
        ("keys keys -a -a", "keys keys", ["-a"]),
    ],
)
def test_operators_are_read(query: str, words: str, conditions: list[str]) -> None:
    asked = read_operators(query)
    assert (asked.words, [str(one) for one in asked.conditions]) == (words, conditions)


@pytest.mark.parametrize(
    "query",
    [
        'an "open end',
        "--dry-run",
        "- keys",
        "well-known",
        "std::io",
        "https://example.org",
        "author:ann",
        "*",
        "title:",
        '""',
        '-"?!"',
        'a"b"',
        "",
    ],
)
def test_what_is_malformed_is_words(query: str) -> None:
    assert read_operators(query) == Asked(query)


# Searching


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("keys -draft -path:notes", {"Key guide"}),
        ('keys -"draft number" -title:draft -path:notes', {"Key guide"}),
        ('"rotate the keys"', {"Key guide"}),
        ('"rotated keys"', {"Draft"}),
        ("keyb*", {"Key guide"}),
        ("organiz*", {"Languages"}),
        ("body:max -C++", {"Plain C"}),
        ("body:C++", {"Languages"}),
        ("body:language -C++", {"Plain C"}),
        ('"max_seq_len"', {"Languages"}),
        ('"max of a seq"', {"Plain C"}),
        ("title:guide", {"Key guide"}),
        ("heading:rotation", {"Key guide"}),
        ("body:rotation -heading:rotation", {"Draft"}),
        ('"東京都の鍵"', {"メモ"}),
        ('"交換する Rust"', {"メモ"}),
        ('"東京 鍵"', set()),
        ("path:notes -path:langs -path:notes/c", {"メモ"}),
        ("keys title:nothing", set()),
    ],
)
def test_conditions_hold_in_both_methods(
    kb: KnowledgeBase, mode: str, query: str, expected: set[str]
) -> None:
    found = titles(kb.search(query, operators=True, mode=mode))  # type: ignore[arg-type]
    if mode == "lexical" and "path:" in query and not read_operators(query).words:
        assert found == set()  # a path is no word to rank by
    else:
        assert found == expected


def test_off_by_default(kb: KnowledgeBase) -> None:
    assert "Draft" in titles(kb.search("keys -draft"))
    assert "0. operators" not in [stage.name for stage in kb.search("keys").trace.stages]


def test_the_trace_says_how_the_query_was_read(kb: KnowledgeBase) -> None:
    result = kb.search('"rotate the keys" -draft soon', operators=True)
    [first, *_] = result.trace.stages
    assert first.name == "0. operators"
    assert first.note == '"rotate the keys", -draft: 1 of 65 chunks; words: rotate the keys soon'
    assert result.query == '"rotate the keys" -draft soon'
    assert kb.search("keys", operators=True).trace.stages[0].note == "no operators"


def test_operators_and_filter_must_both_hold(kb: KnowledgeBase) -> None:
    found = kb.search("keys -number", operators=True, path="draft.md")
    assert titles(found) == {"Draft"}
    assert not kb.search("keys -number", operators=True, path="bulk/**").hits
    assert titles(kb.search("keys -draft", operators=True, path="**")) >= {"Key guide"}


WORDS = st.sampled_from(
    ["keys", "draft", "rotate", "month", "東京", "鍵", "C++", "max_seq_len", "the"]
)
PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=PHRASES, excluded=PHRASES, mode=st.sampled_from(["lexical", "vector"]))
def test_exclusions_and_phrases_hold(
    kb: KnowledgeBase, words: str, excluded: str, mode: str
) -> None:
    result = kb.search(
        f'"{words}" -"{excluded}"',
        operators=True,
        mode=mode,  # type: ignore[arg-type]
        limit=100,
        copies="apart",
        rerank=False,
    )
    chunks = kb.chunks({one.chunk_id for one in result.trace.stages[-2].survivors})
    for chunk in chunks.values():
        sides = [analyse(chunk.context), analyse(f"{chunk.preamble}\n{chunk.text}")]
        assert any(_holds(tokens, words) for tokens in sides)
        assert not any(_holds(tokens, excluded) for tokens in sides)


def _holds(tokens: list[str], text: str) -> bool:
    phrase = analyse_phrase(text)
    size = len(phrase.words)
    runs = [tokens[place : place + size] for place in range(len(tokens) - size + 1)]
    if phrase.prefix:
        *first, last = phrase.words
        stands = any(run[:-1] == first and run[-1].startswith(last) for run in runs)
    else:
        stands = list(phrase.words) in runs
    return stands and all(name in tokens for name in phrase.names)


@settings(max_examples=150, deadline=None)
@given(
    query=st.text() | st.text('"“*-－:() title pathbody\0\ud800東あé'),
    operators=st.booleans(),
)
def test_any_string_is_legal(kb: KnowledgeBase, query: str, operators: bool) -> None:
    kb.search(query, operators=operators, rerank=False, limit=3)


@given(st.text())
def test_reading_loses_no_plain_word(query: str) -> None:
    if not any(mark in query for mark in '"“”„‟＂-－*:'):
        assert read_operators(query) == Asked(" ".join(query.split()))


def test_a_condition_is_shown_as_it_is_typed() -> None:
    shown = Condition("a b", "title", excluded=True, prefix=False, quoted=True)
    assert str(shown) == '-title:"a b"'
