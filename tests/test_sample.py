"""The demo documents and the questions about them agree, so that other tests can rely on them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parent
SAMPLE = TESTS.parent / "sample"
OLD_ENCODING = "ja/用語と窓口.txt"


class SampleQuestion(NamedTuple):
    question: str
    lang: str
    document: str | None
    heading: str | None
    answer_phrase: str | None


def sample_questions() -> list[SampleQuestion]:
    lines = (TESTS / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [SampleQuestion(**json.loads(line)) for line in lines]


def sample_text(document: str) -> str:
    encoding = "shift_jis" if document == OLD_ENCODING else "utf-8"
    return (SAMPLE / document).read_text(encoding=encoding)


ANSWERED = [question for question in sample_questions() if question.document]


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.question)
def test_the_answer_stands_in_the_named_document(question: SampleQuestion) -> None:
    assert question.document is not None
    assert question.answer_phrase is not None
    text = sample_text(question.document)
    assert question.answer_phrase in text
    if question.heading is not None:
        headings = [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]
        assert question.heading in headings


def test_questions_cover_both_languages_and_the_unanswerable() -> None:
    counts = Counter(
        (question.lang, question.document is not None) for question in sample_questions()
    )
    assert counts["en", True] >= 12
    assert counts["ja", True] >= 8
    assert counts["en", False] + counts["ja", False] >= 4


def test_the_old_encodings_survived_the_checkout() -> None:
    assert b"\r\n" in (SAMPLE / "support/incident-2024-02.txt").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        (SAMPLE / OLD_ENCODING).read_text(encoding="utf-8")
