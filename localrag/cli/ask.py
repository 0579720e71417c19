"""`localrag ask`: an answer with citations, or an honest "not found"."""

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
    citation_json,
    plain,
    print_failures,
    print_filter_note,
    print_json,
    print_searched_also,
    print_trace,
    shown_other_places,
    shown_place,
    trace_json,
)

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.records import Answer
    from localrag.search.plan import Mode

__all__ = ["ask"]


@click.command()
@click.argument("question")
@database_option
@mode_option
@rerank_option
@where_option
@path_option
@label_option
@model_option
@reranker_option
@budget_option
@explain_option
@json_option
@click.pass_context
def ask(  # noqa: PLR0913 - click hands over each option by name
    ctx: click.Context,
    question: str,
    database: Path,
    mode: Mode,
    *,
    rerank: bool,
    where: str | None,
    paths: tuple[str, ...],
    labels: tuple[str, ...],
    model: str | None,
    reranker: str | None,
    budget: float | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Answer QUESTION with sentences from the documents, each cited.

    When the documents do not answer it, that is said and the exit code is 3.
    """
    with open_for_reading(database, model, reranker) as kb:
        answer = kb.ask(
            question,
            mode=mode,
            rerank=rerank,
            budget=budget,
            where=where,
            path=[shell_pattern(path) for path in paths],
            labels=labels or None,
        )
        chunks = kb.chunks(answer.trace.chunk_ids) if explain else {}
    print_failures(answer.trace)
    if as_json:
        print_json(
            answer_json(answer) | ({"trace": trace_json(answer.trace, chunks)} if explain else {})
        )
    else:
        print_answer(answer)
        print_searched_also(answer.trace)
        if explain:
            print_trace(answer.trace, chunks, lines=5)
    if not answer.found:
        if not as_json:
            print_filter_note(answer.trace)
        ctx.exit(EXIT_NOTHING_FOUND)


def answer_json(answer: Answer) -> dict[str, object]:
    """Return the documented JSON object of an answer."""
    return {
        "question": answer.question,
        "answer": answer.text,
        "found": answer.found,
        "citations": [citation_json(citation) for citation in answer.citations],
        "trace_id": answer.trace.id,
        "searched_also": answer.trace.searched_also,
        "warnings": list(answer.trace.failures),
    }


def print_answer(answer: Answer) -> None:
    """Print the sentences, then where each stands."""
    click.echo(plain(answer.text))
    if answer.citations:
        click.echo()
    for citation in answer.citations:
        span = f"characters {citation.start}-{citation.end}"
        click.echo(
            f"[{citation.number}] {click.style(shown_place(citation), bold=True)} "
            + click.style(f"({span}, relevance {citation.relevance:.2f})", dim=True)
        )
        if citation.also_in_count:
            click.echo(f"    {click.style(shown_other_places(citation), dim=True)}")
