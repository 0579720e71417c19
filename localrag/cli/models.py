"""`localrag models`: what can be named with --model and --reranker, and how to get more."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localrag.cli.options import OrderedGroup, json_option
from localrag.cli.output import print_json, shown_path
from localrag.errors import LocalragError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localrag.inference.bundle import InstalledModel
    from localrag.inference.card import ModelCard
    from localrag.inference.catalogue import CatalogueEntry

__all__ = ["models"]

LEAST_SHOWN = 20_000_000
"""Bytes below which a size that is not known whole says nothing: it is the tokenizer's."""


@click.group(cls=OrderedGroup)
def models() -> None:
    """Show the models, fetch others, or bring one's own.

    A model's name goes to `localrag index --model NAME` (a bi-encoder) or `--reranker NAME` (a
    cross-encoder). Only `pull` uses the network.
    """


@models.command(name="list")
@json_option
def list_models(*, as_json: bool) -> None:
    """List the models on this machine, and those that can be fetched."""
    from localrag.inference.bundle import installed_models, user_models  # noqa: PLC0415

    here = installed_models()
    listed = [entry(model.card, model.origin) for model in here]
    known = {model.card.name for model in here}
    listed += [entry(one, "catalogue") for one in entries() if one.name not in known]
    if as_json:
        print_json({"directory": str(user_models()), "models": listed})
        return
    print_table("On this machine", [one for one in listed if one["origin"] != "catalogue"])
    click.echo()
    title = "Can be fetched with localrag models pull NAME"
    print_table(title, [one for one in listed if one["origin"] == "catalogue"])
    click.echo(f"\nYour models are kept in {shown_path(str(user_models()))}")
    for path, problem in broken():
        click.echo(f"{click.style('Broken:', fg='red')} {shown_path(str(path))}: {problem}")


@models.command()
@click.argument("name")
@json_option
def show(name: str, *, as_json: bool) -> None:
    """Show all that is known of the model NAME: its card, or what the catalogue says."""
    facts, where = known_facts(name)
    card = json.loads(json.dumps(asdict(facts)))  # as JSON has it
    if as_json:
        print_json({"card": card, "path": where and str(where)})
        return
    click.echo(click.style(facts.name, bold=True))
    unsaid = {"name", "files", *(["normalize"] if facts.kind == "cross-encoder" else [])}
    for key, value in card.items():
        if key not in unsaid and value is not None and value != "":
            click.echo(f"  {key.replace('_', ' '):<15} {in_words(value)}")
    for file in card["files"]:
        size = "size not known" if file["bytes"] is None else f"{file['bytes']:,} bytes"
        digest = file["sha256"] or "as the hub says when it is fetched"
        click.echo(f"  {'file':<15} {file['path']}, {size}, SHA-256 {digest}")
    if facts.kind == "cross-encoder" and facts.calibration is None:
        click.echo(f"  {'calibration':<15} none: relevance is the sigmoid of the model's own score")
    place = shown_path(str(where)) if where else f"not here yet: localrag models pull {name}"
    click.echo(f"  {'card':<15} {place}")


@models.command()
@click.argument("name")
def pull(name: str) -> None:
    """Fetch the model NAME from the hub, compare its files with their hashes, and try it.

    Needs the extra `hub`: pip install 'localrag[hub]'. HF_ENDPOINT names another hub, such as a
    mirror. What an interruption leaves is kept: the same command goes on from there.
    """
    from localrag.inference.hub import pull as pull_model  # noqa: PLC0415 - keeps --help light

    print_ready(pull_model(name, progress=sys.stderr.isatty()))


@models.command()
@click.argument("names", nargs=-1)
@json_option
@click.pass_context
def verify(ctx: click.Context, names: tuple[str, ...], *, as_json: bool) -> None:
    """Compare the files of models with their hashes, and run each model once.

    With NAMES, only those. When one fails, its line says what to do and the exit code is 1.
    """
    checks = [
        {"name": name, "ok": problem is None, "detail": problem or "files whole, runs as it should"}
        for name, problem in verified(names)
    ]
    if as_json:
        print_json({"ok": all(check["ok"] for check in checks), "checks": checks})
    else:
        for check in checks:
            mark = click.style("ok  ", fg="green") if check["ok"] else click.style("FAIL", fg="red")
            click.echo(f"{mark}  {check['name']:<28} {check['detail']}")
    if not all(check["ok"] for check in checks):
        ctx.exit(1)


