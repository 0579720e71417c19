"""JSON, JSON Lines, YAML and XML."""

from __future__ import annotations

import json

import pytest
from reading import blocks, line_of, outline, read

from localrag.errors import ReadError
from localrag.formats.data_tree import Leaf, Tree, add_records
from localrag.formats.json_scanner import JSONSyntaxError, scan_json


def lines(source: str | bytes, uri: str) -> list[str]:
    return read(source, uri).text.split("\n")


# JSON


def test_json_becomes_lines_with_their_paths() -> None:
    source = """{
  "title": "Settings",
  "servers": [
    {"host": "a.example", "port": 80},
    {"host": "b.example", "ports": [1, 2], "empty": {}, "none": null}
  ],
  "odd key": {"a.b": "caf\\u00e9\\nnext"},
  "nested": "{\\"x\\": [true]}"
}"""
    document = read(source, "a.json")
    assert document.title == "Settings"
    assert document.text == (
        "title: Settings\n"
        "servers[0].host: a.example\n"
        "servers[0].port: 80\n"
        "servers[1].host: b.example\n"
        "servers[1].ports: 1, 2\n"
        "servers[1].none: null\n"
        '"odd key"."a.b":\ncafé\nnext\n'
        "nested.x: true"
    )
    assert [line_of(document, text) for text in ("title", "b.example", "next", "nested")] == [
        2,
        5,
        7,
        8,
    ]


def test_small_records_stay_whole_and_long_texts_stand_alone() -> None:
    things = [{"name": f"thing {i}", "note": "word " * 20} for i in range(9)]
    found = blocks(json.dumps([*things, {"name": "x", "text": "A sentence. " * 60}]), "a.json")
    assert found[0] == ("code", f"[0].name: thing 0\n[0].note: {('word ' * 20)}".rstrip())
    assert len(found) == 11
    assert found[-2] == ("code", "[9].name: x")
    assert found[-1][0] == "paragraph"


def test_a_large_object_is_parted_between_its_values() -> None:
    source = json.dumps({f"key{i}": "v" * 100 for i in range(30)})
    found = [text for _, text in blocks(source, "a.json")]
    assert len(found) > 3
    assert all(len(text) <= 800 for text in found)
    assert "\n".join(found) == "\n".join(f"key{i}: {'v' * 100}" for i in range(30))


def test_the_tails_of_base64_are_dropped() -> None:
    [line] = lines(json.dumps({"a": "data:image/png;base64," + "Ab+/" * 500}), "a.json")
    assert line == "a: data:image/png;base64,Ab+/Ab+/Ab+/Ab+/Ab…"


def test_comments_and_commas_too_many_are_no_errors() -> None:
    source = '// first\n{\n  "url": "http://x", /* two\n lines */ "b": [1, 2,],\n}'
    document = read(source, "tsconfig.json")
    assert document.text == "url: http://x\nb: 1, 2"
    assert line_of(document, "b:") == 4


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('{"a": 1,\n\n"b" 2}', "a key is missing in line 3"),
        ('{"a": 1 "b": 2}', "a comma is missing in line 1"),
        ('{"a": }', "a value is missing in line 1"),
        ('{"a": nope}', "no JSON in line 1"),
        ("[1] [2]", "more than one value in line 1"),
        ("[" * 70, "nested more than 64 levels in line 1"),
        ('{"a": "\\x"}', "Invalid \\escape: line 1 column 2 (char 1)"),
    ],
)
def test_broken_json_is_kept_as_written(source: str, reason: str) -> None:
    document = read(source, "a.json")
    assert document.metadata == {"parse_error": reason}
    assert document.text == source
    assert {block.kind for block in document.blocks} == {"code"}


@pytest.mark.parametrize("source", ["{}", "[]", '{"a": {}}', '""'])
def test_json_that_says_nothing_is_empty(source: str) -> None:
    with pytest.raises(ReadError, match="no text"):
        read(source, "a.json")


def test_halves_of_surrogate_pairs_are_no_text() -> None:
    read('{"a": "\\ud83d x"}', "a.json").text.encode()


def test_json_lines() -> None:
    source = '{"a": 1}\n\n{"a": 2, "b": "x"}\nbroken {\n'
    document = read(source, "a.jsonl")
    assert document.text == "a: 1\n\na: 2\nb: x\n\nbroken {"
    assert [document.line(block.start) for block in document.blocks] == [1, 3, 4]
    assert document.metadata == {"parse_error": "no JSON in line 4"}
    # Many tools call the same `.json`.
    assert blocks('{"a": 1}\n{"a": 2}\n', "a.json") == [("code", "a: 1"), ("code", "a: 2")]


def test_scanner_counts_lines_from_where_it_is_told() -> None:
    assert scan_json("\n 1", line=7) == Leaf("1", 8)
    with pytest.raises(JSONSyntaxError):
        scan_json("")


# YAML

YAML = """\
# What this is
name: demo   # not kept
list: [a, b]
items:
  # the first
  - id: 1
    text: >-
      folded
      text
  - id: 2
script: |
  # not a comment
  run
empty: {}
base: &base {x: 1}
copy: *base
key with: blank
# ----
# the end
"""


