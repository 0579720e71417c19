# ruff: noqa: RUF001 - dashes and quotes are what the markup stands for
"""What LaTeX writes around and between words, as cuts: commands, accents, quotes, comments."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from localrag.formats.source_map import Cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["braces", "inline_cuts", "masked", "plain", "silent_spans"]

_SILENT: Final = re.compile(
    r"""(?<!\\)(?:\\\\)*(?P<comment>%)
      | \\begin\{(?P<name>verbatim|Verbatim|lstlisting|minted|alltt|comment)(?P<star>\*?)\}
      | \\(?P<never>iffalse)\b
      | \\(?P<inline>verb)\*?(?P<delimiter>[^\w\s*])""",
    re.VERBOSE,
)
_MATH: Final = re.compile(r"(?<!\\)(?P<dollars>\$\$?)|\\(?P<bracket>[\[(])")
_CLOSING: Final = {"[": "\\]", "(": "\\)"}
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
    rf"""\\(?P<dropped>{_DROPPED})(?![A-Za-z])\*?(?:\s*\[[^\]\n]{{0,200}}\])?
       | \\(?P<unwrapped>{_UNWRAPPED})\*?(?:\[[^\]\n]{{0,200}}\])?(?=\{{)
       | \\(?P<note>footnote|thanks|marginpar|footnotetext)(?=\{{)
       | \\(?P<reference>[cC]ref|ref|eqref|autoref|pageref|nameref|[cC]ite\w*)\*?
         (?:\[[^\]\n]{{0,200}}\]){{0,2}}(?=\{{)
       | \\(?P<link>href)(?=\{{)
       | \\(?P<accent>["'`^~=.]|[uvHcrk](?=\s*\{{|\s[a-z]))\s*\{{?\\?(?P<letter>[A-Za-z])\}}?
       | \\(?P<special>ss|ae|AE|oe|OE|aa|AA|o|O|l|L|S|P|copyright|dots|ldots|textellipsis|LaTeX|TeX)
         (?![A-Za-z])(?:\{{\}}|\ )?
       | \\(?P<escaped>[&%$\#_{{}}])
       | \\(?P<space>[ ,;:!/@])
       | (?P<sign>---?|``|''|~)""",
    re.VERBOSE,
)
_AROUND: Final = {"unwrapped": ("", ""), "note": (" (", ")"), "reference": ("[", "]")}
"""What stands in the place of a command and of the brace that closes it."""
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
    source = _blanked(source, [(start, end) for _, start, end in silent_spans(source)])
    return _blanked(source, list(_math_spans(source)))


def _blanked(source: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces += (source[done:start], re.sub(r"[^\n]", " ", source[start:end]))
        done = end
    return "".join((*pieces, source[done:]))


def silent_spans(source: str) -> Iterator[tuple[str, int, int]]:
    """Yield ("comment", "code" or "inline", start, end) of what holds no markup."""
    missing: set[str] = set()
    position = 0
    while match := _SILENT.search(source, position):
        start = match.start("comment") if match["comment"] else match.start()
        kind, closing = _kind_and_closing(match)
        end = -1 if closing in missing else source.find(closing, match.end())
        if end < 0 and kind != "comment":
            # Missing once is missing for all that follow: do not search again.
            missing.add(closing)
            position = match.end()
            continue
        position = len(source) if end < 0 else end + (0 if closing == "\n" else len(closing))
        yield kind, start, position


def _kind_and_closing(match: re.Match[str]) -> tuple[str, str]:
    if match["comment"]:
        return "comment", "\n"
    if match["never"]:
        return "comment", "\\fi"
    if match["inline"]:
        return "inline", match["delimiter"]
    closing = f"\\end{{{match['name']}{match['star']}}}"
    return ("comment" if match["name"] == "comment" else "code"), closing


def _math_spans(source: str) -> Iterator[tuple[int, int]]:
    """Yield formulas. A blank line ends none of them: the dollar before it was a sign."""
    position = 0
    while match := _MATH.search(source, position):
        closing = match["dollars"] or _CLOSING[match["bracket"]]
        end = source.find(closing, match.end(), match.end() + _LONGEST_MATH)
        while end > 0 and source[end - 1] == "\\" and match["dollars"]:
            end = source.find(closing, end + 1, match.end() + _LONGEST_MATH)
        if end < 0 or "\n\n" in source[match.end() : end]:
            position = match.end()
            continue
        position = end + len(closing)
        yield match.start(), position


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
        if match["dropped"]:
            yield _dropped(match, pairs)
        elif match.lastgroup in _AROUND:
            yield from _around(match, pairs)
        elif match.lastgroup == "link":
            yield from _link(match, pairs)
        else:
            yield Cut(*match.span(), _character(match))


def _dropped(match: re.Match[str], pairs: dict[int, int]) -> Cut:
    last = match.end()
    while last in pairs:
        last = pairs[last] + 1
    return Cut(match.start(), last)


def _around(match: re.Match[str], pairs: dict[int, int]) -> Iterator[Cut]:
    """Yield the command and its closing brace."""
    before, after = _AROUND[match.lastgroup or ""]
    if (closing := pairs.get(match.end())) is not None:
        yield Cut(match.start(), match.end() + 1, before)
        yield Cut(closing, closing + 1, after)


def _link(match: re.Match[str], pairs: dict[int, int]) -> Iterator[Cut]:
    """Yield the target of a link, and the braces around its words."""
    opening = pairs.get(match.end(), -1) + 1
    if opening in pairs:
        yield Cut(match.start(), opening + 1)
        yield Cut(pairs[opening], pairs[opening] + 1)


def _character(match: re.Match[str]) -> str:
    if match["accent"]:
        return unicodedata.normalize("NFC", match["letter"] + _COMBINING[match["accent"]])
    if match["special"]:
        return _SPECIAL[match["special"]]
    return match["escaped"] or _SIGNS.get(match["sign"], " ")


def plain(text: str) -> str:
    """Return the words of a title."""
    text = _ALTERNATIVE.sub(r"\1", text)
    cuts = sorted(inline_cuts(text, braces(text), 0, len(text)))
    pieces: list[str] = []
    done = 0
    for cut in cuts:
        if cut.end > done:
            pieces += (text[done : max(cut.start, done)], cut.replacement)
            done = cut.end
    words = "".join((*pieces, text[done:]))
    return " ".join(re.sub(r"\\\\|[{}]", " ", words).split())
