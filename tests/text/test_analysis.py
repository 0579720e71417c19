import re
import string
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text import analysis, identifiers
from localrag.text.analysis import (
    Analyser,
    Phrase,
    QueryTerm,
    analyse,
    analyse_phrase,
    analyse_query,
)
from localrag.text.identifiers import LONGEST_TOKEN, private
from localrag.text.stemming import stem

PRIVATE = {0xE000 + ord(mark): mark for mark in string.punctuation}


def shown(tokens: list[str]) -> list[str]:
    """Return tokens with private-use separators as they were written."""
    return [token.translate(PRIVATE) for token in tokens]


def terms(query: str) -> list[str]:
    return shown([term.term for term in analyse_query(query)])


def table_rows(module_doc: str | None) -> list[list[str]]:
    rows = [re.split(r"  +", line) for line in (module_doc or "").splitlines()]
    return [
        [cell.replace("`", "") for cell in row]
        for row in rows
        if len(row) > 1 and row[0].startswith("``")
    ]


@pytest.mark.parametrize("row", table_rows(identifiers.__doc__))
def test_table_of_names_is_true(row: list[str]) -> None:
    written, whole, parts = row
    expected = {*whole.replace(",", "").split(), *parts.replace(",", "").split()}
    assert {*shown(Analyser(stems=False).analyse(written))} - {","} == expected


@pytest.mark.parametrize("row", table_rows(analysis.__doc__))
def test_table_of_tokens_is_true(row: list[str]) -> None:
    written, tokens = row
    told = tokens.partition(":")[0].replace(", then", "").split()
    assert shown(analyse(written)) == told


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \n\t…— ", []),
        ("café Cafe\u0301", ["cafe", "cafe"]),
        ("the user's keys don’t", ["the", "user", "key", "don"]),
        ("l'homme", ["l", "homm"]),
        ("__init__ _owner_", ["init", "owner"]),
        ("--dry-run", ["dri", "run", "dry-run"]),
        ("TCP/IP", ["tcp", "ip", "tcp/ip"]),
        ("std::io::Error", ["std", "io", "error", "std::io::error"]),
        ("APIs", ["api"]),
        ("XMLHttpRequest", ["xmlhttprequest", "xml", "http", "request"]),
        ("Ｐｙｔｈｏｎ３．１２", ["python3", "12", "python3.12"]),
        ("1,234,567", ["1234567"]),
        ("x, y", ["x", "y"]),
        ("см. собаками", ["см", "собак"]),
        ("한국어", ["한국", "국어", "어"]),
        ("हिन्दी", ["हिन्दी"]),
        ("好", ["好"]),
        ("きり\n  ぎりす", ["きり", "りぎ", "ぎり", "りす", "す"]),
        ("データ・ベース", ["デー", "ータ", "ベー", "ース", "タ", "ス"]),
        ("a..b", ["a", "b"]),
        ("...net", ["net"]),
    ],
)
def test_analyse(text: str, tokens: list[str]) -> None:
    assert shown(analyse(text)) == tokens


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", []),
        ("?!", []),
        ("What is the purpose of max_seq_len?", ["purpos", "max", "seq", "len", "max_seq_len"]),
        ("what is it", ["what", "is", "it"]),
        ("What does the WHO do?", ["who"]),
        ("how does the do/while loop work", ["do", "while", "loop", "work", "do/while"]),
        ("Was ist ein Schlüssel?", ["schlussel"]),
        ("the war and the peace", ["war", "peac"]),
        ("所有権とは何ですか？", ["所有", "有権", "所", "有", "権"]),
        ("同じ 同じ", ["同じ", "同"]),
    ],
)
def test_analyse_query(query: str, expected: list[str]) -> None:
    assert terms(query) == expected


SPELLINGS = [
    ("サーバ", "サーバー"),
    ("コンピュータ", "コンピューター"),
    ("ユーザ名", "ユーザー名"),
    ("サ－バ－", "ｻｰﾊﾞｰ"),
    ("レビュー", "レヴュー"),
    ("バイオリン", "ヴァイオリン"),
    ("三か月", "三ヶ月"),
    ("3カ国", "３箇国"),
    ("関ヶ原", "関ケ原"),
    ("ＲＵＳＴの所有権", "Rustの所有権"),
    ("(株)東芝", "㈱東芝"),
]


