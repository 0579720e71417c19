"""What the cross-encoder is trained on beside the data sets: code and tables."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from localrag.inference.fake import FakeEmbedder
from localrag.inference.load import load_embedder
from models.training import code_questions
from models.training.code_dress import DRESSES, Dress
from models.training.code_files import read_source, source_paths, without_lines
from models.training.code_questions import read_code
from models.training.table_questions import read_tables

if TYPE_CHECKING:
    from pathlib import Path

# The note to oneself in it is there because no question may be made of one.
SOURCE = '''"""Keeps small things in order. More of it here."""

LONGEST_NAME = 40


class ShelfLabel(Label):
    """The label that is glued to a shelf."""

    def print_all(self, copies=2):
        """Print the label on the first printer found."""
        # Paper jams beyond nine
        # pages of one label.
        if copies > 9:
            raise ValueError("cannot print so many copies")
        # TODO: find out which printer is nearest
        return self.printer.run(copies)
'''


def test_what_can_be_asked_about_a_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "shelf.py"
    path.write_text(SOURCE, encoding="utf-8")
    source = read_source(path, "shelf.py")
    assert source is not None
    assert source.summary == "Keeps small things in order"
    assert [(one.qualified, one.kind, one.parents) for one in source.definitions] == [
        ("ShelfLabel", "class", ("Label",)),
        ("ShelfLabel.print_all", "method", ()),
    ]
    assert source.definitions[1].sentence == "Print the label on the first printer found"
    assert {detail.kind: detail.facts for detail in source.details} == {
        "error": {
            "error": "ValueError",
            "name": "ShelfLabel.print_all",
            "message": "cannot print so many copies",
        },
        "default": {"parameter": "copies", "name": "ShelfLabel.print_all"},
        "constant": {"name": "LONGEST_NAME"},
        "step": {
            "name": "ShelfLabel.print_all",
            "sentence": "Paper jams beyond nine pages of one label",
        },
    }
    step = next(detail for detail in source.details if detail.kind == "step")
    assert source.lines[step.line - 1].strip() == "if copies > 9:"
    assert [source.lines[first - 1 : last] for first, last in source.comments] == [
        ("        # Paper jams beyond nine", "        # pages of one label.")
    ]
    assert source.lines[source.definitions[1].returns - 1].endswith(
        "return self.printer.run(copies)"
    )
    assert source.definitions[0].returns == 0


def test_without_docstrings_a_file_still_parses_and_lines_are_known(tmp_path: Path) -> None:
    path = tmp_path / "shelf.py"
    path.write_text(SOURCE, encoding="utf-8")
    source = read_source(path, "shelf.py")
    assert source is not None
    kept, numbers = without_lines(source.lines, source.docstrings)
    ast.parse("\n".join(kept))
    assert '"""' not in "\n".join(kept)
    for number, line in enumerate(source.lines, start=1):
        if '"""' not in line:
            assert kept[numbers[number] - 1] == line


def test_a_file_that_is_not_python_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def (:\n", encoding="utf-8")
    assert read_source(path, "broken.py") is None


@pytest.mark.parametrize("dress", DRESSES, ids=lambda dress: dress.suffix)
def test_a_dress_changes_names_in_question_and_code_alike(dress: Dress) -> None:
    name = dress.names("print_all")
    code = dress.code("class Shelf(Box):\n    def print_all(self):\n        return None\n")
    assert name in code
    assert dress.klass.format("Shelf") in code
    assert dress.function.format(f"{name}({dress.own})") in code
    assert dress.none in code
    assert dress.path("shelf.py") == f"shelf{dress.suffix}"


@pytest.mark.models
def test_questions_about_code_are_answered_by_the_chunk_that_defines() -> None:
    found = read_code(1, 20, load_embedder().counter, most_passages=40)
    assert len(found.questions) == 20
    for question in found.questions:
        assert set(question.relevant) <= set(found.passages)
        assert question.relevant
        assert not set(question.relevant) & set(question.neutral)
    assert len(source_paths()) > 100


def test_what_is_asked_about_a_step_is_not_read_in_a_comment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(code_questions, "WITHOUT_DOCSTRINGS", 1)
    monkeypatch.setattr(code_questions, "DRESSED", 0)
    monkeypatch.setattr(code_questions, "BLIND", 0)
    found = read_code(1, 1_000, FakeEmbedder().counter, most_passages=400)
    steps = [one for one in found.questions if re.match(r"Where does .* do this: ", one.text)]
    assert steps
    for question in steps:
        said = question.text.partition(": ")[2]
        assert not any(said in passage.text for passage in found.passages.values())


def test_the_relevant_rows_hold_the_key_and_nobody_else_does() -> None:
    found = read_tables(1, 200)
    assert len(found.questions) == 200
    for question in found.questions:
        assert len(question.relevant) == 1
        assert found.passages[question.relevant[0]].text
    texts = [passage.text for passage in found.passages.values()]
    assert sum(text.startswith("|") for text in texts) > 50
    assert sum(": " in text and "|" not in text for text in texts) > 50
