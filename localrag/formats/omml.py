"""Equations of Office files as one line of text: ``(a+b)/c``, ``x^2``, ``√(x)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localrag.formats.ooxml import Element

__all__ = ["math_text"]


def math_text(element: Element) -> str:
    """Return an equation, or a part of one, as text."""
    return "".join(_text(child) for child in element)


def _text(element: Element) -> str:
    if element.tag == "m_t":
        return element.text or ""
    if element.tag.endswith("Pr"):
        return ""
    return _SHOWN.get(element.tag, math_text)(element)


def _part(element: Element, name: str) -> str:
    part = element.find(name)
    return "" if part is None else math_text(part)


def _group(element: Element, name: str) -> str:
    text = _part(element, name)
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _fraction(element: Element) -> str:
    return f"{_group(element, 'm_num')}/{_group(element, 'm_den')}"


def _raised(element: Element) -> str:
    return f"{_part(element, 'm_e')}^{_group(element, 'm_sup')}"


def _lowered(element: Element) -> str:
    return f"{_part(element, 'm_e')}_{_group(element, 'm_sub')}"


def _lowered_and_raised(element: Element) -> str:
    return f"{_lowered(element)}^{_group(element, 'm_sup')}"


def _root(element: Element) -> str:
    return f"{_part(element, 'm_deg')}√{_group(element, 'm_e')}"


def _matrix(element: Element) -> str:
    rows = ("  ".join(math_text(cell) for cell in row) for row in element.iter("m_mr"))
    return f"[{'; '.join(rows)}]"


def _nary(element: Element) -> str:
    sign = element.find("m_naryPr/m_chr")
    limits = (("_", _group(element, "m_sub")), ("^", _group(element, "m_sup")))
    shown = "".join(mark + text for mark, text in limits if text)
    symbol = "∫" if sign is None else sign.get("m_val", "∫")
    return f"{symbol}{shown} {_part(element, 'm_e')}"


def _delimited(element: Element) -> str:
    begin, end = element.find("m_dPr/m_begChr"), element.find("m_dPr/m_endChr")
    left = "(" if begin is None else begin.get("m_val", "")
    right = ")" if end is None else end.get("m_val", "")
    return left + ",".join(math_text(part) for part in element.findall("m_e")) + right


_SHOWN = {
    "m_f": _fraction,
    "m_sSup": _raised,
    "m_sSub": _lowered,
    "m_sSubSup": _lowered_and_raised,
    "m_rad": _root,
    "m_m": _matrix,
    "m_nary": _nary,
    "m_d": _delimited,
}