@pytest.mark.parametrize(("one", "other"), [*SPELLINGS, *((b, a) for a, b in SPELLINGS)])
def test_spellings_of_one_japanese_word_find_each_other(one: str, other: str) -> None:
    assert {term.term for term in analyse_query(one)} <= {*analyse(f"前文。{other}を後文")}


def test_one_character_is_looked_up_as_a_prefix() -> None:
    assert analyse_query("茶") == [QueryTerm("茶", prefix=True)]
    assert any(token.startswith("茶") for token in analyse("緑茶を飲む"))
    assert any(token.startswith("ガ") for token in analyse("ガ"))


def test_lone_particles_are_dropped_beside_other_words() -> None:
    assert terms("Rust の trait を") == ["rust", "trait"]
    assert analyse_query("を") == [QueryTerm("を", prefix=True)]


def test_each_choice_can_be_switched_off() -> None:
    plain = Analyser(stems=False, names=False, ideographs=False, stop_words=False)
    assert plain.analyse("Running max_len 東京") == ["running", "max", "len", "東京", "京"]
    assert [term.term for term in plain.analyse_query("what is 東京")] == ["what", "is", "東京"]


def test_long_names_do_not_make_long_tokens() -> None:
    tokens = analyse("x" * 10_000 + "." + "y" * 10_000)
    assert [len(token) for token in tokens] == [LONGEST_TOKEN, LONGEST_TOKEN]


def test_private_is_injective() -> None:
    names = {private(mark) for mark in string.punctuation}
    assert len(names) == len(string.punctuation)
    assert private("a_b") != private("a-b") != private("a.b")


@pytest.mark.parametrize(
    ("word", "expected"),
    [("", ""), ("is", "is"), ("x11", "x11"), ("running", "run"), ("漢字漢字", "漢字漢字")],
)
def test_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


@given(st.text(alphabet=st.characters()) | st.text("ab_.-:/@#+,1Zé。ーんカ字", max_size=30))
def test_tokens_hold_nothing_that_would_split_or_break_the_index(text: str) -> None:
    for token in analyse(text):
        assert token
        assert len(token) <= 2 * LONGEST_TOKEN
        assert not set(token) & {*string.punctuation, *string.whitespace, "\0"}
        assert token == token.casefold()
        assert not {unicodedata.category(c) for c in token} & {"Cc", "Cs", "Zs", "Zl", "Zp"}


@given(st.text())
def test_what_is_typed_is_found_in_itself(text: str) -> None:
    tokens = analyse(text)
    for term in analyse_query(text):
        assert any(t.startswith(term.term) if term.prefix else t == term.term for t in tokens)


@given(st.text())
def test_terms_are_distinct(text: str) -> None:
    found = analyse_query(text)
    assert len(found) == len(set(found))


def test_threads_do_not_disturb_each_others_stems() -> None:
    endings = ("ing", "ational", "ization", "fulness", "edly", "ements")
    words = [
        f"{a}{b}{c}{end}" for a in "bcdfg" for b in "aeiou" for c in "lmnprst" for end in endings
    ]
    expected = [stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: [stem.__wrapped__(word) for word in words], range(8))
        assert list(results) == [expected] * 8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the rotated Keys", Phrase(("the", "rotat", "key"))),
        ("東京都 タワー", Phrase(("東京", "京都", "タワ", "ワー"))),
        ("緑茶 と", Phrase(("緑茶", "と"), prefix=True)),
        ("茶 cup", Phrase(("茶", "cup"))),
        ("C++", Phrase(("c",), (private("c++"),))),
        ("?!", Phrase(())),
    ],
)
def test_phrases(text: str, expected: Phrase) -> None:
    assert analyse_phrase(text) == expected


@given(before=st.text(), inside=st.text(), after=st.text())
def test_what_stands_in_a_text_is_a_phrase_of_it(before: str, inside: str, after: str) -> None:
    phrase = list(analyse_phrase(inside).words)
    tokens = analyse(f"{before}\n\n{inside}\n\n{after}")
    places = range(len(tokens) - len(phrase) + 1)
    found = [tokens[place : place + len(phrase)] for place in places]
    if not _joins(before, inside, after):
        assert phrase in found


def _joins(*texts: str) -> bool:
    """Return whether text that is wrapped inside a word would be joined with what is beside it."""
    apart = "\n\n".join(texts)
    return analysis._prepared(apart) != "\n\n".join(map(analysis._prepared, texts))
