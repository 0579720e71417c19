from __future__ import annotations

import pytest
from counters import WordCounter

from localrag.chunking.signature import signature_above
from localrag.chunking.structural import split
from localrag.chunking.token_index import TokenIndex
from localrag.formats.registry import read_document

PYTHON = '''\
# a module
class Keys:
    """Holds keys."""

    def rotate(
        self,
        month: int,
    ) -> None:
        # every month
        if month:
            first()
        else:
            second()

    @property
    def age(self) -> int:
        return 1

def main() -> None:
    third()
'''
C = """\
#include <stdio.h>
int main(void)
{
\tfor (;;)
\t{
\t\tfirst();
\t}
}
"""
RUST = """\
impl Keys {
    fn rotate(&self) {
        match self {
            Some(x) => first(x),
        }
    }
}
"""


def above(code: str, line: str, most: int = 50) -> list[str]:
    tokens = TokenIndex(code, WordCounter())
    signature, size = signature_above(tokens, 0, code.index(line), most)
    assert size <= most
    return signature.splitlines()


@pytest.mark.parametrize(
    ("code", "line", "expected"),
    [
        (PYTHON, "first()", ["class Keys:", "    def rotate(", "        if month:"]),
        (PYTHON, "second()", ["class Keys:", "    def rotate(", "        if month:"]),
        (PYTHON, "return 1", ["class Keys:", "    def age(self) -> int:"]),
        (PYTHON, "third()", ["def main() -> None:"]),
        (PYTHON, "def main", []),
        (PYTHON, "# a module", []),
        (C, "first()", ["int main(void)", "\tfor (;;)"]),
        (RUST, "Some(x)", ["impl Keys {", "    fn rotate(&self) {", "        match self {"]),
    ],
)
def test_the_lines_that_enclose_a_line(code: str, line: str, expected: list[str]) -> None:
    assert above(code, line) == expected


def test_the_innermost_lines_go_first_where_there_is_no_room() -> None:
    assert above(PYTHON, "first()", most=5) == ["class Keys:"]
    assert above(PYTHON, "first()", most=2) == []


def test_a_position_inside_a_line_counts_as_the_line() -> None:
    assert above(PYTHON, "irst()")[-1] == "        if month:"


def test_nothing_above_the_block_is_looked_at() -> None:
    tokens = TokenIndex(PYTHON, WordCounter())
    start = PYTHON.index("        # every month")
    signature, _ = signature_above(tokens, start, PYTHON.index("first()"), 50)
    assert signature == "        if month:"


def test_parts_of_long_code_repeat_their_signature() -> None:
    body = "\n".join(f"        step {number}" for number in range(60))
    code = f"```python\nclass Keys:\n    def rotate(self):\n{body}\n```"
    document = read_document(code.encode(), "a.md")
    chunks = split(document, WordCounter(80), chunk_tokens=40, overlap_tokens=0)[1]
    assert len(chunks) > 3
    assert chunks[0].preamble == ""
    expected = "class Keys:\n    def rotate(self):"
    assert {chunk.preamble for chunk in chunks[1:-1]} == {expected}
    assert all(chunk.tokens <= 80 for chunk in chunks)
    assert "class Keys:" in chunks[2].passage
