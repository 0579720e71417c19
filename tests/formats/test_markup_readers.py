"""reStructuredText, AsciiDoc, Org and LaTeX."""

from __future__ import annotations

import pytest
from reading import blocks, line_of, outline, read

# reStructuredText

RST = """\
==========
The manual
==========

:Author: Ann
:Version: 2

.. This is a comment
   over two lines.

.. _install:

Install ``now``
===============

Run this::

    pip install x

    pip check

.. code-block:: python
   :caption: a.py

   x = 1

.. note::
   :class: big

   Mind the gap.

.. toctree::

   other

- one
  more
- two

Sub :ref:`there <x>`
--------------------

=====  =====
a      b
=====  =====
1      2
=====  =====

+---+---+
| h | i |
+===+===+
| 1 | 2 |
+---+---+

.. figure:: x.png

   The figure.

.. [1] A footnote.

>>> 1 + 1
2

-----

Last.
"""


def test_rst() -> None:
    document = read(RST, "a.rst")
    assert document.title == "The manual"
    assert document.metadata == {"author": "Ann", "version": "2"}
    assert outline(document) == [
        (1, "The manual", 2),
        (2, "Install `now`", 13),
        (3, "Sub there", RST.split("\n").index("Sub :ref:`there <x>`") + 1),
    ]
    assert blocks(RST, "a.rst") == [
        ("heading", "# The manual"),
        ("paragraph", ":Author: Ann\n:Version: 2"),
        ("heading", "## Install ``now``"),
        ("paragraph", "Run this::"),
        ("code", "    pip install x\n\n    pip check"),
        ("code", ".. code-block:: python\n   :caption: a.py\n\n   x = 1"),
        ("paragraph", ".. note::"),
        ("paragraph", "   Mind the gap."),
        ("list_item", "- one\n  more"),
        ("list_item", "- two"),
        ("heading", "### Sub :ref:`there <x>`"),
        ("table", "=====  =====\na      b\n=====  =====\n1      2\n=====  ====="),
        ("table", "+---+---+\n| h | i |\n+===+===+\n| 1 | 2 |\n+---+---+"),
        ("caption", ".. figure:: x.png\n\n   The figure."),
        ("paragraph", ".. [1] A footnote."),
        ("code", ">>> 1 + 1\n2"),
        ("paragraph", "Last."),
    ]
    assert [block.header_rows for block in document.blocks if block.kind == "table"] == [3, 3]
    assert line_of(document, "Last.") == RST.split("\n").index("Last.") + 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a b\n---\n\n- x::\n\n      code\n", [("list_item", "- x::"), ("code", "      code")]),
        (
            "=== ===\na   b\n=== ===\n\nx",
            [("table", "=== ===\na   b\n=== ==="), ("paragraph", "x")],
        ),
        ("..\n\nx", [("paragraph", "x")]),
        ("*****\n\nx\n", [("paragraph", "x")]),
        ("見出し\n======\n\nx", [("heading", "# 見出し"), ("paragraph", "x")]),
        ("x\n=====\ny\n", [("heading", "# x"), ("paragraph", "y")]),
        ("+--+\n| a|\n+--+", [("table", "+--+\n| a|\n+--+")]),
        ("a\n\n======\nb", [("paragraph", "a"), ("paragraph", "======\nb")]),
    ],
)
def test_rst_details(source: str, expected: list[tuple[str, str]]) -> None:
    found = blocks(source, "a.rst")
    assert found[-len(expected) :] == expected


# AsciiDoc

ADOC = """\
= The *manual*
Ann Author
:version: 2.0
:long: one \\
two
:author: Ann

// comment
ifdef::x[]
Version {version}, {long}, {unknown}.
endif::[]

[[anchor]]
== First {version}

[source,ruby]
----
puts "{version}"
----

.A title
|===
|a |b

|1 |2
|===

____
Said {version}.
____

====
An example.
====

////
hidden
////

* one
+
more
* two

 literal

Old style
~~~~~~~~~

Text <<anchor,there>>.
"""


