from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.spelling import distance, neighbour_stems, plain_words
from localrag.text.stemming import stem

WORDS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how to recieve Letters", ["recieve", "Letters"]),
        ("Tesla's coil", ["Tesla", "coil"]),
        ("anti-inflamatory drugs", ["anti", "inflamatory", "drugs"]),
        ("the letters, letters", ["letters"]),
        ("max_seq_len foo.bar src/main iPhone KX-1234 covid19 mail@host", []),
        ("WHO HTTP it a", []),
        ("東京サーバー 서울 กรุงเทพ", []),
        ("белка ΑΘΗΝΑ Αθήνα", ["белка", "Αθήνα"]),
        ("naïve Müller", ["naïve", "Müller"]),
    ],
)
def test_words_that_may_be_misspelled(query: str, expected: list[str]) -> None:
    assert plain_words(query) == expected


def test_an_endless_word_is_none() -> None:
    assert plain_words(f"{'a' * 10_000} {'b' * 32} {'c' * 33}") == ["b" * 32]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("recieve", "receive"),
        ("runnign", "running"),
        ("internatonal", "international"),
        ("vaccnation", "vaccination"),
        ("hapy", "happy"),
        ("happpily", "happily"),
        ("oranisation", "organisation"),
        ("xrganisation", "organisation"),
        ("молко", "молоко"),
        ("αθνα", "αθηνα"),
    ],
)
def test_the_stem_of_the_word_that_was_meant_is_a_neighbour(typed: str, meant: str) -> None:
    found = neighbour_stems(typed)
    assert stem(meant) in found
    assert distance(typed, found[stem(meant)]) == 1


def edited(word: str, draw: st.DataObject) -> str:
    at = draw.draw(st.integers(0, len(word) - 1))
    letter = draw.draw(st.sampled_from(WORDS))
    return draw.draw(
        st.sampled_from(
            [
                word[:at] + word[at + 1 :],
                word[:at] + letter + word[at:],
                word[:at] + letter + word[at + 1 :],
                word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
            ]
        )
    )


@given(
    st.sampled_from(
        [
            "generalisation",
            "responsibility",
            "consistently",
            "hopping",
            "analyses",
            "sky",
            "boundary",
        ]
    ),
    st.data(),
)
def test_an_edit_anywhere_in_a_word_is_undone(word: str, data: st.DataObject) -> None:
    typed = edited(word, data)
    if len(typed) >= 4 and stem(typed) != stem(word):
        assert stem(word) in neighbour_stems(typed)


def test_a_word_is_not_its_own_neighbour() -> None:
    assert stem("letters") not in neighbour_stems("letters")


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("receive", "receive", 0),
        ("recieve", "receive", 1),
        ("ca", "abc", 3),  # the restricted distance: no edit between the exchanged
        ("kitten", "sitting", 3),
        ("", "abc", 3),
        ("abc", "", 3),
    ],
)
def test_distance_counts_edits_and_exchanges(one: str, other: str, edits: int) -> None:
    assert distance(one, other) == edits
    assert distance(other, one) == edits
