from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from localrag.errors import ReadError, SettingsError
from localrag.evaluate.datasets import EvaluationSet, find_sets, read_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HEADER = "query-id\tcorpus-id\tscore\n"


def make_set(
    home: Path,
    passages: Sequence[str] = ("a", "b", "c"),
    questions: Sequence[str] = ("q1", "q2", "q3"),
    splits: Mapping[str, str] | None = None,
) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    corpus = [{"_id": one, "title": f"Title {one}", "text": f"Text {one}"} for one in passages]
    queries = [{"_id": one, "text": f"Question {one}?", "metadata": {}} for one in questions]
    write_lines(home / "corpus.jsonl.gz", corpus)
    write_lines(home / "queries.jsonl", queries)
    for name, rows in (splits or {"qrels.tsv": "q1\ta\t1\nq2\tb\t1\n"}).items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(HEADER + rows, encoding="utf-8")
    return home.parent


def write_lines(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    content = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def ids(found: EvaluationSet) -> tuple[list[str], list[str]]:
    return [one.id for one in found.passages], [one.id for one in found.questions]


def test_a_set_is_read_whole(tmp_path: Path) -> None:
    found = read_set(make_set(tmp_path / "toy"), "toy")
    assert (found.name, found.split) == ("toy", "all")
    assert ids(found) == (["a", "b", "c"], ["q1", "q2"])
    assert found.passages[0].title == "Title a"
    assert found.passages[0].text == "Text a"
    assert found.questions[1].text == "Question q2?"
    assert found.judgements == {"q1": {"a": 1}, "q2": {"b": 1}}


def with_documents(home: Path, *texts: str) -> Path:
    """Return the folder of a set whose passages are parts of one file."""
    folder = make_set(home)
    parts = [
        {"_id": id_, "text": text, "metadata": {"doc": "d"}}
        for id_, text in zip("abc", texts, strict=True)
    ]
    write_lines(home / "corpus.jsonl.gz", parts)
    write_lines(home / "documents.jsonl.gz", [{"_id": "d", "text": "one two one two end"}])
    return folder


def test_passages_find_their_place_in_the_files(tmp_path: Path) -> None:
    folder = with_documents(tmp_path / "toy", "one two ", "one two ", "end")
    found = read_set(folder, "toy")
    assert found.documents == {"d": "one two one two end"}
    places = [(one.document, one.start, one.end) for one in found.passages]
    assert places == [("d", 0, 8), ("d", 8, 16), ("d", 16, 19)]
    assert read_set(make_set(tmp_path / "plain"), "plain").documents == {}


def test_a_passage_that_is_not_in_its_file_is_named(tmp_path: Path) -> None:
    folder = with_documents(tmp_path / "toy", "one two ", "two ", "end")
    with pytest.raises(ReadError, match="b is not at 8 of d"):
        read_set(folder, "toy")


def test_the_folder_itself_can_be_the_set(tmp_path: Path) -> None:
    make_set(tmp_path / "toy")
    assert read_set(tmp_path / "toy", ".").name == "toy"


def test_nested_sets_are_found(tmp_path: Path) -> None:
    make_set(tmp_path / "toy")
    make_set(tmp_path / "many" / "en")
    (tmp_path / "bare").mkdir()
    write_lines(tmp_path / "bare" / "corpus.jsonl", [])
    assert find_sets(tmp_path) == ["many/en", "toy"]
    assert read_set(tmp_path, "many/en").name == "many/en"


@pytest.mark.parametrize(
    ("splits", "expected"),
    [
        (("train", "dev", "test"), "test"),
        (("train", "valid", "dev"), "dev"),
        (("train", "valid"), "valid"),
        (("train", "trial"), "trial"),
        (("trial",), "trial"),
    ],
)
def test_the_evaluation_split_is_chosen(
    tmp_path: Path, splits: Sequence[str], expected: str
) -> None:
    files = {f"qrels_{split}.tsv": "q1\ta\t1\n" for split in splits}
    assert read_set(make_set(tmp_path / "toy", splits=files), "toy").split == expected


def test_training_questions_are_never_taken_by_default(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "toy", splits={"qrels_train.tsv": "q1\ta\t1\n"})
    with pytest.raises(SettingsError, match=r"name one of \['train'\]"):
        read_set(folder, "toy")
    assert read_set(folder, "toy", split="train").split == "train"


def test_judgements_may_lie_in_a_folder_as_beir_publishes_them(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "toy", splits={"qrels/test.tsv": "q3\tc\t2\n"})
    found = read_set(folder, "toy")
    assert (found.split, found.judgements) == ("test", {"q3": {"c": 2}})


def test_the_description_names_the_only_split(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "toy")
    (tmp_path / "toy" / "META.json").write_text('{"splits": {"dev": {}}}', encoding="utf-8")
    assert read_set(folder, "toy").split == "dev"
    (tmp_path / "toy" / "META.json").write_text('{"splits": {"dev": {}, "x": {}}}', "utf-8")
    assert read_set(folder, "toy").split == "all"


def test_passages_of_other_splits_are_left_out_where_splits_are_disjoint(tmp_path: Path) -> None:
    files = {"qrels_dev.tsv": "q1\ta\t1\n", "qrels_train.tsv": "q2\tb\t1\n"}
    folder = make_set(tmp_path / "toy", splits=files)
    assert ids(read_set(folder, "toy"))[0] == ["a", "c"]
    assert ids(read_set(folder, "toy", split="train"))[0] == ["b", "c"]
    assert ids(read_set(folder, "toy", passages="all"))[0] == ["a", "b", "c"]


def test_splits_that_share_a_passage_rank_the_whole_corpus(tmp_path: Path) -> None:
    files = {"qrels_test.tsv": "q1\ta\t1\n", "qrels_train.tsv": "q2\ta\t1\nq3\tb\t1\n"}
    assert ids(read_set(make_set(tmp_path / "toy", splits=files), "toy"))[0] == ["a", "b", "c"]


def test_questions_without_a_relevant_passage_are_left_out(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "toy", splits={"qrels.tsv": "q1\ta\t0\nq2\tb\t1\n\n"})
    assert ids(read_set(folder, "toy"))[1] == ["q2"]


def test_a_judgement_file_needs_no_header(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "toy")
    (tmp_path / "toy" / "qrels.tsv").write_text("q1\ta\t1\n", encoding="utf-8")
    assert read_set(folder, "toy").judgements == {"q1": {"a": 1}}


def test_a_sample_does_not_depend_on_the_order_of_the_file(tmp_path: Path) -> None:
    names = [f"q{number}" for number in range(100)]
    rows = {"qrels.tsv": "".join(f"{name}\ta\t1\n" for name in names)}
    forwards = read_set(make_set(tmp_path / "one", questions=names, splits=rows), "one")
    names.reverse()
    backwards = read_set(make_set(tmp_path / "two", questions=names, splits=rows), "two")
    assert forwards.sample(10).questions == backwards.sample(10).questions
    assert forwards.sample(10).questions == forwards.sample(20).questions[:10]
    assert forwards.sample(10).passages == forwards.passages
    assert len(forwards.sample(10).judgements) == 10
    assert len(forwards.sample(1000).questions) == 100


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("queries.jsonl", "{]", "queries.jsonl, line 1"),
        ("queries.jsonl", '{"_id": "q1"}', "expected an object with _id and text"),
        ("queries.jsonl", "[1]", "expected an object with _id and text"),
        ("qrels.tsv", "q1\ta\t1\nq1\ta", "qrels.tsv, line 2"),
        ("qrels.tsv", "q1\ta\tgood", "qrels.tsv, line 1"),
    ],
)
def test_a_line_that_cannot_be_understood_is_named(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    folder = make_set(tmp_path / "toy")
    (tmp_path / "toy" / name).write_text(content, encoding="utf-8")
    with pytest.raises(ReadError, match=message):
        read_set(folder, "toy")


def test_what_does_not_exist_is_named(tmp_path: Path) -> None:
    folder = make_set(tmp_path / "toy")
    with pytest.raises(SettingsError, match="no split 'nope'"):
        read_set(folder, "toy", split="nope")
    with pytest.raises(SettingsError, match="holds no judgements"):
        read_set(folder, "missing")
    with pytest.raises(SettingsError, match="choose one of"):
        read_set(folder, "toy", passages="some")  # type: ignore[arg-type]
    (tmp_path / "toy" / "corpus.jsonl.gz").unlink()
    with pytest.raises(SettingsError, match=r"no corpus\.jsonl"):
        read_set(folder, "toy")


@pytest.mark.parametrize(
    ("name", "split", "passages", "questions"),
    [
        ("scifact", "test", 5_183, 300),
        ("jaquad", "dev", 1_431, 3_939),
        ("xquad/en", "test", 240, 1_185),
        ("anthropic_codebase", "test", 737, 248),
        ("clapnq_dev", "dev", 597, 300),
        ("squad2_noanswer", "all", 320, 1_440),
    ],
)
def test_the_shared_sets_have_their_known_size(
    shared: Path, name: str, split: str, passages: int, questions: int
) -> None:
    found = read_set(shared / "data", name)
    assert found.split == split
    assert (len(found.passages), len(found.questions)) == (passages, questions)


def test_japanese_passages_of_the_training_half_stay_out(shared: Path) -> None:
    found = read_set(shared / "data", "jaquad")
    assert {passage.id[:3] for passage in found.passages} == {"jqd"}
    assert len(read_set(shared / "data", "jaquad", passages="all").passages) == 11_144