def test_asciidoc() -> None:
    document = read(ADOC, "a.adoc")
    assert document.title == "The manual"
    assert document.metadata == {"author": "Ann"}
    assert outline(document) == [
        (1, "The manual", 1),
        (2, "First 2.0", 14),
        (3, "Old style", ADOC.split("\n").index("Old style") + 1),
    ]
    assert blocks(ADOC, "a.adoc") == [
        ("heading", "# The *manual*"),
        ("paragraph", "Ann Author"),
        ("paragraph", "Version 2.0, one two, {unknown}."),
        ("heading", "## First 2.0"),
        ("code", '----\nputs "{version}"\n----'),
        ("caption", "A title"),
        ("table", "|===\n|a |b\n\n|1 |2\n|==="),
        ("quote", "Said 2.0."),
        ("paragraph", "An example."),
        ("list_item", "* one"),
        ("paragraph", "more"),
        ("list_item", "* two"),
        ("code", " literal"),
        ("heading", "### Old style"),
        ("paragraph", "Text <<anchor,there>>."),
    ]
    assert line_of(document, "Text <<") == ADOC.split("\n").index("Text <<anchor,there>>.") + 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("----\nnever closed", [("paragraph", "----\nnever closed")]),
        ("== A link:x[B] `c` ==\n\nx", [("heading", "## A link:x[B] `c` =="), ("paragraph", "x")]),
        ("```ruby\nx\n```", [("code", "```ruby\nx\n```")]),
        ("--\nopen\n--\n\n++++\n<b>\n++++", [("paragraph", "open")]),
        ('[options="header"]\n|===\n|a\n|1\n|===', [("table", "|===\n|a\n|1\n|===")]),
    ],
)
def test_asciidoc_details(source: str, expected: list[tuple[str, str]]) -> None:
    assert blocks(source, "a.adoc") == expected


def test_asciidoc_names() -> None:
    assert outline(read("== A link:x[B] `c` ==\n", "a.adoc")) == [(2, "A B `c`", 1)]
    assert read('[options="header"]\n|===\n|a\n|1\n|===', "a.adoc").blocks[0].header_rows == 2


def test_asciidoc_attributes_do_not_expand_without_bound() -> None:
    doubling = "".join(f":a{i + 1}: {{a{i}}}{{a{i}}}\n" for i in range(64))
    source = f":a0: word\n{doubling}\n{{a64}} " + f":x: {'y' * 400}\n" + "{x} " * 10_000
    assert len(read(source, "a.adoc").text) < 2_000_000


# Org

ORG = """\
#+TITLE: My
#+TITLE: notes
#+AUTHOR: Ann
# comment
* TODO [#A] Buy *milk*                              :home:shop:
SCHEDULED: <2024-05-01 Wed>
:PROPERTIES:
:ID: 1
:END:

Text [[https://x.org][here]].

** Code

#+BEGIN_SRC sh
ls
#+END_SRC

#+begin_quote
Said.
#+end_quote

#+begin_center
Middle.
#+end_center

#+begin_comment
Hidden.
#+end_comment

#+CAPTION: The table
| a | b |
|---+---|
| 1 | 2 |

: fixed

- one
  - inner
- two
  | t |

:OPEN:
no end
"""


def test_org() -> None:
    document = read(ORG, "a.org")
    assert document.title == "My notes"
    assert document.metadata == {"author": "Ann"}
    assert outline(document) == [(1, "Buy milk", 5), (2, "Code", 13)]
    assert blocks(ORG, "a.org")[1:] == [
        ("paragraph", "SCHEDULED: <2024-05-01 Wed>"),
        ("paragraph", "Text [[https://x.org][here]]."),
        ("heading", "## Code"),
        ("code", "#+BEGIN_SRC sh\nls\n#+END_SRC"),
        ("quote", "Said."),
        ("paragraph", "Middle."),
        ("caption", " The table"),
        ("table", "| a | b |\n|---+---|\n| 1 | 2 |"),
        ("code", ": fixed"),
        ("list_item", "- one\n  - inner"),
        ("list_item", "- two"),
        ("table", "  | t |"),
        ("paragraph", ":OPEN:\nno end"),
    ]
    assert [block.header_rows for block in document.blocks if block.kind == "table"] == [2, 0]
    assert line_of(document, "no end") == 44


