"""Makes questions about code from the Python standard library of the interpreter.

The passages are the chunks into which the product cuts the files, or pieces cut blindly, with its
line of context: the one that defines what is asked has to be told from those that call it, from its
neighbours in the same file, and from those of other files that say much the same. What a function
returns stands in its body, how it works in all of it, and a comment that was taken out is asked
about where it stood.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.formats.registry import read_document
from models.training.code_dress import DRESSES, Dress
from models.training.code_files import Definition, read_source, source_paths, without_lines
from models.training.cuts import cut_blindly, cut_by_product
from models.training.questions import Passage, TrainingQuestion, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk
    from models.training.code_files import Detail, SourceFile

__all__ = ["read_code"]

PASSAGES = 5_000
OF_A_FILE, OF_A_DEFINITION, STEPS_OF_A_FILE = 90, 2, 40
"""Questions at most."""
DRESSED, WITHOUT_DOCSTRINGS = 0.6, 0.75
"""Shares of the files; those without docstrings lack comments about single steps, too."""
BLIND = 0.3
"""Share of the files that are not cut by the product."""

BY_MEANING = (
    "{sentence}",
    "{sentence}",
    "where is the code that does this: {lower}",
    "Which {kind} is there to {lower}?",
    "how does the code {lower}?",
    "which part of {path} does this: {lower}",
)
BY_NAME = (
    "What does the `{name}` {kind} do?",
    "What does the {name} {kind} do?",
    "What is the purpose of the `{name}` {kind}?",
    "{name}",
)
HOW_BY_NAME = (
    "How does the `{name}` {kind} work?",
    "How is the {name} {kind} implemented?",
    "Which steps does {name} take?",
    "What happens in `{name}`?",
)
OF_OWNER = (
    "What does the `{name}` method of the `{owner}` class do?",
    "What does the {name} method of the {owner} class do?",
    "What is the purpose of the `{name}` method in `{owner}`?",
    "{owner} {name}",
)
HOW_OF_OWNER = (
    "How does the `{name}` method of `{owner}` work?",
    "How does {owner} implement {name}?",
    "What happens in the {name} method of the {owner}?",
)
RETURNS = (
    "What does {qualified} return?",
    "What does the `{name}` {kind} return?",
    "Which value comes back from {qualified}?",
)
OF_CLASS = (
    "What is the purpose of the `{name}` class?",
    "What is the {name} class used for?",
    "What does the {name} struct represent?",
    "How is {name} defined?",
    "{name} definition",
)
OF_PARENT = ("Which class does `{name}` inherit from?", "What does {name} extend?")
OF_ERROR = (
    "When does `{name}` raise {error}?",
    "Which errors can {name} produce?",
    "How does {name} handle invalid input?",
)
OF_MESSAGE = ("where does this error come from: {message}", "{error}: {message}", "{message}")
OF_DEFAULT = (
    "What is the default value of the `{parameter}` parameter of `{name}`?",
    "What is {parameter} in {name}?",
    "Which parameters does {name} take?",
)
OF_CONSTANT = ("What is the value of `{name}`?", "Where is {name} defined?", "{name}")
OF_STEP = (
    "How does `{name}` {lower}?",
    "Where does {name} do this: {lower}",
    "What does `{name}` do to {lower}?",
    "What happens in `{name}`: {lower}",
    "{sentence}",
    "{name}: {lower}",
    "which part of {path} does this: {lower}",
)
OF_FILE = ("What is the purpose of {path}?", "{sentence}", "which module is for this: {lower}")


HOW = (HOW_BY_NAME, HOW_OF_OWNER)


@dataclass(frozen=True, slots=True)
class CutFile:
    """A file as it is indexed."""

    source: SourceFile
    dress: Dress | None
    bare: bool
    """Whether its docstrings were taken out."""
    passages: tuple[Passage, ...]
    spans: tuple[tuple[int, int], ...]
    """First and last line of each passage, in the source as it was."""

    def at(self, line: int) -> list[str]:
        """Return the ids of the passages that hold a line."""
        return self.within(line, line)

    def within(self, first: int, last: int) -> list[str]:
        """Return the ids of the passages that hold any of these lines."""
        places = zip(self.passages, self.spans, strict=True)
        return [passage.id for passage, (start, end) in places if start <= last and end >= first]


def read_code(
    seed: int, most: int, counter: TokenCounter, *, most_passages: int = PASSAGES
) -> TrainingSet:
    """Return at most `most` questions about source files of about `most_passages` chunks."""
    generator = random.Random(f"{seed} code chunks")  # noqa: S311 - it samples, it hides nothing
    paths = source_paths()
    generator.shuffle(paths)
    files: list[CutFile] = []
    passages: dict[str, Passage] = {}
    for path, name in paths:
        source = read_source(path, name)
        if source is None or not source.definitions:
            continue
        files.append(cut(source, len(files), counter, generator))
        passages |= {passage.id: passage for passage in files[-1].passages}
        if len(passages) >= most_passages:
            break
    defined = Counter(
        name
        for file in files
        for one in file.source.definitions
        for name in {one.name, one.qualified}
    )
    questions = []
    for file in files:
        asked = list(_questions(file, defined, generator))
        known = [question for question in asked if question.relevant]
        questions += generator.sample(known, min(len(known), OF_A_FILE))
    generator.shuffle(questions)
    numbered = [replace(one, id=f"code{at}") for at, one in enumerate(questions[:most])]
    return TrainingSet("code", passages, tuple(numbered))


def cut(
    source: SourceFile, number: int, counter: TokenCounter, generator: random.Random
) -> CutFile:
    """Return a file cut into chunks by the product, in the dress of a language drawn for it."""
    dress = generator.choice(DRESSES) if generator.random() < DRESSED else None
    bare = generator.random() < WITHOUT_DOCSTRINGS
    lines, numbers = without_lines(
        source.lines, source.docstrings + source.comments if bare else ()
    )
    old: defaultdict[int, list[int]] = defaultdict(list)
    for before, after in enumerate(numbers):
        old[after].append(before)
    text = "\n".join(lines) + "\n"
    document = read_document(text.encode(), source.path)
    if generator.random() < BLIND:
        chunks = cut_blindly(document, counter, generator)
    else:
        chunks = cut_by_product(document, counter, (0,), generator)
    starts = [0]
    for line in document.text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    passages, spans = [], []
    for place, chunk in enumerate(chunks):
        first, last = _lines(chunk, starts)
        spans.append((min(old[first] or [first]), max(old[last] or [last])))
        passages.append(_passage(f"{number}.{place}", chunk, dress, source.path))
    return CutFile(source, dress, bare, tuple(passages), tuple(spans))


def _lines(chunk: Chunk, starts: list[int]) -> tuple[int, int]:
    first = sum(start <= chunk.start for start in starts)
    last = sum(start < chunk.end for start in starts)
    return first, last


def _passage(id_: str, chunk: Chunk, dress: Dress | None, path: str) -> Passage:
    if dress is None:
        return Passage(id_, chunk.context, chunk.text)
    # The product shows the last two parts of a path.
    context = chunk.context.replace(path.rpartition("/")[2], dress.path(path.rpartition("/")[2]), 1)
    return Passage(id_, dress.names(context), dress.code(chunk.text))


def _questions(
    file: CutFile, defined: Counter[str], generator: random.Random
) -> Iterator[TrainingQuestion]:
    if file.bare and file.source.summary:
        yield _asked(OF_FILE, _said(file.source.summary, file), file, (1, 1), generator)
    for one in file.source.definitions:
        if not one.name.startswith("__") and defined[one.qualified] == 1:
            templates = list(_templates(one, defined, bare=file.bare))
            facts = {"name": one.name, "owner": one.owner, "kind": one.kind}
            facts |= {"qualified": one.qualified, **_said(one.sentence, file)}
            for chosen in generator.sample(templates, min(len(templates), OF_A_DEFINITION)):
                question = _asked(chosen, facts, file, (one.first, one.last), generator)
                if chosen in HOW:
                    # The rest of a long body is how it works, as much as its beginning.
                    both = question.relevant + question.neutral
                    question = replace(question, relevant=both, neutral=())
                elif chosen is RETURNS:
                    question = replace(question, relevant=tuple(file.at(one.returns)), neutral=())
                yield question
    steps = [one for one in file.source.details if one.kind == "step"] if file.bare else []
    for detail in generator.sample(steps, min(len(steps), STEPS_OF_A_FILE)):
        facts = {"name": detail.facts["name"], **_said(detail.facts["sentence"], file)}
        yield _asked(OF_STEP, facts, file, (detail.line, detail.line), generator)
    for detail in file.source.details:
        if detail.kind != "step":
            yield _of_detail(detail, file, generator)


def _templates(one: Definition, defined: Counter[str], *, bare: bool) -> Iterator[tuple[str, ...]]:
    if one.sentence and bare:
        yield BY_MEANING
    if one.kind == "class":
        yield OF_CLASS
        if one.parents:
            yield OF_PARENT
    elif one.owner:
        yield OF_OWNER
        yield HOW_OF_OWNER
    if one.kind != "class" and defined[one.name] == 1:
        yield BY_NAME
        yield HOW_BY_NAME
    if one.returns and (one.owner or defined[one.name] == 1):
        yield RETURNS


def _of_detail(detail: Detail, file: CutFile, generator: random.Random) -> TrainingQuestion:
    templates = {
        "error": OF_MESSAGE if detail.facts.get("message") else OF_ERROR,
        "default": OF_DEFAULT,
        "constant": OF_CONSTANT,
    }[detail.kind]
    return _asked(templates, detail.facts, file, (detail.line, detail.line), generator)


def _said(sentence: str, file: CutFile) -> dict[str, str]:
    lower = sentence[:1].lower() + sentence[1:]
    path = file.dress.path(file.source.path) if file.dress else file.source.path
    return {"sentence": sentence, "lower": lower, "path": path}


def _asked(
    templates: Iterable[str],
    facts: dict[str, str],
    file: CutFile,
    lines: tuple[int, int],
    generator: random.Random,
) -> TrainingQuestion:
    text = generator.choice(list(templates)).format(**facts)
    relevant = file.at(lines[0])
    # The rest of a long body answers in part: where nothing else is said, neither right nor wrong.
    neutral = [id_ for id_ in file.within(*lines) if id_ not in relevant]
    shown = file.dress.names(text) if file.dress else text
    return TrainingQuestion("", shown, tuple(relevant), neutral=tuple(neutral))
