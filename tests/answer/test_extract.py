from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import ScriptedReranker

from localrag.answer.extract import CLOSE, NOT_FOUND, Extract, compose
from localrag.answer.statements import statements_of
from localrag.records import Citation, Passage, SearchState, StoredChunk
from localrag.search.merge import merge_text

TEXT = "Keys are rotated monthly. Locks are not.\nOil the locks.\n\nDoors stay shut. Windows too."


def chunk(
    ordinal: int, start: int, end: int, *, document: str = TEXT, line: int | None = 10
) -> StoredChunk:
    """Return a chunk of `document`; its first line is line `line` of a longer file."""
    return StoredChunk(
        id=100 + ordinal,
        document_id=1,
        uri="/notes/keys.md",
        title="Keys",
        ordinal=ordinal,
        kind="paragraph",
        text=document[start:end],
        preamble="",
        context="Keys > Rotation",
        headings=("Rotation",),
        start=start,
        end=end,
        page=None if line is not None else 3,
        lines=() if line is None else ((start, line + document.count("\n", 0, start)),),
        tokens=10,
        section_id=1,
        previous_id=None,
        next_id=None,
    )


def passage(*chunks: StoredChunk, relevance: float | None = 0.9) -> Passage:
    return Passage(chunks, (chunks[0].id,), relevance, merge_text(chunks))


def state(*passages: Passage) -> SearchState:
    return SearchState(query="the question", queries=("rewritten",), passages=passages)


def extract(score: dict[str, float], *, limit: int = 3, needed: float = 0.5) -> Extract:
    """Return the stage with a reranker that gives a sentence the score of the word in it."""

    def relevance(text: str) -> float:
        return max((value for word, value in score.items() if word in text), default=0.0)

    return Extract(ScriptedReranker(relevance), min_relevance=needed, limit=limit)


WHOLE = chunk(0, 0, len(TEXT))


# Finding


def test_the_best_sentence_is_the_answer() -> None:
    after = extract({"monthly": 0.9, "Oil": 0.3})(state(passage(WHOLE)))
    [only] = after.sentences
    assert only.text == "Keys are rotated monthly."
    assert only.relevance == pytest.approx(0.9)
    assert [(c.chunk_id, c.rank) for c in after.survivors] == [(100, 1)]
    assert after.note == ""


def test_sentences_that_come_close_are_given_too_best_first() -> None:
    scores = {"monthly": 0.8, "Oil": 1.0, "Windows": 0.79}
    after = extract(scores)(state(passage(WHOLE)))
    assert [(one.number, one.text) for one in after.sentences] == [
        (1, "Oil the locks."),
        (2, "Keys are rotated monthly."),
    ]
    assert CLOSE == 0.8


def test_an_answer_has_at_most_the_wanted_number_of_sentences() -> None:
    after = extract({"": 0.9}, limit=2)(state(passage(WHOLE)))
    assert [one.number for one in after.sentences] == [1, 2]


def test_the_question_is_the_one_that_was_typed_and_sentences_come_with_their_headings() -> None:
    stage = extract({"": 0.9})
    stage(state(passage(WHOLE)))
    assert isinstance(stage.reranker, ScriptedReranker)
    [(question, texts)] = stage.reranker.asked
    assert question == "the question"
    assert texts[0] == "Keys > Rotation\nKeys are rotated monthly."


def test_a_sentence_counts_alone_and_after_the_one_before_half_and_half() -> None:
    def relevance(text: str) -> float:
        if "Locks are not." not in text:
            return 0.1
        return 0.9 if "monthly" in text else 0.5

    stage = Extract(ScriptedReranker(relevance), min_relevance=0.5, limit=1)
    [best] = stage(state(passage(WHOLE))).sentences
    assert best.text == "Locks are not."
    # The mean of the log-odds of .5 and .9: odds of 1 and 9 make odds of 3.
    assert best.relevance == pytest.approx(0.75)


def test_what_only_follows_the_best_sentence_is_not_given() -> None:
    def relevance(text: str) -> float:
        return 0.99 if "monthly" in text else 0.2

    [only] = Extract(ScriptedReranker(relevance), min_relevance=0.5, limit=3)(
        state(passage(WHOLE))
    ).sentences
    assert only.text == "Keys are rotated monthly."


# Not finding


def test_below_the_threshold_nothing_was_found() -> None:
    stage = extract({"": 0.99})
    after = stage(state(passage(WHOLE, relevance=0.49)))
    assert (after.sentences, after.survivors) == ((), ())
    assert after.note == "not found: best passage 0.49, needed 0.50"
    assert isinstance(stage.reranker, ScriptedReranker)
    assert stage.reranker.asked == []


