"""How `dal/leaf` names its statements: query(), statement() and bulk(), each with a QRY constant and exactly its values."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.rules.constants import PREFIX, Constant
from tests.rules.query_rules import READS
from tests.rules.source import Module, Violation, called, functions_of
from tests.rules.sql_text import placeholders

RUNNERS = frozenset({"query", "statement", "bulk"})
_BUILT_BY_HAND = frozenset({"Query", "Statement"})
# Positional arguments: the constant, and for a read the row type, for several rows the rows.
_POSITIONS = {"query": 2, "statement": 1, "bulk": 2}


class UnreadableError(Exception):
    """The values cannot be told from the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafCall:
    module: Module
    function: ast.AST
    node: ast.Call

    @property
    def runner(self) -> str:
        return called(self.node)

    @property
    def constant_name(self) -> str | None:
        match self.node.args[:1]:
            case [ast.Attribute(value=ast.Name(id=owner), attr=name)] if owner.startswith(PREFIX):
                return f"{owner}.{name}"
        return None

    def says(self, message: str) -> Violation:
        return Violation(path=self.module.path, line=self.node.lineno, message=message)


def leaf_calls(module: Module) -> Iterator[LeafCall]:
    for function in functions_of(module.tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNNERS:
                yield LeafCall(module=module, function=function, node=node)


def broken_calls(module: Module, known: Mapping[str, Constant]) -> Iterator[Violation]:
    for call in leaf_calls(module):
        problem = _problem(call, known)
        if problem:
            yield call.says(problem)
    yield from _around(module)


def _problem(call: LeafCall, known: Mapping[str, Constant]) -> str | None:
    constant = known.get(call.constant_name or "")
    if constant is None:
        return f"{call.runner}() is given a QRY constant, not {ast.unparse(call.node.args[0]) if call.node.args else 'nothing'}"
    wanted = {"query"} if constant.verb in READS else {"statement", "bulk"}
    if call.runner not in wanted:
        return f"{constant.full_name} goes through {' or '.join(sorted(wanted))}(): its verb says what comes back"
    if len(call.node.args) != _POSITIONS[call.runner]:
        return f"{call.runner}() takes {_POSITIONS[call.runner]} positional arguments; values are keywords"
    try:
        given = _bulk_keys(call) if call.runner == "bulk" else _keyword_keys(call)
    except UnreadableError as error:
        return f"{constant.full_name}: write the values as keywords, a dict literal or a helper that returns one: {error}"
    return _difference(constant, given)


def _difference(constant: Constant, given: set[str]) -> str | None:
    missing, unknown = placeholders(constant.sql) - given, given - placeholders(constant.sql)
    said = [f"{word} {', '.join(sorted(names))}" for word, names in (("is not given", missing), ("has no place for", unknown)) if names]
    return f"{constant.full_name} {' and '.join(said)}" if said else None


def _keyword_keys(call: LeafCall) -> set[str]:
    keys = [{keyword.arg} if keyword.arg else _dict_keys(keyword.value, call) for keyword in call.node.keywords]
    return set().union(*keys)


def _bulk_keys(call: LeafCall) -> set[str]:
    rows = call.node.args[1]
    if isinstance(rows, ast.ListComp):
        return _dict_keys(rows.elt, call)
    if not isinstance(rows, ast.List) or not rows.elts:
        raise UnreadableError(ast.unparse(rows))
    shapes = {frozenset(_dict_keys(row, call)) for row in rows.elts}
    if len(shapes) != 1:
        raise UnreadableError("the rows differ")
    return set(shapes.pop())


def _dict_keys(node: ast.expr, call: LeafCall) -> set[str]:
    """A dict literal, a local name for one, or a function of the module that returns one."""
    if isinstance(node, ast.Dict):
        keys = [_dict_keys(value, call) if key is None else {_text(key)} for key, value in zip(node.keys, node.values, strict=True)]
        return set().union(*keys)
    if isinstance(node, ast.Name):
        return _dict_keys(_assigned(node.id, call.function), call)
    if isinstance(node, ast.Call):
        helper = next((found for found in functions_of(call.module.tree) if found.name == called(node)), None)
        returned = [part.value for part in ast.walk(helper) if isinstance(part, ast.Return) and part.value] if helper else []
        if len(returned) == 1:
            return _dict_keys(returned[0], LeafCall(module=call.module, function=helper, node=call.node))
    raise UnreadableError(ast.unparse(node))


def _assigned(name: str, function: ast.AST) -> ast.expr:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                return value
    raise UnreadableError(name)


def _text(key: ast.expr) -> str:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    raise UnreadableError(ast.unparse(key))


def _around(module: Module) -> Iterator[Violation]:
    """A constant is used in these calls alone, and nothing is built by hand."""
    first = {id(call.node.args[0]) for call in leaf_calls(module) if call.node.args}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id.startswith(PREFIX) and id(node) not in first:
            yield Violation(path=module.path, line=node.lineno, message=f"{ast.unparse(node)} is given to {', '.join(sorted(RUNNERS))} and to nothing else")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BUILT_BY_HAND:
            yield Violation(path=module.path, line=node.lineno, message=f"use {', '.join(sorted(RUNNERS))} instead of {node.func.id}(…)")
