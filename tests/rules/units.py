"""Units of work, and whether the world is told inside one.

A unit of work is what is given to WorkFlowDAL.run or run_reading (a function, a bound method, a lambda, a partial, an object with __call__), and the body of a
`with ….begin(…)` block. Its calls are followed through the engine and the DAL as call_graph.py says. Reaching a call of one of TELLS means that somebody
outside could hear of a change that is rolled back afterwards, or hear of it twice when the unit starts again.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tests.rules.call_graph import CallGraph, Function
from tests.rules.source import Violation, called

TELLS = frozenset({"publish", "publish_notices", "publish_batch", "subscribe", "unsubscribe"})
GATEWAY = "WorkFlowDAL"
_RUNS = frozenset({"run", "run_reading"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    function: Function
    line: int
    # The statements that belong to it, or the functions that it is; neither, when it cannot be followed.
    body: tuple[ast.stmt, ...] = ()
    functions: tuple[Function, ...] = ()

    def says(self, message: str) -> Violation:
        return Violation(path=self.function.module.path, line=self.line, message=f"{self.function.name}: {message}")


def units(graph: CallGraph) -> Iterator[Unit]:
    for function in graph.functions:
        for node in function.nodes():
            if isinstance(node, ast.Call) and called(node) in _RUNS and _is_gateway(node, graph, function):
                given = node.args[1] if len(node.args) > 1 else next(keyword.value for keyword in node.keywords if keyword.arg == "unit")
                yield Unit(function=function, line=node.lineno, functions=tuple(graph.value(given, function)))
            if isinstance(node, ast.With) and any(isinstance(item.context_expr, ast.Call) and called(item.context_expr) == "begin" for item in node.items):
                yield Unit(function=function, line=node.lineno, body=tuple(node.body))


def told_inside(graph: CallGraph) -> Iterator[Violation]:
    for unit in units(graph):
        if not unit.body and not unit.functions:
            yield unit.says("the unit cannot be followed; give run() a function, a partial, a lambda or an object with __call__")
        path = _path(graph, unit)
        if path:
            yield unit.says(f"the unit reaches {' -> '.join(path)}; return what is to be told and tell it after the commit")


def _is_gateway(call: ast.Call, graph: CallGraph, function: Function) -> bool:
    return isinstance(call.func, ast.Attribute) and graph.kind_of(call.func.value, function) == GATEWAY


def _path(graph: CallGraph, unit: Unit) -> list[str] | None:
    """The first way from the unit to a call that tells the world, by the names on it."""
    seen: set[int] = set()
    waiting: list[tuple[Function, list[ast.AST], list[str]]] = [(unit.function, list(unit.body), [])] if unit.body else []
    waiting += [(function, [function.node], [function.name]) for function in unit.functions]
    while waiting:
        function, roots, path = waiting.pop()
        for call in (node for root in roots for node in ast.walk(root) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr in TELLS:
                return [*path, f"{call.func.attr} ({function.module.path}:{call.lineno})"]
            for target in graph.targets(call, function):
                if id(target.node) not in seen:
                    seen.add(id(target.node))
                    waiting.append((target, [target.node], [*path, target.name]))
    return None
