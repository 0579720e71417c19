"""`localrag doctor`: is this machine, and is this file, in order?"""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from localrag.cli.options import database_option, json_option, model_option, open_for_reading
from localrag.cli.output import print_json
from localrag.errors import LocalragError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["doctor"]


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check."""

    name: str
    ok: bool
    detail: str


@click.command()
@database_option
@model_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, database: Path, model: str | None, *, as_json: bool) -> None:
    """Check the installation, the models and the knowledge base.

    The file is checked if there is one. When a check fails, its line says what to do and the exit
    code is 1.
    """
    checks = [*run_checks(INSTALLATION), *run_checks(file_checks(database, model))]
    if as_json:
        print_json({"ok": all(c.ok for c in checks), "checks": [asdict(c) for c in checks]})
    else:
        for check in checks:
            mark = click.style("ok  ", fg="green") if check.ok else click.style("FAIL", fg="red")
            click.echo(f"{mark}  {check.name:<16} {check.detail}")
    if not all(check.ok for check in checks):
        ctx.exit(1)


def run_checks(checks: dict[str, Callable[[], str]]) -> Iterator[Check]:
    """Yield each check's outcome; a check fails by raising."""
    for name, check in checks.items():
        try:
            yield Check(name, ok=True, detail=check())
        except (LocalragError, ImportError, OSError) as error:
            yield Check(name, ok=False, detail=str(error))


def python_version() -> str:
    """Return the interpreter and the machine."""
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}"


def sqlite_version() -> str:
    """Return SQLite's version; raise if it lacks FTS5."""
    import apsw  # noqa: PLC0415 - each check imports what it checks

    if "ENABLE_FTS5" not in apsw.compile_options:
        raise LocalragError("apsw's SQLite has no FTS5. Reinstall it: pip install -U apsw")
    return f"SQLite {apsw.sqlite_lib_version()} through apsw {apsw.apsw_version()}, FTS5"


def sqlite_vec_version() -> str:
    """Return sqlite-vec's version, from a connection that has loaded it."""
    import apsw  # noqa: PLC0415
    import sqlite_vec  # noqa: PLC0415

    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        return str(connection.execute("SELECT vec_version()").get)
    except apsw.Error as error:
        raise LocalragError(
            f"sqlite-vec cannot be loaded ({error}). Reinstall it: pip install -U sqlite-vec"
        ) from error
    finally:
        connection.close()


def onnxruntime_version() -> str:
    """Return ONNX Runtime's version and where it runs."""
    import onnxruntime  # noqa: PLC0415

    return f"{onnxruntime.__version__} on the CPU"


def bi_encoder() -> str:
    """Check the bi-encoder's files and embed a sentence."""
    from localrag.inference.load import load_embedder  # noqa: PLC0415

    embedder = load_embedder()
    embedder.verify()
    vector = embedder.embed_query("Is this model in order?")
    return f"{embedder.name}: {vector.shape[0]} dimensions, files match their hashes"


def cross_encoder() -> str:
    """Check the cross-encoder's files and read a pair."""
    from localrag.inference.load import load_reranker  # noqa: PLC0415

    reranker = load_reranker()
    reranker.verify()
    reranker.relevance("Is this model in order?", ["This model is in order."])
    return f"{reranker.name}: files match their hashes"


INSTALLATION: dict[str, Callable[[], str]] = {
    "python": python_version,
    "sqlite": sqlite_version,
    "sqlite-vec": sqlite_vec_version,
    "onnxruntime": onnxruntime_version,
    "bi-encoder": bi_encoder,
    "cross-encoder": cross_encoder,
}


def file_checks(path: Path, model: str | None = None) -> dict[str, Callable[[], str]]:
    """Return the checks of a knowledge base file; none when there is no file."""
    if not path.exists():
        return {}

    def whole() -> str:
        with open_for_reading(path, model) as kb:
            problems = kb.verify()
            if problems:
                raise LocalragError(
                    "; ".join(problems) + ". Index the documents again into a new file."
                )
            status = kb.status()
        return f"{path}: {status.documents:,} documents, {status.chunks:,} chunks, whole"

    return {"knowledge base": whole}