@models.command()
@click.argument("place", metavar="FOLDER", type=click.Path(path_type=Path, exists=True))
def add(place: Path) -> None:
    """Copy a model of your own: FOLDER holds model.onnx, tokenizer.json and the card model.json.

    The model is tried first, and kept only when it does what its card says. A card without `files`
    gets them filled in. No network is used. How to write a card: docs/models.md.
    """
    from localrag.inference.library import add_models  # noqa: PLC0415 - keeps --help light

    for model in add_models(place):
        print_ready(model)


def entries() -> Iterable[Any]:
    """Return the models of the catalogue."""
    from localrag.inference.catalogue import catalogue  # noqa: PLC0415 - keeps --help light

    return catalogue().values()


def entry(facts: ModelCard | CatalogueEntry, origin: str) -> dict[str, Any]:
    """Return a line of the list as a JSON object."""
    sizes = [file.bytes for file in facts.files]
    return {
        "name": facts.name,
        "kind": facts.kind,
        "origin": origin,
        "dimensions": facts.dimensions,
        "max_tokens": facts.max_tokens,
        "languages": list(facts.languages),
        "licence": facts.licence,
        "bytes": sum(size or 0 for size in sizes),
        "bytes_known": None not in sizes,
    }


def print_table(title: str, listed: Iterable[dict[str, Any]]) -> None:
    """Print one line for each model."""
    click.echo(click.style(title, bold=True))
    for one in listed:
        width = f"{one['dimensions']} dimensions" if one["dimensions"] else ""
        more = "" if one["bytes_known"] else "+"
        size = f"{one['bytes'] / 1e6:,.0f}{more} MB" if one["bytes"] > LEAST_SHOWN else "?"
        languages = one["languages"]
        spoken = languages[0] if len(languages) == 1 else f"{len(languages)}+ languages"
        click.echo(
            f"  {one['name']:<28} {one['kind']:<14} {width:<15} {one['max_tokens']:>5} tokens "
            f"{size:>9}  {spoken if languages else '':<14} {one['licence']}"
        )


def known_facts(name: str) -> tuple[Any, Path | None]:
    """Return the card of an installed model and its path, or an entry of the catalogue.

    Raises:
        ModelError: no model has that name.
    """
    from localrag.inference.bundle import installed_models  # noqa: PLC0415 - keeps --help light

    for model in installed_models():
        if model.card.name == name:
            return model.card, model.path
    for one in entries():
        if one.name == name:
            return one, None
    raise ModelError(f"no model called {name}: localrag models list shows those there are")


def verified(names: tuple[str, ...]) -> Iterable[tuple[str, str | None]]:
    """Yield each model's name, and what is wrong with it or None.

    Raises:
        ModelError: a name is that of no model on this machine.
    """
    from localrag.inference.bundle import installed_models  # noqa: PLC0415 - keeps --help light
    from localrag.inference.library import check_model  # noqa: PLC0415

    here = {model.card.name: model for model in installed_models()}
    failed = {path.parent.name: problem for path, problem in broken()}
    for name in names or (*here, *failed):
        if name in failed:
            yield name, failed[name]
        elif name in here:
            try:
                check_model(here[name])
            except LocalragError as error:
                yield name, str(error)
            else:
                yield name, None
        else:
            raise ModelError(
                f"no model called {name} is on this machine: localrag models list shows those "
                "there are"
            )


def broken() -> Iterable[tuple[Path, str]]:
    """Yield the cards that are not valid, and what is wrong with each."""
    from localrag.inference.bundle import card_paths  # noqa: PLC0415 - keeps --help light
    from localrag.inference.card import load_card  # noqa: PLC0415

    for path, _ in card_paths():
        try:
            load_card(path)
        except ModelError as error:
            yield path, str(error)


def in_words(value: Any) -> str:  # noqa: ANN401 - whatever a card holds
    """Return a value of a card for a reader."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items() if part != "")
    return f'"{value}"' if isinstance(value, str) and value != value.strip() else str(value)


def print_ready(model: InstalledModel) -> None:
    """Say that a model is in place and how to use it."""
    card = model.card
    click.echo(
        f"{click.style(card.name, bold=True)} is ready: {card.bytes / 1e6:,.1f} MB in "
        f"{shown_path(str(model.path.parent))}"
    )
    option = "--model" if card.kind == "bi-encoder" else "--reranker"
    click.echo(f"Use it: localrag index FOLDER --db NEW.db {option} {card.name}")