def test_yaml_becomes_lines_with_their_paths_and_comments() -> None:
    document = read(YAML, "a.yaml")
    assert document.title == "demo"
    assert document.text == (
        "# What this is\n"
        "name: demo\n"
        "list: a, b\n"
        "# the first\n"
        "items[0].id: 1\n"
        "items[0].text: folded text\n"
        "items[1].id: 2\n"
        "script:\n# not a comment\nrun\n"
        "base.x: 1\n"
        "copy: *base\n"
        '"key with": blank\n'
        "# the end"
    )
    for text in ("name:", "# the first", "items[1]", "run", "# the end"):
        written = text.replace("items[1]", "- id: 2").strip()
        found = YAML.split("\n")[(line_of(document, text) or 0) - 1]
        assert written in found


def test_documents_of_one_yaml_file_are_told_apart() -> None:
    source = "# of a\nkind: Job\nmetadata:\n  name: a\n---\nb: 1\n---\n- x\n"
    document = read(source, "a.yml")
    assert outline(document) == [(1, "Job a", 2), (1, "document 2", 6), (1, "document 3", 8)]
    assert document.title == "a"
    assert "# of a\nkind: Job" in document.text
    assert outline(read("a: 1\n---\nb: 1\n", "a.yml")) == []


@pytest.mark.parametrize(
    "source",
    ["a: {{ .Values.x }}\n{{- if x }}\nb: 1\n", "a: [1\n", "a: 1\n\tb: 2\n", "[" * 70, "a: @x\n"],
)
def test_broken_yaml_and_templates_are_kept_as_written(source: str) -> None:
    document = read(source, "a.yaml")
    assert document.text == source
    assert document.metadata["parse_error"]


def test_yaml_tags_are_not_constructed_and_aliases_not_expanded() -> None:
    assert read("a: !!python/object/apply:os.system [ls]\n", "a.yaml").text == "a: ls"
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
    )
    assert len(read(bomb, "a.yaml").text) < 1_000


def test_a_yaml_file_may_be_one_value_or_only_comments() -> None:
    assert read("just text\n", "a.yaml").text == "just text"
    assert read("# only\n# comments\nx: 1\n", "a.yaml").text == "# only\n# comments\nx: 1"
    assert read("--- \n# lonely\n", "a.yaml").text == "# lonely"


# XML

XML = """<?xml version="1.0"
  encoding="UTF-8"?>
<feed xmlns="http://x" version="2">
  <title>The feed</title>
  <!-- comment -->
  <entry id="1"><name>One</name></entry>
  <entry id="2">
    <p>Some <em>mixed</em>
       text.</p>
    <link href="http://y"/>
    <t lang="en">own</t>
  </entry>
  <nothing/>
</feed>
"""


def test_xml_becomes_lines_with_their_paths() -> None:
    document = read(XML, "a.xml")
    assert document.title == "The feed"
    assert document.metadata == {"root": "feed"}
    assert document.text == (
        "@version: 2\n"
        "title: The feed\n"
        "entry[0]@id: 1\n"
        "entry[0].name: One\n"
        "entry[1]@id: 2\n"
        "entry[1].p: Some mixed text.\n"
        "entry[1].link@href: http://y\n"
        "entry[1].t@lang: en\n"
        "entry[1].t: own"
    )
    assert [line_of(document, text) for text in ("title", "entry[1].p", "own")] == [4, 8, 11]


def test_xml_in_the_encoding_that_it_declares() -> None:
    text = '<?xml version="1.0" encoding="koi8-r"?><a>Привет, как дела</a>'
    assert read(text.encode("koi8-r"), "a.xml").text == "Привет, как дела"
    lying = '<?xml version="1.0" encoding="UTF-8"?><a>Grüße aus Köln</a>'
    assert read(lying.encode("utf-16"), "a.xml").text == "Grüße aus Köln"
    assert read(lying.encode("cp1252"), "a.xml").text == "Grüße aus Köln"
    unknown = '<?xml version="1.0" encoding="nonsense"?><a>x</a>'
    assert read(unknown, "a.xml").text == "x"


def test_nothing_external_is_fetched(tmp_path: object) -> None:
    source = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><a>before &x; after</a>'
    assert read(source, "a.xml").text == "before after"


def test_entities_within_entities_are_refused() -> None:
    with pytest.raises(ReadError) as caught:
        read('<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><a>x</a>', "a.xml")
    assert caught.value.reason == "unsafe"


def test_entities_may_be_used_but_not_without_bound() -> None:
    source = '<!DOCTYPE a [<!ENTITY x "word">]><a>a &x;</a>'
    assert read(source, "a.xml").text == "a word"
    with pytest.raises(ReadError) as caught:
        read(source.replace("word", "w" * 5_000).replace("&x;", "&x;" * 2_000), "a.xml")
    assert caught.value.reason == "unsafe"


@pytest.mark.parametrize("source", ["<a><b></a>", "<a>" * 70, "<a>&undefined;</a>", "<"])
def test_broken_xml_is_kept_as_written(source: str) -> None:
    document = read(source, "a.xml")
    assert document.text == source
    assert document.metadata["parse_error"]


def test_values_without_a_known_line_have_none() -> None:
    from localrag.formats.assembly import Assembly  # noqa: PLC0415 - of this test only

    assembly = Assembly()
    add_records(assembly, Tree(0, "", [Leaf("x", 0, ".a")]))
    document = assembly.build("t", "m")
    assert (document.text, document.lines) == ("a: x", ())