def test_the_threshold_itself_is_enough() -> None:
    assert extract({"": 0.9})(state(passage(WHOLE, relevance=0.5))).sentences


def test_one_passage_above_the_threshold_is_enough() -> None:
    other = passage(chunk(1, 0, 25), relevance=0.1)
    assert extract({"": 0.9})(state(other, passage(WHOLE, relevance=0.6))).sentences


def test_no_passages_no_answer() -> None:
    after = extract({"": 0.9})(state())
    assert after.sentences == ()
    assert after.note.startswith("not found")


def test_headings_alone_are_no_answer() -> None:
    heading = "# Keys"
    after = extract({"": 0.9})(state(passage(chunk(0, 0, len(heading), document=heading))))
    assert after.sentences == ()
    assert after.note.startswith("not found: no passage holds a sentence")


def test_without_reranked_passages_the_sentence_itself_must_reach_the_threshold() -> None:
    unread = state(passage(WHOLE, relevance=None))
    assert [one.number for one in extract({"monthly": 0.5})(unread).sentences] == [1]
    after = extract({"monthly": 0.49})(unread)
    assert after.sentences == ()
    assert after.note == "not found: best sentence 0.49, needed 0.50"


# Citing


def test_a_citation_says_where_the_sentence_stands() -> None:
    after = extract({"Doors": 0.9})(state(passage(WHOLE)))
    [only] = after.sentences
    start = TEXT.index("Doors")
    assert only.relevance == pytest.approx(0.9)
    assert replace(only, relevance=0.9) == Citation(
        number=1,
        document="/notes/keys.md",
        title="Keys",
        heading=("Rotation",),
        page=None,
        line=13,
        start=start,
        end=start + len("Doors stay shut."),
        text="Doors stay shut.",
        shown="Doors stay shut.",
        chunk_id=100,
        relevance=0.9,
    )
    assert only.citation == "/notes/keys.md:13 > Rotation"


def test_a_source_without_lines_is_cited_without_one() -> None:
    after = extract({"Doors": 0.9})(state(passage(chunk(0, 0, len(TEXT), line=None))))
    assert after.sentences[0].line is None
    assert after.sentences[0].citation == "/notes/keys.md p. 3 > Rotation"


def test_a_sentence_in_the_overlap_of_two_chunks_is_read_once() -> None:
    middle = TEXT.index("Oil")
    first = chunk(0, 0, middle + len("Oil the locks."))
    second = chunk(1, middle, len(TEXT))
    found = statements_of(passage(first, second))
    assert [sentence.text for sentence in found] == [
        "Keys are rotated monthly.",
        "Locks are not.",
        "Oil the locks.",
        "Doors stay shut.",
        "Windows too.",
    ]
    assert [sentence.chunk.id for sentence in found] == [100, 100, 100, 101, 101]


WORDS = st.lists(st.sampled_from(["Keys", "turn", "日本", "locks"]), min_size=1, max_size=4)
SENTENCES = st.lists(WORDS.map(lambda words: " ".join(words) + "."), min_size=1, max_size=6)


@settings(deadline=None)
@given(SENTENCES, st.integers(1, 5))
def test_citations_slice_the_document_exactly(sentences: list[str], cut: int) -> None:
    document = " ".join(sentences)
    middle = min(cut, len(sentences) - 1)
    at = len(" ".join(sentences[:middle])) + (1 if middle else 0)
    chunks = [chunk(0, 0, len(document), document=document)]
    if 0 < at < len(document):
        chunks = [
            chunk(0, 0, at, document=document),
            chunk(1, max(0, at - 8), len(document), document=document),
        ]
    after = extract({"": 0.9}, limit=20)(state(passage(*chunks)))
    spans = [(one.start, one.end) for one in after.sentences]
    assert [document[start:end] for start, end in spans] == [o.text for o in after.sentences]
    ordered = sorted(spans)
    assert all(first[1] <= second[0] for first, second in pairwise(ordered))
    assert [one.number for one in after.sentences] == list(range(1, len(spans) + 1))


# Composing


def test_the_answer_is_one_numbered_sentence_per_line() -> None:
    after = extract({"": 0.9}, limit=2)(state(passage(WHOLE)))
    assert compose(after.sentences) == "Keys are rotated monthly. [1]\nLocks are not. [2]"


def test_a_sentence_over_two_lines_is_composed_on_one() -> None:
    document = "Keys are\n  rotated."
    whole = passage(chunk(0, 0, len(document), document=document))
    after = extract({"": 0.9})(state(whole))
    assert after.sentences[0].text == document
    assert compose(after.sentences) == "Keys are rotated. [1]"


def test_no_sentences_say_so() -> None:
    assert compose(()) == NOT_FOUND
