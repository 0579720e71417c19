"""The questions that were written for training are read with the passages that answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from localrag.inference.load import load_embedder
from models.training.written_questions import (
    WRITTEN,
    WRITTEN_SETS,
    read_documents,
    read_written,
    set_of,
)

if TYPE_CHECKING:
    from pathlib import Path

PROSE = """# Boiler manual
lang: en
## Lighting
Press the button for five seconds.

```sh
# no heading
? no question
```
? How long do I hold it down?
= for five seconds
## Draining
Open the valve at the bottom, and wait
until nothing runs.
? どうやって水を抜く？
= and wait until nothing runs
? What does nobody say?
= it is not there
"""

CODE = """@ src/boiler.py
# The heater.
def light(seconds=5):
    return press(seconds)
? How long is it pressed?
= seconds=5
@ src/valve.py
def drain():
    valve.open()
? What opens?
= valve.open()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(PROSE, encoding="utf-8")
    (tmp_path / "b.txt").write_text(CODE, encoding="utf-8")
    return tmp_path


def test_documents_are_read_without_their_questions(folder: Path) -> None:
    (boiler,) = read_documents(folder / "a.txt")
    assert boiler.name == "a-0.md"
    assert boiler.text.startswith("# Boiler manual\n## Lighting\nPress")
    assert "? no question" in boiler.text
    assert "five seconds?" not in boiler.text
    assert [one.text for one in boiler.questions][:2] == [
        "How long do I hold it down?",
        "どうやって水を抜く？",
    ]
    assert [one.name for one in read_documents(folder / "b.txt")] == [
        "src/boiler.py",
        "src/valve.py",
    ]


@pytest.mark.parametrize("text", ["? too early\n", "# Title\n= too early\n"])
def test_what_has_no_place_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.txt, line \d"):
        read_documents(path)


@pytest.mark.models
def test_the_chunk_with_the_answer_is_relevant(folder: Path) -> None:
    counter = load_embedder().counter
    prose = read_written("written", 1, counter, folder)
    assert [(one.text, one.answers) for one in prose.questions] == [
        ("How long do I hold it down?", ("for five seconds",)),
        ("どうやって水を抜く？", ("and wait\nuntil nothing runs",)),
    ]
    for question in prose.questions:
        (only,) = question.relevant
        assert question.answers[0] in prose.passages[only].text
        assert "Boiler manual" in prose.passages[only].title
    code = read_written("written_code", 1, counter, folder)
    assert {one.text: one.answers for one in code.questions} == {
        "How long is it pressed?": (),
        "What opens?": (),
    }


@pytest.mark.parametrize("name", WRITTEN_SETS)
@pytest.mark.models
def test_nearly_every_written_question_has_its_passage(name: str) -> None:
    own = [
        one
        for path in sorted(WRITTEN.glob("*.txt"))
        for one in read_documents(path)
        if set_of(path, one) == name
    ]
    asked = sum(len(document.questions) for document in own)
    found = read_written(name, 1, load_embedder().counter)
    assert len(found.questions) > 0.98 * asked > 1_000
    assert all(one.relevant for one in found.questions)
