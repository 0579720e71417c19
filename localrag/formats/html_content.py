"""What of a web page is its content: navigation, footers, cookie banners and controls are not.

A page says it by elements (`main`, `nav`), roles and the usual names of classes. Names that may
also be those of content, such as ``menu``, count only where little but links stands below them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["NOT_TEXT", "content_root", "is_boilerplate"]

NOT_TEXT = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas")
"""Elements that hold nothing to read, and that a browser without scripts would not show."""

_MAIN = "main, [role=main]"
_ARTICLE = (
    "article",
    "[itemprop=articleBody]",
    "#mw-content-text, #bodyContent, #main-content, #content, .markdown-body, .entry-content",
)
_LEAST_MAIN = 0.25
_LEAST_ARTICLE = 0.5

_LEFT_OUT = frozenset(("nav", "button", "select", "input", "textarea", "option", "dialog", "menu"))
_NEVER_LEFT_OUT = frozenset(("html", "body", "main", "article"))
_ROLE_NAMES = """
    navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar
    tablist button doc-toc
"""
_ROLES = frozenset(_ROLE_NAMES.split())
_SURE = re.compile(
    r"""(?:.*-)?(?:cookies?|gdpr|consent|breadcrumbs?|pagination|pager|skip-?link|skip-to-content
      |skip-nav|navbar|navbox|site-?nav|nav-?bar|sr-only|visually-hidden|screen-reader-text|noprint
      |headerlink|anchor-?link|anchorjs-link|heading-anchor|linenos?|linenumbers?|line-numbers-rows
      |gutter|editsection|mw-editsection|mw-jump-link|printfooter|catlinks|edit-this-page|jump-link
      |share-?buttons?|copy-?button|cookie-?(?:banner|notice|bar)|advertisement)(?:-.*)?""",
    re.VERBOSE,
)
_LIKELY = re.compile(
    r"""(?:.*-)?(?:nav|navigation|menu|toc|table-of-contents|side-?bar|related|related-posts|promo
      |newsletter|subscribe|social|share|sharing|ads?|advert|footer|header|banner|tags|prev-next
      |next-prev|comments?|widget|popup|modal|toolbar|drawer)(?:-.*)?""",
    re.VERBOSE,
)
_LINKS_SHARE = 0.5
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def content_root(tree: LexborHTMLParser) -> LexborNode | None:
    """Return the element that holds the content of a page; None where there is no body."""
    body = tree.body
    if body is None:
        return None
    size = _size(body)
    mains = body.css(_MAIN)
    if len(mains) == 1 and _size(mains[0]) >= _LEAST_MAIN * size:
        return mains[0]
    for selector in _ARTICLE:
        found = body.css(selector)
        if len(found) == 1 and _size(found[0]) >= _LEAST_ARTICLE * size:
            return found[0]
    return body


def is_boilerplate(node: LexborNode, *, in_content: bool) -> bool:
    """Whether an element is no part of the content of its page.

    `in_content` says that it stands inside what the page itself marks as its content: a footer
    there may hold notes, and an aside a remark.
    """
    tag = node.tag or ""
    if tag in _LEFT_OUT or (tag in ("footer", "aside") and not in_content):
        return True
    return _is_hidden(node) or (tag not in _NEVER_LEFT_OUT and _is_named_so(node))


def _is_hidden(node: LexborNode) -> bool:
    """Whether a browser does not show an element, or it has a role beside the content."""
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if (attributes.get("role") or "").strip().lower() in _ROLES:
        return True
    # Formulas are hidden behind their pictures.
    hidden = _HIDDEN.search(attributes.get("style") or "")
    return hidden is not None and node.css_first("math") is None


def _is_named_so(node: LexborNode) -> bool:
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower().split()
    names = [name.replace("_", "-") for name in names]
    if any(_SURE.fullmatch(name) for name in names):
        # A page that is built inside an element of such a name is still a page.
        return _size(node) < _LEAST_MAIN * _page_size(node)
    return any(_LIKELY.fullmatch(name) for name in names) and _is_links(node)


def _size(node: LexborNode) -> int:
    return len(node.text(deep=True))


def _page_size(node: LexborNode) -> int:
    body = node.parser.body
    return _size(body) if body is not None else 0


def _is_links(node: LexborNode) -> bool:
    return sum(map(_size, node.css("a"))) >= _LINKS_SHARE * _size(node)
