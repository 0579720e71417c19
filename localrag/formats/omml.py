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
    match element.tag:
        case "m_t":
            return element.text or ""
        case "m_f":
            return f"{_group(element, 'm_num')}/{_group(element, 'm_den')}"
        case "m_sSup":
            return f"{_base(element)}^{_group(element, 'm_sup')}"
        case "m_sSub":
            return f"{_base(element)}_{_group(element, 'm_sub')}"
        case "m_sSubSup":
            lower, upper = _group(element, "m_sub"), _group(element, "m_sup")
            return f"{_base(element)}_{lower}^{upper}"
        case "m_rad":
            return f"{_part(element, 'm_deg')}√{_group(element, 'm_e')}"
        case "m_nary":
            return _nary(element)
        case "m_d":
            return _delimited(element)
        case "m_m":
            rows = ("  ".join(math_text(cell) for cell in row) for row in element.iter("m_mr"))
            return f"[{'; '.join(rows)}]"
        case _ if element.tag.endswith("Pr"):
            return ""
        case _:
            return math_text(element)


def _part(element: Element, name: str) -> str:
    part = element.find(name)
    return "" if part is None else math_text(part)


def _base(element: Element) -> str:
    return _part(element, "m_e")


def _group(element: Element, name: str) -> str:
    text = _part(element, name)
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _nary(element: Element) -> str:
    sign = element.find("m_naryPr/m_chr")
    limits = (("_", _group(element, "m_sub")), ("^", _group(element, "m_sup")))
    shown = "".join(mark + text for mark, text in limits if text)
    symbol = "∫" if sign is None else sign.get("m_val", "∫")
    return f"{symbol}{shown} {_base(element)}"


def _delimited(element: Element) -> str:
    begin, end = element.find("m_dPr/m_begChr"), element.find("m_dPr/m_endChr")
    left = "(" if begin is None else begin.get("m_val", "")
    right = ")" if end is None else end.get("m_val", "")
    return left + ",".join(math_text(part) for part in element.findall("m_e")) + right
