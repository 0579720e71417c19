"""Every command as a person and as a program sees it: output, JSON, exit codes."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from click.testing import CliRunner
from command_line import FILES, QUESTION, UNANSWERED, parsed, run
from support import open_base, write_files

from localrag import __version__, knowledge_base, opening
from localrag.cli import doctor as doctor_module
from localrag.cli import main as main_module
from localrag.cli import report as report_module
from localrag.cli.main import cli, main
from localrag.cli.options import seconds
from localrag.errors import BusyError, LocalragError, ModelError
from localrag.inference.fake import FakeEmbedder
from localrag.records import Progress
from localrag.store.migrations import FORMAT_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def here(workplace: Path) -> Path:
    """Work in a folder that holds docs/ and nothing else."""
    write_files(workplace / "docs", FILES)
    return workplace


@pytest.fixture
def base(here: Path) -> Path:
    """Return the default knowledge base, with docs/ in it."""
    with open_base(here / "localrag.db") as kb:
        kb.sync(here / "docs")
    return here / "localrag.db"


# The group


def test_help_lists_the_commands_in_the_order_of_their_use() -> None:
    text = run("--help").stdout
    names = list(cli.commands)
    lines = [line.split()[0] for line in text.split("Commands:")[1].splitlines() if line.strip()]
    assert [name for name in lines if name in names] == names
    assert "Exit codes: 0 done, 1 error, 2 wrong call, 3 nothing found, 130 stopped." in text


@pytest.mark.parametrize("command", sorted(set(cli.commands) - {"models", "glossary"}))
def test_every_command_explains_itself(command: str) -> None:
    text = run(command, "-h").stdout
    assert "--db" in text
    assert "--json" in text
    assert "LOCALRAG_DB" in text


def test_the_package_is_the_command_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["localrag", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("localrag", run_name="__main__")
    assert ended.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_the_version_is_the_packages() -> None:
    assert run("--version").stdout.strip() == f"localrag, version {__version__}"


@pytest.mark.parametrize(
    "call",
    [
        ["unknown"],
        ["search"],
        ["index"],
        ["search", "x", "--mode", "magic"],
        ["search", "x", "-n0"],
        ["search", "x", "--budget", "soon"],
        ["ask", "x", "--budget", "0ms"],
    ],
)
def test_a_wrong_call_exits_with_2(call: list[str]) -> None:
    assert "Usage:" in run(*call, code=2).stderr


@pytest.mark.parametrize(
    "call", [["search", "keys"], ["ask", "keys"], ["status"], ["trace"], ["search", "k", "--json"]]
)
def test_a_missing_file_is_not_made_but_explained(here: Path, call: list[str]) -> None:
    result = run(*call, "--db", "none.db", code=1)
    assert result.stdout == ""
    assert result.stderr == (
        "Error: none.db does not exist. Make it first: localrag index FOLDER --db none.db\n"
    )
    assert not (here / "none.db").exists()


def test_the_file_can_be_named_by_the_environment(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.rename(base.with_name("other.db"))
    monkeypatch.setenv("LOCALRAG_DB", "other.db")
    assert "3" in run("status").stdout


def test_another_programs_file_is_an_error(here: Path) -> None:
    connection = apsw.Connection(str(here / "photos.db"))
    connection.execute("CREATE TABLE photos(id)")
    connection.close()
    assert "another program" in run("search", "keys", "--db", "photos.db", code=1).stderr


def test_ctrl_c_exits_with_130(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(knowledge_base.KnowledgeBase, "search", interrupt)
    assert run("search", "keys", "--db", str(base), code=130).stderr == "Stopped.\n"


def test_a_file_that_may_not_be_written_is_opened_read_only(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = base.read_bytes()
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert parsed("search", "keys")["trace_id"] is None
    assert base.read_bytes() == before


def test_output_is_utf_8_whatever_the_locale(
    base: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    del base
    reconfigured: list[dict[str, str]] = []

    class Stream:
        """A terminal that notes how it was set up."""

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def reconfigure(self, **settings: str) -> None:
            reconfigured.append(settings)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    monkeypatch.setattr(sys, "stdout", Stream(sys.stdout))
    monkeypatch.setattr(sys, "argv", ["localrag", "search", "鍵"])
    with pytest.raises(SystemExit) as exited:
        main()
    assert exited.value.code == 0
    assert {"encoding": "utf-8", "errors": "replace"} in reconfigured
    assert "鍵は毎月交換します。" in capfd.readouterr().out


def test_a_stream_that_cannot_be_set_up_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", object())
    monkeypatch.setattr(sys, "stderr", object())
    monkeypatch.setattr(main_module, "cli", lambda: None)
    main()


# index


def test_index_reports_what_it_did(here: Path) -> None:
    (here / "docs" / "empty.md").touch()
    (here / "docs" / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    first = run("index", "docs", "--db", "notes.db").stdout
    assert first.startswith("3 added, 2 skipped\n")
    assert " chunks, " in first
    assert "-> notes.db" in first
    assert "skipped, empty: 1\n  docs/empty.md: the file holds no text" in first
    assert "skipped, unsupported: 1\n  docs/photo.png: " in first
    assert run("index", "docs", "--db", "notes.db", "-q").stdout == ""
    (here / "docs" / "doors.txt").unlink()
    (here / "docs" / "keys.md").write_text("Other text.\n", encoding="utf-8")
    second = run("index", "docs", "--db", "notes.db").stdout
    assert second.startswith("1 updated, 1 unchanged, 1 removed, 2 skipped\n")


def test_index_shows_no_more_than_three_examples_of_a_reason(here: Path) -> None:
    for number in range(5):
        (here / "docs" / f"empty{number}.md").touch()
    text = run("index", "docs").stdout
    assert "skipped, empty: 5\n" in text
    assert text.count("the file holds no text") == 3


def test_a_run_that_writes_nothing_reports_no_rate(base: Path) -> None:
    del base
    assert run("index", "docs").stdout == "3 unchanged\n"


def test_index_as_json(here: Path) -> None:
    (here / "docs" / "empty.md").touch()
    report = parsed("index", "docs")
    assert [Path(uri).name for uri in report["added"]] == ["doors.txt", "keys.md", "鍵.md"]
    assert report["skipped"] == [
        {
            "uri": str(here / "docs" / "empty.md"),
            "reason": "empty",
            "detail": "the file holds no text",
        }
    ]
    assert (report["updated"], report["unchanged"], report["removed"]) == ([], [], [])
    assert report["chunks"] == 3
    assert report["tokens"] > 0
    assert report["seconds"] > 0


def test_index_takes_several_paths(here: Path) -> None:
    write_files(here, {"more/a.md": "More text.\n"})
    assert run("index", "docs/keys.md", "more").stdout.startswith("2 added\n")


def test_index_says_that_a_folder_is_empty(here: Path) -> None:
    (here / "nothing").mkdir()
    assert run("index", "nothing").stdout.startswith("There is no file to index.")


def test_index_needs_a_path_that_exists() -> None:
    assert "'nowhere' does not exist" in run("index", "nowhere", code=2).stderr
    assert not Path("localrag.db").exists()


def test_the_sizes_of_chunks_are_for_new_files_only() -> None:
    run("index", "docs", "--chunk-tokens", "64", "--overlap-tokens", "8")
    assert "chunk size    64 tokens, overlap 8" in run("status").stdout
    refused = run("index", "docs", "--chunk-tokens", "128", code=1).stderr
    assert "was made with chunk_tokens = 64" in refused
    assert run("index", "docs").stdout == "3 unchanged\n"


def test_impossible_sizes_are_explained() -> None:
    assert "chunk_tokens" in run("index", "docs", "--chunk-tokens", "1", code=1).stderr


def test_a_second_run_at_the_same_time_is_an_error(base: Path) -> None:
    with open_base(base) as kb, kb.database.sole_writer():
        assert "Another localrag is writing" in run("index", "docs", code=1).stderr


def test_ctrl_c_while_indexing_exits_with_130_and_leaves_a_valid_file(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(FakeEmbedder):
        def embed_passages(self, texts: Any) -> Any:
            if any("Doors" in text for text in texts):
                raise KeyboardInterrupt
            return super().embed_passages(texts)

    run("index", "docs/keys.md")
    monkeypatch.setattr(opening, "load_embedder", Interrupted)
    stopped = run("index", "docs", code=130)
    assert stopped.stderr == "Stopped. What was indexed is kept; run the same command to go on.\n"
    monkeypatch.setattr(opening, "load_embedder", FakeEmbedder)
    with open_base(here / "localrag.db") as kb:
        assert kb.verify() == []
        assert len(kb.documents()) == 1
    assert run("index", "docs").stdout.startswith("2 added, 1 unchanged\n")


def test_a_terminal_sees_progress_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with report_module.progress_bar(hidden=False) as progress:
        assert progress is not None
        for done in range(1, 4):
            progress(Progress(done, 3, f"/docs/file{done}.md", done * 10, done * 1_000))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "3/3" in printed.err
    assert "chunks/s" in printed.err
    assert "file3.md" in printed.err


@pytest.mark.parametrize("hidden", [True, False])
def test_without_a_terminal_there_is_no_progress_bar(*, hidden: bool) -> None:
    with report_module.progress_bar(hidden=hidden) as progress:
        assert progress is None


# search


def test_search_shows_rank_relevance_place_and_text(base: Path) -> None:
    del base
    lines = run("search", QUESTION, "-n", "1").stdout.splitlines()
    assert lines[0] == "  1  1.00  docs/keys.md:1 > Keys > Rotation"
    assert lines[1].strip().endswith("Keys are rotated every month. Locks are oiled in May.")


def test_search_without_the_reranker_shows_no_relevance(base: Path) -> None:
    del base
    first = run("search", QUESTION, "-n", "1", "--no-rerank").stdout.splitlines()[0]
    assert first == "  1        docs/keys.md:1 > Keys > Rotation"


def test_search_as_json(base: Path) -> None:
    found = parsed("search", QUESTION, "--limit", "2")
    assert list(found) == ["query", "trace_id", "hits", "searched_also", "warnings"]
    assert found["query"] == QUESTION
    assert found["trace_id"] == 1
    hit, second = found["hits"]
    text = FILES["keys.md"]
    assert hit == {
        "rank": 1,
        "relevance": 1.0,
        "document": str(base.parent / "docs" / "keys.md"),
        "title": "Keys",
        "heading": hit["heading"],
        "page": None,
        "line": 1,
        "start": 0,
        "end": len(text.rstrip()),
        "text": text.rstrip(),
        "chunk_id": hit["chunk_id"],
        "matches": [{"start": 0, "end": len(text.rstrip())}],
        "also_in": [],
        "also_in_count": 0,
    }
    assert hit["heading"][-1] == "Rotation"
    assert second["rank"] == 2


def test_json_keeps_every_script_readable(base: Path) -> None:
    del base
    assert "鍵は毎月交換します。" in run("search", "鍵", "--json").stdout


def test_a_budget_is_a_time_with_its_unit() -> None:
    assert [seconds(None, None, text) for text in ("300ms", "1.5 s", "250", ".5s")] == [
        0.3,
        1.5,
        0.25,
        0.5,
    ]


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_budget_reaches_the_cross_encoder(base: Path, command: str) -> None:
    del base
    stages = parsed(command, "keys", "--explain", "--budget", "10s")["trace"]["stages"]
    assert "read 3 passages" in [stage["note"] for stage in stages]


def test_nothing_found_exits_with_3(base: Path) -> None:
    del base
    assert run("search", "sourdough", "--mode", "lexical", code=3).stdout == "Nothing found.\n"
    assert parsed("search", "sourdough", "--mode", "lexical", code=3)["hits"] == []


def birds() -> None:
    """Index a section of twenty sentences in several chunks, and a second document."""
    duck = " ".join(f"The duck was seen in place {n} again." for n in range(20))
    nest = duck.replace("seen in place 9 ", "in its nest in place 9 ")
    write_files(Path("birds"), {"a.md": f"# Birds\n\n{nest}\n", "b.md": "# Nests\n\nA nest.\n"})
    run("index", "birds", "--db", "birds.db", "--chunk-tokens", "32", "--overlap-tokens", "0")


def test_what_is_around_a_match_is_shown_and_the_match_marked(here: Path) -> None:
    del here
    birds()
    call = ["search", "its nest", "--db", "birds.db", "--mode", "lexical"]
    assert "\n         > " not in run(*call, "--full").stdout
    shown = run(*call, "--expand", "section").stdout
    first, second = shown.split("\n  2 ")
    assert first.count("The duck") == 20
    assert "\n         > The duck" in first
    assert "\n           # Birds\n" in first
    assert ">" not in second.partition("\n")[2]
    assert run(*call, "--expand", "section", "--tokens", "60").stdout.count("The duck") < 20
    hit = parsed(*call, "--expand", "window", "--context", "1")["hits"][0]
    (match,) = hit["matches"]
    matched = hit["text"][match["start"] : match["end"]]
    assert "nest" in matched
    assert hit["text"].count("The duck") == matched.count("The duck") + 2


def test_a_short_view_begins_where_the_match_does(here: Path) -> None:
    del here
    birds()
    settings = ["--chunking", "parent-child", "--chunk-tokens", "32"]
    run("index", "birds", "--db", "parents.db", *settings)
    (line, *_) = run("search", "its nest", "--db", "parents.db").stdout.splitlines()[1:]
    assert "nest" in line


def test_hits_of_one_document_are_capped(here: Path) -> None:
    del here
    birds()
    call = ["search", "nest duck", "--db", "birds.db", "--mode", "lexical", "--per-document", "1"]
    hits = parsed(*call)["hits"]
    assert [Path(hit["document"]).name for hit in hits] in (["a.md", "b.md"], ["b.md", "a.md"])
    assert "at most 1 of a document" in run(*call, "--explain").stdout


def test_context_shows_the_neighbours_in_full(here: Path) -> None:
    paragraphs = "\n\n".join(f"## Part {n}\n\n{f'word{n} ' * 40}end{n}." for n in range(4))
    write_files(here, {"long/parts.md": paragraphs})
    run("index", "long", "--chunk-tokens", "64", "--overlap-tokens", "0")
    narrow = run("search", "word2", "-n", "1").stdout
    assert "end1" not in narrow
    assert "…" in narrow
    assert "end2." in run("search", "word2", "-n", "1", "--full").stdout
    wide = run("search", "word2", "-n", "1", "--context", "1").stdout
    assert "end1." in wide
    assert "end3." in wide
    hit = parsed("search", "word2", "-n", "1", "--context", "1")["hits"][0]
    assert paragraphs[hit["start"] : hit["end"]] == hit["text"]


def test_explain_adds_what_every_stage_let_through(base: Path) -> None:
    del base
    text = run("search", QUESTION, "--explain").stdout
    for stage in ("1. transform", "2a. bm25", "2b. vector", "3. fuse", "4. rerank", "5. expand"):
        assert f"  {stage} -> " in text
    assert "keys.md:1 > Rotation: # Keys ## Rotation Keys are" in text
    trace = parsed("search", QUESTION, "--explain")["trace"]
    assert trace["stages"][0]["name"] == "1. transform"
    assert trace["trace_id"] == 2


def test_a_query_can_be_any_text(base: Path) -> None:
    del base
    for query in ("", "AND", 'NEAR("', "C++", "--", "\x00", "🔑"):
        result = CliRunner().invoke(cli, ["search", "--mode", "lexical", "--", query])
        assert result.exit_code in {0, 3}


def test_a_document_cannot_steer_the_terminal(here: Path) -> None:
    text = f"# \x1b[31mRed\n\nThe \x1b]0;title\x1b word zebra.\n\n{'Harmless words. ' * 100}\n"
    write_files(here, {"hostile/a.md": text})
    run("index", "hostile")
    for command in (["search", "zebra"], ["search", "zebra", "--full"], ["ask", "word zebra"]):
        printed = run(*command, "--explain").output
        assert "zebra" in printed
        assert "\x1b" not in printed
        shown = run(*command, color=True).output
        assert "\x1b]" not in shown
        assert "\x1b[31mRed" not in shown


# ask


def test_ask_shows_the_answer_and_where_it_stands(base: Path) -> None:
    del base
    start = FILES["keys.md"].index("Keys are")
    assert run("ask", QUESTION).stdout.splitlines() == [
        "Keys are rotated every month. [1]",
        "",
        f"[1] docs/keys.md:5 > Keys > Rotation (characters {start}-{start + 29}, relevance 1.00)",
    ]


def test_ask_as_json(base: Path) -> None:
    found = parsed("ask", QUESTION)
    keys = ["question", "answer", "found", "citations", "trace_id", "searched_also", "warnings"]
    assert list(found) == keys
    assert found["question"] == QUESTION
    assert found["answer"] == "Keys are rotated every month. [1]"
    assert found["found"] is True
    assert found["trace_id"] == 1
    [citation] = found["citations"]
    assert (citation["number"], citation["relevance"]) == (1, 1.0)
    assert citation["document"] == str(base.parent / "docs" / "keys.md")
    text = FILES["keys.md"][citation["start"] : citation["end"]]
    assert text == citation["text"] == "Keys are rotated every month."
    assert set(citation) == {
        "number", "relevance", "document", "title", "heading", "page", "line", "start", "end",
        "text", "chunk_id", "also_in", "also_in_count",
    }  # fmt: skip


def test_what_is_not_in_the_documents_exits_with_3(base: Path) -> None:
    del base
    assert run("ask", UNANSWERED, code=3).stdout == "Not found in the documents.\n"
    found = parsed("ask", UNANSWERED, code=3)
    assert (found["found"], found["citations"]) == (False, [])


def test_ask_explains_too(base: Path) -> None:
    del base
    text = run("ask", UNANSWERED, "--explain", code=3).stdout
    assert "6. answer -> not found: best passage" in text
    stages = parsed("ask", QUESTION, "--explain")["trace"]["stages"]
    assert stages[-1]["name"] == "6. answer"
    assert stages[-1]["chunks"][0]["document"].endswith("keys.md")


# trace


def test_trace_shows_the_last_query_or_the_one_that_is_named(base: Path) -> None:
    del base
    run("search", "first query")
    run("search", "second query")
    assert run("trace").stdout.startswith("Trace 2  second query\n")
    text = run("trace", "1").stdout
    assert text.startswith("Trace 1  first query\n")
    assert " ms  3. fuse -> " in text
    assert parsed("trace", "1")["query"] == "first query"


def test_a_trace_that_is_missing_is_an_error(base: Path) -> None:
    del base
    none_kept = run("trace", code=1).stderr
    assert "No query was kept in localrag.db. Run localrag search or localrag ask" in none_kept
    run("search", "keys")
    missing = run("trace", "99", code=1).stderr
    assert "There is no trace 99 in localrag.db. Without a number, localrag trace" in missing


def test_trace_shows_as_many_chunks_as_are_wanted(base: Path) -> None:
    del base
    run("search", QUESTION)
    assert "… and 1 more" in run("trace", "--lines", "2").stdout
    assert "more" not in run("trace", "--all").stdout


def test_trace_as_json_names_the_place_of_every_chunk(base: Path) -> None:
    del base
    run("search", QUESTION)
    trace = parsed("trace")
    assert list(trace) == ["trace_id", "query", "created_at", "stages"]
    stage = trace["stages"][-1]
    assert list(stage) == ["name", "milliseconds", "note", "chunks"]
    assert list(stage["chunks"][0]) == [
        "rank", "score", "chunk_id", "document", "heading", "start", "end",
    ]  # fmt: skip


def test_a_chunk_that_is_gone_is_said_to_be_gone(base: Path) -> None:
    run("search", QUESTION)
    (base.parent / "docs" / "keys.md").unlink()
    run("index", "docs")
    assert "is no longer in the file)" in run("trace", "--all").stdout
    chunks = parsed("trace")["stages"][-1]["chunks"]
    assert {"rank": 1, "score": 1.0, "chunk_id": 2, "document": None} in chunks


# status


def test_status_shows_what_the_file_holds(base: Path) -> None:
    (base.parent / "docs" / "empty.md").touch()
    run("index", "docs")
    run("search", "keys")
    text = run("status").stdout
    assert text.startswith("localrag.db\n")
    for line in (
        "  documents     3",
        "  chunks        3 (",
        "  indexed from  docs",
        "  chunk size    300 tokens, overlap 50",
        "  traces kept   1",
        f"  format        {FORMAT_VERSION}",
        "  skipped       1",
        "    docs/empty.md: empty: the file holds no text",
    ):
        assert f"\n{line}" in text
    assert "bytes per chunk" in text


def test_status_of_an_empty_base(here: Path) -> None:
    open_base(here / "localrag.db").close()
    text = run("status").stdout
    assert "indexed from  nothing yet" in text
    assert "bytes per chunk" not in text


def test_status_names_the_documents_on_request(base: Path) -> None:
    lines = run("status", "--documents").stdout.splitlines()
    at = lines.index("  documents")
    names = sorted(path.relative_to(base.parent) for path in (base.parent / "docs").rglob("*.*"))
    assert lines[at + 1 :] == [f"    {name}" for name in names]
    found = parsed("status", "--documents")
    assert found["document_names"] == [str(base.parent / name) for name in names]
    assert "document_names" not in parsed("status")


def test_status_as_json(base: Path) -> None:
    (base.parent / "docs" / "empty.md").touch()
    run("index", "docs")
    found = parsed("status")
    assert (found["documents"], found["chunks"], found["skipped"]) == (3, 3, 1)
    assert found["path"] == str(base)
    assert found["sources"] == [str(base.parent / "docs")]
    assert found["settings"]["chunk_tokens"] == "300"
    assert found["skipped_files"] == [
        {
            "uri": str(base.parent / "docs" / "empty.md"),
            "reason": "empty",
            "detail": "the file holds no text",
        }
    ]


# doctor


def test_doctor_checks_the_installation_without_a_file() -> None:
    text = run("doctor").stdout
    assert [line.split()[:2] for line in text.splitlines()] == [
        ["ok", name]
        for name in ("python", "sqlite", "sqlite-vec", "onnxruntime", "bi-encoder", "cross-encoder")
    ]
    assert "FTS5" in text
    assert "fake-embedder: 256 dimensions, files match their hashes" in text


def test_doctor_checks_the_file_too(base: Path) -> None:
    del base
    assert (
        "ok    knowledge base   localrag.db: 3 documents, 3 chunks, whole" in run("doctor").stdout
    )
    found = parsed("doctor")
    assert found["ok"] is True
    assert found["checks"][-1]["name"] == "knowledge base"


def test_doctor_finds_a_damaged_file(base: Path) -> None:
    with open_base(base) as kb:
        kb.database.connection.execute("DELETE FROM chunk_words WHERE rowid = 1")
    text = run("doctor", code=1).stdout
    assert "FAIL  knowledge base   1 chunks without words. Index the documents again" in text
    assert parsed("doctor", code=1)["ok"] is False


def broken(error: Exception) -> Callable[[], str]:
    def check() -> str:
        raise error

    return check


@pytest.mark.parametrize(
    "error", [ModelError("weights differ"), ImportError("no module"), OSError("no such file")]
)
def test_doctor_goes_on_after_a_check_that_fails(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(doctor_module.INSTALLATION, "bi-encoder", broken(error))
    text = run("doctor", code=1).stdout
    assert f"FAIL  bi-encoder       {error}" in text
    assert "ok    cross-encoder" in text


def test_doctor_says_what_to_do_without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "compile_options", ("THREADSAFE=1",))
    assert "apsw's SQLite has no FTS5. Reinstall it" in run("doctor", code=1).stdout


def test_doctor_says_what_to_do_without_sqlite_vec(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sqlite_vec.loadable_path", lambda: str(tmp_path / "nothing"))
    text = run("doctor", code=1).stdout
    assert "FAIL  sqlite-vec       sqlite-vec cannot be loaded" in text


# Colours


def test_a_terminal_sees_colours(base: Path) -> None:
    del base
    assert "\x1b[" in run("search", QUESTION, color=True).stdout


def test_no_color_switches_them_off(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del base
    monkeypatch.setenv("NO_COLOR", "1")
    for command in (["search", QUESTION], ["ask", QUESTION], ["doctor"], ["trace"], ["status"]):
        assert "\x1b[" not in run(*command, color=True).output
    assert "\x1b[" not in run("trace", "99", code=1, color=True).output


def test_a_pipe_sees_no_colours(base: Path) -> None:
    del base
    for command in (["search", QUESTION, "--explain"], ["ask", QUESTION], ["doctor"], ["status"]):
        assert "\x1b[" not in run(*command).output


# Errors from inside


@pytest.mark.parametrize("error", [BusyError("Busy. Wait."), LocalragError("Wrong. Do this.")])
def test_an_error_is_one_line_on_standard_error(
    base: Path, monkeypatch: pytest.MonkeyPatch, error: LocalragError
) -> None:
    del base

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(knowledge_base.KnowledgeBase, "ask", fail)
    result = run("ask", "keys", code=1)
    assert (result.stdout, result.stderr) == ("", f"Error: {error}\n")
