"""`localrag search`: the chunks that fit best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from localrag.cli.options import (
    EXIT_NOTHING_FOUND,
    budget_option,
    database_option,
    explain_option,
    json_option,
    label_option,
    mode_option,
    model_option,
    open_for_reading,
    path_option,
    rerank_option,
    reranker_option,
    shell_pattern,
    where_option,
)
from localrag.cli.output import (
    hit_json,
    plain,
    print_failures,
    print_filter_note,
    print_json,
    print_searched_also,
    print_trace,
    shorten,
    shown_other_places,
    shown_place,
    trace_json,
)

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.records import Hit, SearchResult
    from localrag.search.plan import CopiesMode, ExpandMode, Mode

__all__ = ["search"]


@click.command()
@click.argument("query")
@database_option
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Most hits to show.",
)
@mode_option
@rerank_option
@budget_option
@click.option(
    "--context",
    type=click.IntRange(0, 50),
    default=0,
    show_default=True,
    help="Chunks before and after each hit that are shown with it; with --expand window sentences.",
)
@click.option(
    "--expand",
    type=click.Choice(["neighbours", "section", "window"]),
    help="Show with each hit the chunks beside it, its section, or the sentences around it; unless "
    "given, what fits the way the documents were cut. Lines of the hit itself begin with >.",
)
@click.option(
    "--tokens",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Most tokens of all hits together, what is around them included.",
)
@click.option(
    "--per-document",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Most hits of one document; those of other documents move up.",
)
@where_option
@path_option
@label_option
@click.option(
    "--copies",
    type=click.Choice(["together", "apart", "versions"]),
    default="together",
    show_default=True,
    help="Show texts that say the same once; or each; or versions that differ in a figure or a "
    "name once, too.",
)
@click.option(
    "--operators",
    is_flag=True,
    help="""Read "a phrase", -word, word*, title:word, heading:, body: and path: in QUERY as """
    "conditions. Put -- before a QUERY that begins with a hyphen.",
)
@click.option("--full", is_flag=True, help="Show whole texts instead of their beginnings.")
@model_option
@reranker_option
@explain_option
@json_option
@click.pass_context
def search(  # noqa: PLR0913 - click hands over each option by name
    ctx: click.Context,
    query: str,
    database: Path,
    *,
    limit: int,
    mode: Mode,
    context: int,
    expand: ExpandMode | None,
    tokens: int | None,
    per_document: int | None,
    rerank: bool,
    where: str | None,
    paths: tuple[str, ...],
    labels: tuple[str, ...],
    copies: CopiesMode,
    operators: bool,
    model: str | None,
    reranker: str | None,
    budget: float | None,
    full: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Find the chunks that fit QUERY best.

    QUERY is a question, some words, a name: any text is legal. With --operators parts of it are
    conditions.
    """
    with open_for_reading(database, model, reranker) as kb:
        result = kb.search(
            query,
            limit=limit,
            mode=mode,
            rerank=rerank,
            context=context,
            expand=expand,
            tokens=tokens,
            per_document=per_document,
            budget=budget,
            where=where,
            path=[shell_pattern(path) for path in paths],
            labels=labels or None,
            copies=copies,
            operators=operators,
        )
        chunks = kb.chunks(result.trace.chunk_ids) if explain else {}
    print_failures(result.trace)
    if as_json:
        print_json(
            result_json(result) | ({"trace": trace_json(result.trace, chunks)} if explain else {})
        )
    else:
        for hit in result:
            print_hit(hit, full=full or context > 0 or expand is not None)
        if not result.hits:
            click.echo("Nothing found.")
            print_filter_note(result.trace)
        print_searched_also(result.trace)
        if explain:
            print_trace(result.trace, chunks, lines=5)
    if not result.hits:
        ctx.exit(EXIT_NOTHING_FOUND)


def result_json(result: SearchResult) -> dict[str, object]:
    """Return the documented JSON object of a search."""
    return {
        "query": result.query,
        "trace_id": result.trace.id,
        "hits": [hit_json(hit) for hit in result],
        "searched_also": result.trace.searched_also,
        "warnings": list(result.trace.failures),
    }


def print_hit(hit: Hit, *, full: bool) -> None:
    """Print a hit: rank, relevance, place, and all of its text or how the match begins."""
    relevance = "     " if hit.relevance is None else f"{hit.relevance:5.2f}"
    place = shown_place(hit)
    click.echo(
        f"{hit.rank:>3} {click.style(relevance, fg='green')}  {click.style(place, bold=True)}"
    )
    for mark, line in marked_lines(hit) if full else [(" ", _beginning(hit))]:
        click.echo(f"         {mark} {line}")
    if hit.also_in_count:
        click.echo(f"           {click.style(shown_other_places(hit), dim=True)}")


def marked_lines(hit: Hit) -> list[tuple[str, str]]:
    """Return the lines of a hit that are not blank, as a terminal may show them, each with a mark.

    Where more is shown than was found, lines that hold something of it have the mark ``>``.
    """
    lines = []
    start = 0
    for line in hit.text.splitlines(keepends=True):
        end = start + len(line.rstrip())
        matched = any(first < end and start < last for first, last in hit.matches)
        lines.append((matched, plain(line.rstrip())))
        start += len(line)
    shown = [(matched, line) for matched, line in lines if line.strip()]
    widened = not all(matched for matched, _ in shown)
    return [(">" if widened and matched else " ", line) for matched, line in shown]


def _beginning(hit: Hit) -> str:
    start, end = hit.matches[0]
    return shorten(hit.text[start:end], 220)
