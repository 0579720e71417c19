from hypothesis import given
from hypothesis import strategies as st

from localrag.formats.source_map import Cut, LineIndex, excerpt

TEXTS = st.text("ab \n", max_size=40)


@st.composite
def sources_with_cuts(draw: st.DrawFn) -> tuple[str, list[Cut]]:
    source = draw(TEXTS)
    positions = st.integers(0, len(source))
    spans = draw(st.lists(st.tuples(positions, positions), max_size=6))
    replacements = st.sampled_from(["", " "])
    return source, [Cut(min(span), max(span), draw(replacements)) for span in spans]


def test_positions_around_a_cut() -> None:
    kept = excerpt("abcdef", [Cut(2, 4)])
    assert kept.text == "abef"
    assert [kept.position(source) for source in range(7)] == [0, 1, 2, 2, 2, 3, 4]
    assert [kept.source(position) for position in range(5)] == [0, 1, 4, 5, 6]


def test_replacement_and_overlap() -> None:
    kept = excerpt("abcdef", [Cut(3, 5), Cut(1, 4, " "), Cut(2, 3)])
    assert kept.text == "a f"
    assert kept.source(2) == 5


@given(sources_with_cuts())
def test_kept_characters_know_their_source(case: tuple[str, list[Cut]]) -> None:
    source, cuts = case
    kept = excerpt(source, cuts)
    gone = {position for cut in cuts for position in range(cut.start, cut.end)}
    for position in set(range(len(source))) - gone:
        assert kept.text[kept.position(position)] == source[position]
        assert kept.source(kept.position(position)) == position


@given(TEXTS)
def test_lines(text: str) -> None:
    index = LineIndex(text)
    lines = text.split("\n")
    assert [index.start(line) for line in range(len(lines))] == [
        len("\n".join(lines[:line])) + bool(line) for line in range(len(lines))
    ]
    assert index.start(len(lines)) == index.start(99) == len(text)
    for position in range(len(text) + 1):
        assert index.number(position) == text.count("\n", 0, position) + 1
