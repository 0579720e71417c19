"""Texts that say the same take one slot, and nothing else does."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import add_document, chunks_of, open_base, unit, write_files

from localrag.inference.fake import FakeEmbedder
from localrag.records import Allowed, Candidate
from localrag.search.copies import MOST_PLACES, Slots
from localrag.store.copies import join_group
from localrag.store.database import Database
from localrag.store.vector_forms import stored_form
from localrag.store.vectors import search_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import Hit

NOTICE = (
    "This message is confidential and meant for the person it is addressed to; whoever receives it "
    "by mistake is asked to delete it, to tell the sender, and to keep no copy of it anywhere."
)
OTHER = "The harbour is dredged in spring, when the boats are still on land and the quay is empty."
PRICES = (
    "Each site costs 1,200 euros a year with travel included, and a visit in an emergency costs "
    "300 euros in addition, whatever the hour of the day, with the parts charged at cost price."
)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return tmp_path / "docs"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_base(tmp_path / "base.db") as opened:
        yield opened


def sync(kb: KnowledgeBase, docs: Path, files: dict[str, str]) -> None:
    """Write files, each a day newer than the one before, and index the folder."""
    write_files(docs, files)
    for day, name in enumerate(files):
        os.utime(docs / name, (86_400 * (day + 1),) * 2)
    kb.sync(docs)


def shown(hit: Hit) -> tuple[str, list[str]]:
    """Return the file names of a hit: its own, and those of the other places."""
    return name(hit.document), [name(place.document) for place in hit.also_in]


def name(document: str) -> str:
    return document.rpartition("/")[2]


def texts(kb: KnowledgeBase, query: str, **options: Any) -> list[tuple[str, list[str]]]:
    return [shown(hit) for hit in kb.search(query, **options)]


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_a_file_and_its_copies_are_one_hit(kb: KnowledgeBase, docs: Path, mode: str) -> None:
    text = f"# Harbour\n\n{OTHER}\n"
    sync(kb, docs, {"one.md": text, "two.md": text, "three.md": text})
    (hit,) = kb.search("harbour dredged", mode=mode)  # type: ignore[arg-type]
    assert shown(hit) == ("three.md", ["two.md", "one.md"])
    assert hit.also_in_count == 2
    place = hit.also_in[0]
    assert (place.title, place.heading, place.line) == ("Harbour", ("Harbour",), 1)
    assert place.citation.endswith("two.md:1 > Harbour")
    assert (place.start, place.end) == (hit.start, hit.end)
    assert len(kb.search("harbour dredged", copies="apart")) == 3


def test_the_newest_file_is_in_front_whenever_it_was_indexed(kb: KnowledgeBase, docs: Path) -> None:
    text = f"# Harbour\n\n{OTHER}\n"
    sync(kb, docs, {"old.md": text, "new.md": text})
    os.utime(docs / "old.md", (86_400 * 9,) * 2)
    kb.sync(docs)
    assert texts(kb, "harbour") == [("old.md", ["new.md"])]


def test_the_other_places_go_with_their_files(kb: KnowledgeBase, docs: Path) -> None:
    text = f"# Harbour\n\n{OTHER}\n"
    sync(kb, docs, {"one.md": text, "two.md": text, "three.md": text})
    (docs / "three.md").unlink()
    kb.sync(docs)
    assert texts(kb, "harbour") == [("two.md", ["one.md"])]
    (docs / "one.md").write_text("# Else\n\nNothing of the kind.\n", encoding="utf-8")
    kb.sync(docs)
    assert texts(kb, "harbour dredged", mode="lexical") == [("two.md", [])]
    (docs / "two.md").unlink()
    kb.sync(docs)
    assert texts(kb, "harbour", mode="lexical") == []
    connection = kb.database.connection
    assert connection.execute("SELECT count(*) FROM chunk_copies").get == 0
    assert connection.execute("SELECT count(DISTINCT chunk_id) FROM chunk_keys").get == 1
    assert kb.verify() == []


def test_a_changed_file_finds_its_new_group(kb: KnowledgeBase, docs: Path) -> None:
    sync(kb, docs, {"a.md": f"# A\n\n{OTHER}\n", "b.md": f"# B\n\n{NOTICE}\n"})
    assert all(hit.also_in_count == 0 for hit in kb.search("harbour message"))
    write_files(docs, {"b.md": f"# A\n\n{OTHER}\n"})
    os.utime(docs / "b.md", (86_400 * 9,) * 2)
    kb.sync(docs)
    assert texts(kb, "harbour") == [("b.md", ["a.md"])]


def test_each_place_keeps_its_own_neighbours(kb: KnowledgeBase, docs: Path) -> None:
    def letter(opening: str) -> str:
        return f"# Letter\n\n{opening} {'word ' * 280}\n\n## Notice\n\n{NOTICE}\n"

    sync(kb, docs, {"a.md": letter("Alpha"), "b.md": letter("Beta")})
    (hit,) = kb.search("confidential message", mode="lexical", context=1)
    assert shown(hit) == ("b.md", ["a.md"])
    assert "Beta" in hit.text
    assert "Alpha" not in hit.text
    (other,) = kb.search("confidential message", mode="lexical", context=1, path="a.md")
    assert "Alpha" in other.text


def test_a_filter_decides_which_places_there_are(kb: KnowledgeBase, docs: Path) -> None:
    text = f"# Harbour\n\n{OTHER}\n"
    sync(kb, docs, {"in/a.md": text, "in/b.md": text, "out/c.md": text, "in/z.md": "# Z\n\nZ.\n"})
    assert texts(kb, "harbour", mode="lexical", path="in/**") == [("b.md", ["a.md"])]
    assert texts(kb, "harbour", mode="lexical", path="in/a.md") == [("a.md", [])]
    kb.sync(docs / "out", labels=["secret"])
    assert texts(kb, "harbour", mode="lexical", labels=["public"]) == [("b.md", ["a.md"])]
    (hit,) = kb.search("harbour", mode="lexical", labels=["secret"])
    assert (shown(hit), hit.also_in_count) == (("c.md", ["b.md", "a.md"]), 2)


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_a_notice_in_every_file_takes_one_slot(kb: KnowledgeBase, docs: Path, mode: str) -> None:
    letters = {
        f"{number}.md": f"# Letter {number}\n\n{'filler ' * 290}\n\n## Notice\n\n{NOTICE}\n"
        for number in range(130)
    }
    guide = {"guide.md": "# Guide\n\nWhoever writes a message marks it as confidential.\n"}
    sync(kb, docs, letters | guide)
    result = kb.search("confidential message", mode=mode, limit=60)  # type: ignore[arg-type]
    notices = [hit for hit in result if "delete it" in hit.text]
    assert len(notices) == 1
    assert notices[0].also_in_count == 129
    assert len(notices[0].also_in) == MOST_PLACES
    assert any(hit.title == "Guide" for hit in result)
    stages = {stage.name: stage for stage in result.trace.stages}
    assert stages["2c. copies"].note.endswith("other places as well")
    assert int(stages["4. rerank"].note.split()[1]) == len(stages["3. fuse"].survivors[:60])


def test_the_place_that_is_asked_for_is_in_front(kb: KnowledgeBase, docs: Path) -> None:
    body = f"\n\n{'filler ' * 290}\n\n## Warranty\n\n{NOTICE}\n"
    sync(kb, docs, {f"{kind}.md": f"# Kettle {kind}{body}" for kind in ("KX-1234", "KX-2200")})
    for kind, other in (("KX-1234", "KX-2200"), ("KX-2200", "KX-1234")):
        hits = kb.search(f"message confidential kettle {kind}")
        (notice,) = [hit for hit in hits if "delete it" in hit.text]
        assert shown(notice) == (f"{kind}.md", [f"{other}.md"])


def test_a_few_words_under_other_headings_are_no_copies(kb: KnowledgeBase, docs: Path) -> None:
    sync(
        kb,
        docs,
        {f"{kind}.md": f"# Kettle {kind}\n\nIt costs 20 euros.\n" for kind in ("one", "two")},
    )
    assert sorted(texts(kb, "costs euros")) == [("one.md", []), ("two.md", [])]


def test_other_wording_is_one_hit_with_the_newest_in_front(kb: KnowledgeBase, docs: Path) -> None:
    new = OTHER.replace("still", "kept").replace("The harbour", "This harbour")
    old_text = f"# Harbour\n\n{OTHER} {NOTICE}\n"
    sync(kb, docs, {"old.md": old_text, "new.md": f"# Harbour\n\n{new} {NOTICE}\n"})
    assert texts(kb, "harbour dredged still") == [("new.md", ["old.md"])]


@pytest.mark.parametrize(
    ("old", "new"),
    [("1,200", "1,300"), ("euros", "dollars"), ("included", "not included")],
)
def test_price_lists_that_differ_in_one_thing_stay_apart(
    kb: KnowledgeBase, docs: Path, old: str, new: str
) -> None:
    first = f"# Prices\n\n{PRICES.replace('euros', 'Euros')}\n"
    second = first.replace(old, new).replace("Euros", "Dollars" if old == "euros" else "Euros", 1)
    sync(kb, docs, {"2023.md": first, "2024.md": second})
    assert sorted(texts(kb, "site costs year")) == [("2023.md", []), ("2024.md", [])]
    assert texts(kb, "site costs year", copies="versions") == [("2024.md", ["2023.md"])]


def test_other_words_in_a_title_make_another_text(kb: KnowledgeBase, docs: Path) -> None:
    for kind in ("totalis", "areata"):
        text = f"---\ntitle: alopecia {kind}\n---\n\nThe form {kind} is rare. {NOTICE}\n"
        write_files(docs, {f"{kind}.md": text})
    kb.sync(docs)
    assert [hit.also_in_count for hit in kb.search("rare form of alopecia")] == [0, 0]


def test_tables_that_differ_in_one_row_stay_apart(kb: KnowledgeBase, docs: Path) -> None:
    rows = "".join(f"| item{chr(97 + n)} | {n}.50 |\n" for n in range(20))
    table = f"# Prices\n\n| name | price |\n|---|---|\n{rows}"
    sync(kb, docs, {"a.md": table, "b.md": table.replace("| 7.50", "| 7.60")})
    assert len(kb.search("item price", mode="vector")) == 2
    assert len(kb.search("item price", mode="vector", copies="versions")) == 1


def test_copies_within_one_document_are_one_hit(kb: KnowledgeBase, docs: Path) -> None:
    filler = "filler " * 280
    text = f"# L\n\n## Notice\n\n{NOTICE}\n\n## B\n\n{filler}\n\n## Notice\n\n{NOTICE}\n"
    sync(kb, docs, {"l.md": text})
    hits = [hit for hit in kb.search("confidential message") if "delete it" in hit.text]
    assert [(hit.also_in_count, len(hit.also_in)) for hit in hits] == [(1, 1)]


def test_a_base_without_copies_has_no_stage_for_them(kb: KnowledgeBase, docs: Path) -> None:
    sync(kb, docs, {"a.md": f"# A\n\n{OTHER}\n"})
    assert "2c. copies" not in [stage.name for stage in kb.search("harbour").trace.stages]


def test_a_search_may_meet_no_copies(kb: KnowledgeBase, docs: Path) -> None:
    text = f"# Harbour\n\n{OTHER}\n"
    sync(kb, docs, {"one.md": text, "two.md": text, "other.md": "# Doors\n\nDoors stay shut.\n"})
    stages = kb.search("doors", mode="lexical").trace.stages
    assert [stage.note for stage in stages if stage.name == "2c. copies"] == ["no copies"]


def test_an_answer_reads_a_text_once(kb: KnowledgeBase, docs: Path) -> None:
    text = f"# Harbour\n\n{OTHER}\n"
    sync(kb, docs, {"one.md": text, "two.md": text})
    answer = kb.ask("When is the harbour dredged in spring?")
    assert [name(one.document) for one in answer.citations] == ["two.md"]


# The loop that fills the slots


@settings(max_examples=50)
@given(
    groups=st.lists(st.integers(0, 30), min_size=1, max_size=300),
    k=st.integers(1, 40),
)
def test_slots_are_the_best_of_each_group(
    tmp_path_factory: pytest.TempPathFactory, groups: list[int], k: int
) -> None:
    database = Database(tmp_path_factory.mktemp("slots") / "base.db")
    ids = add_document(database, "/a.md", chunks_of([f"text {one}" for one in groups]))
    with database.atomic() as connection:
        first: dict[int, int] = {}
        for id_, group in zip(ids, groups, strict=True):
            if group and group in first:
                join_group(connection, id_, first[group], is_copy=True)
            first.setdefault(group, id_)
    asked: list[int] = []

    def search(count: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
        asked.append(count)
        within = ids if allowed is None else [id_ for id_ in ids if id_ in json.loads(allowed.ids)]
        return tuple(Candidate(id_, 1.0, rank) for rank, id_ in enumerate(within[:count], start=1))

    found = Slots(database.connection, "copy_group").fill(search, k, None)
    # Group 0 is no group: its chunks stand alone.
    best = [
        id_
        for place, id_ in enumerate(ids)
        if not groups[place] or groups[place] not in groups[:place]
    ]
    assert [one.chunk_id for one in found] == best[:k]
    assert [one.rank for one in found] == list(range(1, len(found) + 1))
    assert asked == [k * 4**step for step in range(len(asked))]
    database.close()


def test_more_copies_than_vec0_returns_do_not_starve_a_search(tmp_path: Path) -> None:
    database = Database(tmp_path / "base.db")
    many = 4_200
    ids = add_document(database, "/a.md", chunks_of(["same"] * many), [unit(1.0)] * many)
    others = add_document(
        database, "/b.md", chunks_of(["b", "c"]), [unit(1.0, 1.0), unit(1.0, 2.0)]
    )
    with database.atomic() as connection:
        for id_ in ids[1:]:
            join_group(connection, id_, ids[0], is_copy=True)
    found = Slots(database.connection, "copy_group").fill(
        lambda k, allowed: search_vectors(database.connection, unit(1.0), k, allowed), 3, None
    )
    assert found[0].chunk_id in ids
    assert [one.chunk_id for one in found[1:]] == others
    database.close()


def test_retrieval_counts_a_group_once_as_brute_force_does(kb: KnowledgeBase, docs: Path) -> None:
    files = {
        f"{number}.md": f"# Page\n\n{' '.join(f'w{number % 25}x{place}' for place in range(25))}\n"
        for number in range(100)
    }
    sync(kb, docs, files)
    result = kb.search("w3x1 w4x2 w5x3", mode="vector", rerank=False, limit=25)
    assert [hit.also_in_count for hit in result] == [3] * 25
    query = FakeEmbedder().embed_query("w3x1 w4x2 w5x3")
    distinct = {
        str(text): stored_form(kb.database.connection)[0].unit(bytes(vector)) @ query
        for text, vector in kb.database.connection.execute(
            "SELECT text, embedding FROM chunks JOIN chunk_vectors ON chunk_id = id"
        )
    }
    scores = [one.score for one in result.trace.stages[1].survivors]
    assert scores == pytest.approx(sorted(map(float, distinct.values()), reverse=True), abs=1e-4)