def test_org_blocks_without_an_end_and_drawers_of_other_headlines() -> None:
    source = "#+BEGIN_SRC\nx\n\n:A:\n\n* B =c=\n\n:C:\ny\n"
    assert [text for _, text in blocks(source, "a.org")] == [
        "#+BEGIN_SRC\nx",
        ":A:",
        "# B =c=",
        ":C:\ny",
    ]
    assert outline(read(source, "a.org")) == [(1, "B `c`", 6)]


# LaTeX

LATEX = r"""\documentclass{article}
\title{On \emph{things}}
\author{Kurt G\"odel}
\date{\today}
\newtheorem{satz}{Satz}
\begin{document}
\maketitle
% comment
\section{First -- \texorpdfstring{$x$}{ex}}\label{a}
Don't ``quote'' 50\% of it~all.\footnote{Never.} % gone
\index{x}%
See \cref{a} and \href{https://x.org}{here}, na\"{\i}ve $\alpha -- \beta$, \verb|% no|.

\begin{itemize}
  \item one
    more
  \item[Two] words
\end{itemize}

\begin{verbatim}
% kept \section{no}
\end{verbatim}

\begin{table}
\caption{A \textbf{table}}
\begin{tabular}{ll}
a & b \\
\hline
c & d \\
\midrule
1 & 2 \\
\end{tabular}
\end{table}

\begin{quote}
Said.
\end{quote}

\begin{satz}[Euler]
It holds.
\end{satz}

\subsection*{Second}
\iffalse
never
\fi
\[ x -- y \]
\begin{comment}
hidden
\end{comment}
Last \o\ \LaTeX{} \& more.
\end{document}
after
"""


def test_latex() -> None:
    document = read(LATEX, "a.tex")
    assert document.title == "On things"
    assert document.metadata == {"author": "Kurt Gödel"}
    lines = LATEX.split("\n")
    second = lines.index("\\subsection*{Second}") + 1
    assert outline(document) == [(1, "First – ex", 9), (2, "Second", second)]
    assert blocks(LATEX, "a.tex") == [
        ("heading", "# First – \\texorpdfstring{$x$}{ex}"),
        (
            "paragraph",
            (
                "Don't “quote” 50% of it all. (Never.)\n"
                "See [a] and here, naïve $\\alpha -- \\beta$, \\verb|% no|."
            ),
        ),
        ("list_item", "  - one\n    more"),
        ("list_item", "  - Two: words"),
        ("code", "\\begin{verbatim}\n% kept \\section{no}\n\\end{verbatim}"),
        ("caption", "A table"),
        ("table", "\\begin{tabular}{ll}\na & b \\\\\nc & d \\\\\n1 & 2 \\\\\n\\end{tabular}"),
        ("quote", "Said."),
        ("paragraph", "Satz (Euler).\nIt holds."),
        ("heading", "## Second"),
        ("paragraph", "\\[ x -- y \\]\nLast ø LaTeX & more."),
    ]
    assert lines[(line_of(document, "Last") or 0) - 1].startswith("Last")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a \\verb b %c", "a \\verb b "),
        ("\\begin{verbatim} open", "\\begin{verbatim} open"),
        ("costs $5 and\n\nthen $6 --", "costs $5 and\n\nthen $6 –"),
        ("\\emph{open", "\\emph{open"),
        ("\\end{x} \\begin{a}\\begin{b}\\end{a} y", "\\end{x} \\begin{a}\\begin{b}\\end{a} y"),
        ("\\href{a} x", "\\href{a} x"),
        ("$a\\$--b$ --", "$a\\$--b$ –"),
    ],
)
def test_latex_details(source: str, expected: str) -> None:
    assert read(source, "a.tex").text.strip() == expected.strip()
