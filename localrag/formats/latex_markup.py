"""What LaTeX writes around and between words, as cuts: commands, accents, quotes, comments."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from localrag.formats.source_map import Cut

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["braces", "inline_cuts", "masked", "plain", "silent_cuts"]

_SILENT: Final = re.compile(
    r"""(?P<comment>(?<!\\)(?:\\\\)*%[^\n]*)
      | \\begin\{(?P<name>verbatim|Verbatim|lstlisting|minted|alltt|comment)\*?\}
        .*?\\end\{(?P=name)\*?\}
      | \\iffalse\b.*?\\fi\b
      | \\verb\*?(?P<delimiter>[^\w\s*]).*?(?P=delimiter)""",
    re.VERBOSE | re.DOTALL,
)
_MATH: Final = re.compile(r"(?<!\\)(\$\$?)(?:[^$\\]|\\.)*?\1|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
_LONGEST_MATH = 5_000

_DROPPED: Final = (
    "label|symlabel|index\\w*|vspace|hspace|bibliographystyle|bibliography|pagestyle|thispagestyle"
    "|includegraphics|input|include|setcounter|addtocounter|addcontentsline|phantomsection"
    "|cleardoublepage|clearpage|newpage|pagebreak|noindent|smallskip|medskip|bigskip|centering"
    "|raggedright|maketitle|tableofcontents|listoffigures|listoftables|par|hline|toprule|midrule"
    "|bottomrule|small|footnotesize|scriptsize|tiny|normalsize|large|Large|itshape|bfseries"
    "|appendix|frontmatter|mainmatter|backmatter|printindex|sloppy"
)
_UNWRAPPED: Final = (
    "emph|textbf|textit|texttt|textsc|textsf|textrm|textsl|textup|textmd|underline|text|mbox"
    "|define|term|caption|enquote|url|path|title|author|uline|hbox"
)
_COMMAND: Final = re.compile(
    rf"""\\(?P<dropped>{_DROPPED})(?![A-Za-z])\*?(?:\s*\[[^\]\n]*\])?
       | \\(?P<unwrapped>{_UNWRAPPED})\*?(?:\[[^\]\n]*\])?(?=\{{)
       | \\(?P<note>footnote|thanks|marginpar|footnotetext)(?=\{{)
       | \\(?P<reference>[cC]ref|ref|eqref|autoref|pageref|nameref|[cC]ite\w*)\*?(?:\[[^\]\n]*\]){{0,2}}(?=\{{)
       | \\href(?=\{{)(?P<link>)
       | \\(?P<accent>["'`^~=.]|[uvHcrk](?=\s*\{{|\s[a-z]))\s*\{{?\\?(?P<letter>[A-Za-z])\}}?
       | \\(?P<special>ss|ae|AE|oe|OE|aa|AA|o|O|l|L|S|P|copyright|dots|ldots|textellipsis|LaTeX|TeX)
         (?![A-Za-z])(?:\{{\}}|\ )?
       | \\(?P<escaped>[&%$\#_{{}}])
       | \\(?P<space>[ ,;:!/@])
       | (?P<sign>---?|``|''|~)""",
    re.VERBOSE,
)
_ALTERNATIVE: Final = re.compile(
    r"\\texorpdfstring\{(?:[^{}]|\{[^{}]*\})*\}\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_COMBINING: Final = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "r": "\u030a",
    "k": "\u0328",
}  # fmt: skip
_SPECIAL: Final = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø",
    "O": "Ø", "l": "ł", "L": "Ł", "S": "§", "P": "¶", "copyright": "©", "dots": "…",
    "ldots": "…", "textellipsis": "…", "LaTeX": "LaTeX", "TeX": "TeX",
}  # fmt: skip
_SIGNS: Final = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " "}


def masked(source: str) -> str:
    """Return `source` with comments, code and math blanked out, each line as long as before."""
    for pattern in (_SILENT, _MATH):
        source = pattern.sub(_blank, source)
    return source


def _blank(match: re.Match[str]) -> str:
    if match.re is _MATH and ("\n\n" in match[0] or len(match[0]) > _LONGEST_MATH):
        return match[0]
    return re.sub(r"[^\n]", " ", match[0])


def silent_cuts(source: str) -> Iterator[tuple[str, int, int]]:
    """Yield ("comment" or "code", start, end) of what holds no markup."""
    for match in _SILENT.finditer(source):
        if match["comment"]:
            yield "comment", match.start() + match[0].index("%"), match.end()
        elif match["name"] == "comment" or match[0].startswith("\\iffalse"):
            yield "comment", *match.span()
        elif match["name"]:
            yield "code", *match.span()


def braces(text: str) -> dict[int, int]:
    """Return for each opening brace where its closing one stands."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            pairs[opened.pop()] = match.start()
    return pairs


def inline_cuts(text: str, pairs: dict[int, int], start: int, end: int) -> Iterator[Cut]:
    """Yield the markup in `text[start:end]`, which is masked, with what stands in its place."""
    for match in _COMMAND.finditer(text, start, end):
        closing = pairs.get(match.end(), -1)
        if match["dropped"]:
            last = match.end()
            while (closing := pairs.get(last, -1)) >= 0:
                last = closing + 1
            yield Cut(match.start(), last)
        elif match["reference"]:
            if closing >= 0:
                yield Cut(match.start(), match.end() + 1, "[")
                yield Cut(closing, closing + 1, "]")
        elif match["link"] is not None:
            shown = pairs.get(closing + 1, -1)
            if closing >= 0 and shown >= 0:
                yield Cut(match.start(), closing + 2)
                yield Cut(shown, shown + 1)
        elif match["unwrapped"] or match["note"]:
            if closing >= 0:
                yield Cut(match.start(), match.end() + 1, " (" if match["note"] else "")
                yield Cut(closing, closing + 1, ")" if match["note"] else "")
        elif match["accent"]:
            composed = match["letter"] + _COMBINING[match["accent"]]
            yield Cut(*match.span(), unicodedata.normalize("NFC", composed))
        elif match["special"]:
            yield Cut(*match.span(), _SPECIAL[match["special"]])
        else:
            yield Cut(*match.span(), match["escaped"] or _SIGNS.get(match["sign"], " "))


def plain(text: str) -> str:
    """Return the words of a title."""
    text = _ALTERNATIVE.sub(r"\1", text)
    cuts = sorted(inline_cuts(text, braces(text), 0, len(text)))
    pieces, done = [], 0
    for cut in cuts:
        if cut.end > done:
            pieces += (text[done : max(cut.start, done)], cut.replacement)
            done = cut.end
    words = "".join((*pieces, text[done:]))
    return " ".join(re.sub(r"\\\\|[{}]", " ", words).split())
