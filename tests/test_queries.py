"""Any string is a legal query: whatever the user types, nothing raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import open_base, write_files

from localrag.search.plan import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.knowledge_base import KnowledgeBase

MODES: tuple[Mode, ...] = get_args(Mode)
OPERATORS = ["AND", "OR", "NOT", "NEAR", "NEAR(", "context:", "body :", "^", "*", '"', "(", ")"]
LISTED = [
    "what's up?",
    "C++",
    "node.js",
    "rock & roll; DROP TABLE chunks; --",
    '"',
    '"unbalanced',
    "'",
    "AND",
    "NOT keys",
    "keys OR",
    "NEAR(",
    "NEAR(keys locks, 5)",
    "context : keys",
    "keys*",
    "*",
    "(",
    "^keys",
    "-keys",
    "+",
    "{}",
    "\\",
    "%s %d {0}",
    "\x00",
    "keys\x00locks",
    "\ud800",
    "keys \udfff",
    "🔑 👩‍👩‍👧‍👦",
    "鍵",
    "鍵はいつ交換しますか",
    "مفاتيح",
    "\u202eyek",
    "\u0301\u0301\u0301",
    "\ufeff",
    "\U0010ffff\ue000",
    "",
    "   ",
    "\n\t\r\n",
    "x" * 10_000,
    "keys " * 2_000,
    "鍵" * 10_000,
    " ".join(f"word{number}" for number in range(1_500)),
    "((((((((((" * 1_000,
]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Return a base with two documents, in two scripts."""
    folder = tmp_path_factory.mktemp("queries")
    write_files(
        folder / "docs",
        {
            "keys.md": "# Keys\n\nKeys in C++ and node.js. AND, OR, NOT.\n",
            "鍵.txt": "鍵を交換する。\n",
        },
    )
    with open_base(folder / "base.db") as kb:
        kb.sync(folder / "docs")
        yield kb


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Return a base without documents."""
    with open_base(tmp_path_factory.mktemp("queries") / "empty.db") as kb:
        yield kb


def ask_everything(kb: KnowledgeBase, query: str) -> None:
    """Search in every way and ask, and look at what comes back."""
    for mode in MODES:
        result = kb.search(query, mode=mode)
        assert len(result) <= 10
        assert all(hit.text for hit in result)
        answer = kb.ask(query, mode=mode)
        assert answer.found == bool(answer.citations)
        assert answer.text
    trace = kb.trace()
    assert trace is not None
    assert trace.query == query.encode("utf-8", "replace").decode("utf-8")


@pytest.mark.parametrize("query", LISTED, ids=lambda query: ascii(query[:20]))
def test_what_users_type_is_legal(full: KnowledgeBase, query: str) -> None:
    ask_everything(full, query)


@pytest.mark.parametrize("query", LISTED, ids=lambda query: ascii(query[:20]))
def test_an_empty_base_answers_with_nothing_found(empty: KnowledgeBase, query: str) -> None:
    ask_everything(empty, query)
    assert len(empty.search(query)) == 0
    assert not empty.ask(query).found


ANYTHING = st.text(
    st.one_of(st.characters(), st.characters(categories=["Cs"]), st.sampled_from('\x00"*():^-+'))
)
WITH_OPERATORS = st.lists(st.one_of(st.sampled_from(OPERATORS), st.text(max_size=5))).map(" ".join)


@settings(deadline=None, max_examples=100)
@given(query=st.one_of(ANYTHING, WITH_OPERATORS))
def test_any_string_is_legal(full: KnowledgeBase, query: str) -> None:
    ask_everything(full, query)


@pytest.mark.parametrize(
    ("query", "expected"), [("C++", "keys.md"), ("node.js", "keys.md"), ("鍵", "鍵.txt")]
)
def test_a_query_with_special_characters_finds_its_document(
    full: KnowledgeBase, query: str, expected: str
) -> None:
    for mode in MODES:
        assert full.search(query, mode=mode)[0].document.endswith(expected)
