"""Writes those parts of the documentation that the code already says, so that they cannot drift.

Run by ``make docs``; ``tests/test_docs.py`` fails when a page is stale. Pages are written by hand,
except between two comments::

    <!-- generated: settings -->
    ...
    <!-- end -->

`REGIONS` at the end says which function writes which part.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import MISSING, fields
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, get_args

import click

from localrag import config, errors
from localrag.cli.main import cli
from localrag.config import Settings, setting_kinds
from localrag.formats.known import FORMATS
from localrag.inference import card
from localrag.inference.bundle import DEFAULT_FAMILY, bundled_models
from localrag.inference.card import ModelCard, load_card
from localrag.inference.catalogue import catalogue
from localrag.store.migrations import FORMAT_VERSION, MIGRATIONS
from localrag.store.schema import APPLICATION_ID, vectors_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from localrag.formats.known import Format
    from localrag.inference.catalogue import CatalogueEntry

DOCS = Path(__file__).parent
RETRIEVAL = DOCS.parent / "benchmarks" / "results" / "retrieval.json"
"""Made by ``python benchmarks/retrieval.py ... --json``."""
REGION = re.compile(r"(?<=<!-- generated: )(\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = (head, ["---"] * len(head), *rows)
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def code(language: str, text: str) -> str:
    """Return a fenced block."""
    return f"```{language}\n{text.strip()}\n```"


def markdown(text: str) -> str:
    """Return a docstring's reStructuredText as Markdown."""
    return text.replace("``", "`")


# The command line: from click's own objects. The laid-out help is the same words, but its line
# breaks belong to the installed version of click.


def commands() -> str:
    """Return every command: how it is called, what it does, its options."""
    # click keeps the help option that it makes here: without the group it would have no -h.
    group = click.Context(cli, info_name="localrag", **cli.context_settings)
    return "\n\n".join(command_section(command, group) for command in cli.commands.values())


def command_section(command: click.Command, group: click.Context, level: str = "##") -> str:
    """Return the section of one command, and those of the commands in it."""
    context = click.Context(command, info_name=command.name, parent=group)
    pieces = command.collect_usage_pieces(context)
    usage = " ".join([context.command_path, *pieces])
    within = command.commands.values() if isinstance(command, click.Group) else ()
    options = [option for option in command.params if isinstance(option, click.Option)]
    head = ("option", "value", "default", "meaning")
    rows = ((flags(one), value(one), default(one), one.help or "") for one in options)
    return "\n\n".join(
        (
            f"{level} {context.command_path.removeprefix('localrag ')}",
            code("sh", usage),
            inspect.cleandoc(command.help or ""),
            *([table(head, rows)] if options else []),
            *(command_section(inner, context, f"{level}#") for inner in within),
        )
    )


def flags(option: click.Option) -> str:
    """Return every way to write an option."""
    return ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))


def value(option: click.Option) -> str:
    """Return what an option takes; nothing for one that stands alone."""
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    if isinstance(option.type, click.IntRange):
        return span(option.type.min, option.type.max)
    if option.metavar:
        return f"`{option.metavar}`"
    if isinstance(option.type, click.Path):
        return "file"
    if option.type is click.STRING:
        return "text"
    return "" if option.is_flag else "number"


def default(option: click.Option) -> str:
    """Return the default, and the environment variable that can hold another."""
    shown = f"`{option.opts[0] if option.is_flag else option.default}`"
    told = f"what `{option.envvar}` says" if option.show_envvar else ""
    return ", or ".join(filter(None, (shown if option.show_default else "", told)))


def span(low: float | None, high: float | None) -> str:
    """Return the numbers from `low` to `high` in words."""
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    return "number" if low is None else f"{low:,} or more"


# Settings


def settings() -> str:
    """Return every setting with its default, its range, and the docstring under its field."""
    texts = field_docstrings(inspect.getsource(config), "Settings")
    standard = Settings()
    rows = (
        (f"`{name}`", f"`{getattr(standard, name)}`", allowed(name), texts[name])
        for name in setting_kinds()
    )
    return table(("setting", "default", "allowed", "meaning"), rows)


