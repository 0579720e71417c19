"""Definitions in many languages, by tree-sitter: the extra ``localrag[code]``."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from localrag.formats.code_definitions import Definition, with_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["definitions_by_tree_sitter"]

_CONTAINERS_WORDS: Final = """
    class class_declaration class_definition class_specifier struct_specifier union_specifier
    abstract_class_declaration interface_declaration enum_declaration enum_specifier
    struct_declaration record_declaration trait_declaration trait_definition object_declaration
    object_definition protocol_declaration module module_definition internal_module
    namespace_definition namespace_declaration extension_declaration impl_item trait_item mod_item
    struct_item enum_item union_item class_implementation class_interface mixin_declaration
    library_declaration contract_declaration annotation_type_declaration
"""
_CONTAINERS: Final = frozenset(_CONTAINERS_WORDS.split())
_FUNCTIONS_WORDS: Final = """
    function_definition function_declaration function_item method_definition method_declaration
    method function constructor_declaration constructor_definition destructor_declaration
    singleton_method operator_declaration generator_function_declaration function_signature_item
    subroutine_declaration_statement macro_definition function_statement
    local_function_declaration create_table create_view create_function create_procedure
    create_trigger create_index init_declaration deinit_declaration type_alias_declaration
    type_item type_spec message service rpc enum protocol_function_declaration modifier_definition
    event_definition
"""
_FUNCTIONS: Final = frozenset(_FUNCTIONS_WORDS.split())
_WRAPPERS_WORDS: Final = """
    export_statement decorated_definition template_declaration type_declaration
    ambient_declaration
"""
_WRAPPERS: Final = frozenset(_WRAPPERS_WORDS.split())
_ARROWS: Final = frozenset(("arrow_function", "function_expression", "function", "class"))
_NAMES: Final = ("name", "declarator", "type", "path", "left")
_WHOLE: Final = frozenset(("qualified_identifier", "operator_cast"))
"""Names with parts: ``Shop::open`` says whose method stands outside its class."""
_OWNER: Final = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*\)$")
_MACRO: Final = re.compile(r"[A-Z][A-Z0-9_]+\(\s*\w+(?:\s*,\s*\w+)*\s*\)")
_MOST_NAME = 120


def definitions_by_tree_sitter(
    source: str, lines: Sequence[str], language: str
) -> list[Definition] | None:
    """Return what the grammar of `language` calls a definition; None where there is no grammar."""
    try:
        parser = import_module("tree_sitter_language_pack").get_parser(language)
    except (ImportError, LookupError):
        return None
    data = source.encode()
    found = sorted(_definitions(parser.parse(data).root_node, lines))
    return found or None


def _definitions(root: Any, lines: Sequence[str]) -> Iterator[Definition]:  # noqa: ANN401 - an untyped extra
    pending: list[tuple[Any, Any]] = [(child, child) for child in root.named_children]
    while pending:
        node, outer = pending.pop()
        kind = node.type
        if kind in _WRAPPERS:
            pending += ((child, outer) for child in node.named_children)
            continue
        name = ""
        if kind in _CONTAINERS or kind in _FUNCTIONS:
            # `struct point p;` only uses what is defined elsewhere.
            used = kind.endswith("_specifier") and node.child_by_field_name("body") is None
            name = "" if used else _name(node)
        elif kind in (
            "lexical_declaration",
            "variable_declaration",
            "field_definition",
            "public_field_definition",
        ):
            name = _arrow_name(node)
        if name:
            first, end = outer.start_point[0], outer.end_point[0] + 1
            yield Definition(with_comments(lines, first), end, name)
        if kind not in _FUNCTIONS:
            pending += ((child, child) for child in node.named_children)


def _name(node: Any) -> str:  # noqa: ANN401
    """Return what a definition is called: in C the name lies deep in its declarator."""
    if node.type == "impl_item":
        return _impl_name(node)
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and (owner := _OWNER.search(_text(receiver))):
        return f"{owner[1]}.{_text(node.child_by_field_name('name'))}"
    outer = node
    while node.type not in _WHOLE:
        inner = next((found for key in _NAMES if (found := node.child_by_field_name(key))), None)
        if inner is None and node.type == "reference_declarator":
            inner = node.named_children[-1]
        if inner is None:
            break
        outer, node = node, inner
    # `TEST(Suite, Case) {`: a macro defines something, and its arguments tell what.
    text = _text(outer if _MACRO.fullmatch(_text(outer)) else node)
    if node.type == "operator_cast":
        text = text.partition("(")[0]
    return " ".join(text.split()) if len(text) <= _MOST_NAME and "\n" not in text else ""


def _impl_name(node: Any) -> str:  # noqa: ANN401
    """Return ``Trait for Type``, or the type alone."""
    parts = (node.child_by_field_name(key) for key in ("trait", "type"))
    return " for ".join(_text(part) for part in parts if part)


def _arrow_name(node: Any) -> str:  # noqa: ANN401
    """Return the name of a constant that holds a function."""
    for child in (node, *node.named_children):
        value, name = (child.child_by_field_name(key) for key in ("value", "name"))
        if value is not None and name is not None and value.type in _ARROWS:
            return _text(name)
    return ""


def _text(node: Any) -> str:  # noqa: ANN401
    return str(node.text.decode("utf-8", "replace"))
