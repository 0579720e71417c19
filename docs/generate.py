"""Writes those parts of the pages in docs/ that the code already says, so that they cannot drift.

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
import re
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, get_args

import click

from localrag import config, errors
from localrag.cli.main import cli
from localrag.config import Settings
from localrag.inference.bundle import DEFAULT_FAMILY, bundled_models
from localrag.inference.card import load_card
from localrag.store.migrations import FORMAT_VERSION, MIGRATIONS
from localrag.store.schema import APPLICATION_ID, vectors_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from localrag.inference.card import ModelCard

DOCS = Path(__file__).parent
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
    return "\n\n".join(command_section(command) for command in cli.commands.values())


def command_section(command: click.Command) -> str:
    """Return the section of one command."""
    # click keeps the help option that it makes here: without the group it would have no -h.
    group = click.Context(cli, **cli.context_settings)
    pieces = command.collect_usage_pieces(click.Context(command, parent=group))
    usage = " ".join(["localrag", str(command.name), *pieces])
    options = [option for option in command.params if isinstance(option, click.Option)]
    head = ("option", "value", "default", "meaning")
    rows = ((flags(one), value(one), default(one), one.help or "") for one in options)
    return "\n\n".join(
        (
            f"## {command.name}",
            code("sh", usage),
            inspect.cleandoc(command.help or ""),
            table(head, rows),
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
    if isinstance(option.type, click.Path):
        return "file"
    return "" if option.is_flag else "number"


def default(option: click.Option) -> str:
    """Return the default, and the environment variable that can hold another."""
    if not option.show_default:
        return ""
    shown = option.opts[0] if option.is_flag else option.default
    return f"`{shown}`" + (f", or what `{option.envvar}` says" if option.show_envvar else "")


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
        for name in Settings.model_fields
    )
    return table(("setting", "default", "allowed", "meaning"), rows)


def allowed(name: str) -> str:
    """Return the values that a setting may have."""
    field = Settings.model_fields[name]
    choices = (True, False) if field.annotation is bool else get_args(field.annotation)
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    limits: Mapping[str, float | None] = {
        limit: next((getattr(one, limit) for one in field.metadata if hasattr(one, limit)), None)
        for limit in ("ge", "le")
    }
    return span(limits["ge"], limits["le"])


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
    vectors = vectors_table(384).replace("IF NOT EXISTS ", "").replace("vec0(", "vec0(\n    ")
    steps = "".join(MIGRATIONS)
    return code("sql", f"{steps}\n-- Unit vectors, as long as the bi-encoder's.\n{vectors};")


# The models


def models() -> str:
    """Return the facts of the models that ship, from their cards."""
    rows: list[list[str]] = []
    for card in cards():
        prefixes = ", ".join(
            f"`{text}`" for text in (card.query_prefix, card.passage_prefix) if text
        )
        weights = next(file for file in card.files if file.path == card.model)
        rows.append(
            [
                card.name,
                card.kind,
                str(card.dimensions or ""),
                str(card.max_tokens),
                card.pooling or "first",
                prefixes,
                card.licence,
                f"{weights.bytes:,}",
            ]
        )
    head = ("name", "kind", "dimensions", "most tokens", "pooling", "prefixes", "licence", "bytes")
    return table(head, rows)


def model_files() -> str:
    """Return every file of the models, with the beginning of its hash."""
    files = {file.path: file for card in cards() for file in card.files}
    rows = (
        (f"`{file.path}`", f"{file.bytes:,}", f"`{file.sha256[:16]}`") for file in files.values()
    )
    return table(("file", "bytes", "sha256 begins with"), rows)


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
    "identity": identity,
    "tables": tables,
    "models": models,
    "model_files": model_files,
}


def renewed(page: str) -> str:
    """Return the text of a page with its generated parts as the code has them now."""
    return REGION.sub(lambda found: f"{found[1]}{found[2]}\n{REGIONS[found[1]]()}\n\n", page)


def main() -> None:
    """Write every page anew that has become stale."""
    for path in sorted(DOCS.glob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = renewed(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"wrote docs/{path.name}")


if __name__ == "__main__":
    main()