def allowed(name: str) -> str:
    """Return the values that a setting may have."""
    kind = setting_kinds()[name]
    if kind == (str | None):
        return "text, or nothing"
    if limits := getattr(kind, "__metadata__", ()):
        return span(limits[0].ge, limits[0].le)
    choices = (True, False) if kind is bool else get_args(kind)
    return ", ".join(f"`{choice}`" for choice in choices)


def field_docstrings(source: str, class_name: str) -> dict[str, str]:
    """Return the string under each field of a class; only the source knows it."""
    nodes = ast.parse(source).body
    (body,) = (
        node.body for node in nodes if isinstance(node, ast.ClassDef) and node.name == class_name
    )
    return {
        ast.unparse(field.target): " ".join(str(ast.literal_eval(text.value)).split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


# Errors


def error_tree() -> str:
    """Return the tree, as the module draws it."""
    drawn = re.search(r"::\n\n((?: +.*\n)+)", inspect.getdoc(errors) or "")
    return code("text", dedent(drawn[1])) if drawn else ""


def error_list() -> str:
    """Return every error with its docstring, in the order of the tree."""
    found = [one for name, one in vars(errors).items() if name in errors.__all__]
    return "\n\n".join(f"## {one.__name__}\n\n{error_text(one)}" for one in found)


def error_text(error: type[errors.LocalragError]) -> str:
    """Return the docstring of an error, its attributes as a list."""
    text, _, attributes = markdown(inspect.getdoc(error) or "").partition("Attributes:\n")
    items = re.sub(r"\n\s{2,}", " ", dedent(attributes)).splitlines()
    lines = (re.sub(r"^(\w+):", r"- `\1`:", item) for item in items)
    return "\n".join((text.strip(), *([""] if items else []), *lines))


# The file


def identity() -> str:
    """Return how the file says what it is."""
    letters = APPLICATION_ID.to_bytes(4).decode()
    rows = (
        ("`application_id`", f"`{APPLICATION_ID:#010x}` (`{letters}`)", "this is a localrag file"),
        (
            "`user_version`",
            f"`{FORMAT_VERSION}`",
            "its format; later localrags bring it up to date",
        ),
    )
    return table(("pragma", "value", "says"), rows)


def tables() -> str:
    """Return the SQL of all tables, with its comments: that of every migration, in their order."""
    vectors = (
        vectors_table(384, "int8").replace("IF NOT EXISTS ", "").replace("vec0(", "vec0(\n    ")
    )
    first, *later = MIGRATIONS
    vectors = f"{first}\n-- Unit vectors, as long as the bi-encoder's.\n{vectors};"
    steps = (
        f"Format {number} adds:\n\n{code('sql', step)}"
        for number, step in enumerate(later, start=2)
    )
    return "\n\n".join((code("sql", vectors), *steps))


# The formats


def formats() -> str:
    """Return every format: its files, what is kept and dropped of them, the limits."""
    return "\n\n".join(format_section(known) for known in FORMATS)


def format_section(known: Format) -> str:
    """Return the section of one format."""
    facts = (
        ("files", ", ".join(f"`{suffix}`" for suffix in known.suffixes)),
        ("media type", f"`{known.media_type}`"),
        ("reader", f"`localrag/formats/{known.reader.partition(':')[0]}.py`"),
        ("kept", known.kept),
        ("dropped", known.dropped or "nothing"),
        ("limits", known.limits),
    )
    lines = (f"- {name}: {fact}" for name, fact in facts if fact)
    return f"## {known.name}\n\n" + "\n".join(lines)


# The models


def models() -> str:
    """Return the facts of the models that ship, from their cards."""
    rows: list[list[str]] = []
    for one in cards():
        prefixes = ", ".join(f"`{text}`" for text in (one.query_prefix, one.passage_prefix) if text)
        weights = next(file for file in one.files if file.path == one.model)
        rows.append(
            [
                one.name,
                one.kind,
                str(one.dimensions or ""),
                str(one.max_tokens),
                one.pooling or "first",
                prefixes,
                one.licence,
                f"{weights.bytes:,}",
            ]
        )
    head = ("name", "kind", "dimensions", "most tokens", "pooling", "prefixes", "licence", "bytes")
    return table(head, rows)


def model_files() -> str:
    """Return every file of the models, with the beginning of its hash."""
    files = {file.path: file for one in cards() for file in one.files}
    rows = (
        (f"`{file.path}`", f"{file.bytes:,}", f"`{file.sha256[:16]}`") for file in files.values()
    )
    return table(("file", "bytes", "sha256 begins with"), rows)


def known_models() -> str:
    """Return the facts of the models that can be fetched."""
    rows = (
        [
            f"`{one.name}`",
            one.kind,
            str(one.dimensions or ""),
            f"{one.max_tokens:,}",
            one.pooling or "",
            ", ".join(f"`{text}`" for text in (one.query_prefix, one.passage_prefix) if text),
            one.licence,
            f"[{one.repository}](https://huggingface.co/{one.repository}) at `{one.revision[:7]}`",
            "all" if all(file.sha256 for file in one.files) else hashed(one),
        ]
        for one in catalogue().values()
    )
    head = ("name", "kind", "dimensions", "most tokens", "pooling", "prefixes", "licence", "from")
    return table((*head, "SHA-256 known of"), rows)


def hashed(entry: CatalogueEntry) -> str:
    """Return the files of an entry whose hashes are known."""
    return ", ".join(f"`{file.path}`" for file in entry.files if file.sha256) or "none"


def card_fields() -> str:
    """Return every field of a model card, with the docstring under it."""
    source = inspect.getsource(card)
    texts = field_docstrings(source, "ModelFacts") | field_docstrings(source, "ModelCard")
    rows = (
        (
            f"`{field.name}`",
            "yes" if field.default is MISSING else shown(field.default),
            markdown(texts[field.name]),
        )
        for field in fields(ModelCard)
    )
    return table(("field", "needed, or default", "meaning"), rows)


def shown(default: object) -> str:
    """Return a default for the table of fields."""
    return "" if default in {None, "", ()} else f"`{json.dumps(default)}`"


def quality() -> str:
    """Return what reranking changes, from the last run of the benchmark that was kept."""
    rows = json.loads(RETRIEVAL.read_text(encoding="utf-8"))
    by_stage: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for row in rows:
        by_stage.setdefault((row["set"], row["split"]), {})[row["stage"]] = row
    head = (
        *("set", "questions", "nDCG@10 fused", "reranked", "hit@1 fused", "reranked"),
        *("answer@1 fused", "reranked", "ms to fuse", "ms to rerank"),
    )
    lines = (
        (
            " ".join(filter(None, name)),
            f"{stages['fused']['questions']:,}",
            *(f"{stages[stage]['ndcg@10']:.3f}" for stage in ("fused", "reranked")),
            *(f"{stages[stage]['hit@1']:.3f}" for stage in ("fused", "reranked")),
            *(share(stages[stage].get("answer@1")) for stage in ("fused", "reranked")),
            *(f"{stages[stage]['ms_per_query']:,.0f}" for stage in ("fused", "reranked")),
        )
        for name, stages in by_stage.items()
    )
    return table(head, lines)


def share(value: float | None) -> str:
    """Return a share, or nothing where a set does not tell it."""
    return "" if value is None else f"{value:.3f}"


def cards() -> Iterator[ModelCard]:
    """Yield the cards of the models that ship."""
    for kind in ("bi-encoder", "cross-encoder"):
        yield load_card(bundled_models() / DEFAULT_FAMILY / f"{kind}.json")


# Pages


REGIONS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "error_tree": error_tree,
    "error_list": error_list,
    "formats": formats,
    "identity": identity,
    "tables": tables,
    "models": models,
    "known_models": known_models,
    "card_fields": card_fields,
    "model_files": model_files,
    "quality": quality,
}


def renewed(page: str) -> str:
    """Return the text of a page with its generated parts as the code has them now."""
    return REGION.sub(lambda found: f"{found[1]}{found[2]}\n{REGIONS[found[1]]()}\n\n", page)


def pages() -> list[Path]:
    """Return the pages that may have generated parts."""
    models = DOCS.parent / "models" / "README.md"
    return [*sorted(DOCS.glob("*.md")), *([models] if models.exists() else [])]


def main() -> None:
    """Write every page anew that has become stale."""
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = renewed(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
