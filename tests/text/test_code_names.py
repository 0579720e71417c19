"""Names of code in a question, and where a text has them."""

from __future__ import annotations

import pytest

from localrag.text.code_names import holds_name, names_in


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does `both_require` check?", ("both_require",)),
        ("What does ``both_require`` check?", ("both_require",)),
        ("Was macht `Store::open(path)`?", ("Store", "open", "path")),
        ("`run` は何を返すか", ("run",)),
        ("How is an EnumMap made, and what is in maxLength?", ("EnumMap", "maxLength")),
        ("Where is MAX_LENGTH used?", ("MAX_LENGTH",)),
        ("What does __init__ do?", ("__init__",)),
        ("HTTPServerはいつ閉じるか", ("HTTPServer",)),
        ("What does get() return?", ("get",)),
        ("What is Agg::Count?", ("Agg", "Count")),
        ("Does `a` start with std::vec?", ("std", "vec")),
        ("What does --no-cache do?", ("no-cache",)),
        ("`max_len` or max_len?", ("max_len",)),
    ],
)
def test_names_are_found(question: str, names: tuple[str, ...]) -> None:
    assert names_in(question) == names


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What is ownership?",
        "Which NATO countries have PDFs of the U.S. report?",
        "The throughput(CPT) is low - why -- and for whom?",
        "Welches Drehmoment haben 24kN bei M10?",
        "東京タワーの高さは",
        "a_ _b ` `` ` `x`",
        "2026.4.10 and 1,234.5",
        "what is it ::",
    ],
)
def test_what_is_no_name_is_not(question: str) -> None:
    assert names_in(question) == ()


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("fn on_add(&mut self)", True),
        ("store.on_add", True),
        ("on_add", True),
        ("on_added", False),
        ("_on_add", False),
        ("On_Add", False),
        ("", False),
    ],
)
def test_a_name_is_held_whole_and_as_written(text: str, holds: bool) -> None:
    assert holds_name(text, "on_add") is holds


def test_what_means_something_to_a_pattern_is_looked_for_as_it_stands() -> None:
    assert holds_name("see no-cache below", "no-cache")
    assert not holds_name("see no cache below", "no-cache")


def test_no_more_than_sixteen_are_looked_for() -> None:
    assert len(names_in(" ".join(f"`name_{n}`" for n in range(1_000)))) == 16
