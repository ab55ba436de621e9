"""The named statements of `queries/`, read from the syntax tree."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.rules.source import Module, Violation, in_package

PREFIX = "QRY_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    owner: str
    name: str
    sql: str
    path: str
    line: int

    @property
    def full_name(self) -> str:
        return f"{self.owner}.{self.name}"

    @property
    def verb(self) -> str:
        return self.name.split("_")[0]

    def says(self, message: str) -> Violation:
        return Violation(path=self.path, line=self.line, message=f"{self.full_name}: {message}")


@cache
def all_constants() -> dict[str, Constant]:
    return {constant.full_name: constant for module in in_package("queries") for constant in constants_of(module)}


def constants_of(module: Module) -> Iterator[Constant]:
    for kind, member in _members(module):
        match member:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(sql))):
                yield Constant(owner=kind.name, name=name, sql=sql, path=module.path, line=member.lineno)


def misshapen(module: Module) -> Iterator[Violation]:
    """Members that are not `NAME = "…"` on one line, and whatever else lies in a queries module."""
    for node in module.tree.body[1:]:
        if not (isinstance(node, ast.ClassDef) and node.name.startswith(PREFIX) and not node.bases):
            yield Violation(path=module.path, line=node.lineno, message=f"only {PREFIX}… classes belong here")
    for kind, member in _members(module):
        problem = _problem(member, module.text)
        if problem:
            yield Violation(path=module.path, line=member.lineno, message=f"{kind.name}: {problem}")


def _members(module: Module) -> Iterator[tuple[ast.ClassDef, ast.stmt]]:
    for kind in module.tree.body:
        if isinstance(kind, ast.ClassDef) and kind.name.startswith(PREFIX):
            documented = ast.get_docstring(kind) is not None
            yield from ((kind, member) for member in kind.body[int(documented) :])


def _problem(member: ast.stmt, text: str) -> str | None:
    match member:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.JoinedStr()):
            return f"{name} is an f-string"
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str()) as value):
            if _pieces(value, text) != 1:
                return f"{name} is put together from several texts"
            return None if member.lineno == member.end_lineno else f"{name} is not on one line (end it with '# fmt: skip' where the formatter wraps it)"
        case ast.Assign(targets=[ast.Name(id=name)]):
            return f"{name} is not a plain text"
    return "a member is NAME = and a text"


def _pieces(value: ast.Constant, text: str) -> int:
    source = ast.get_source_segment(text, value) or ""
    return sum(token.type == tokenize.STRING for token in tokenize.generate_tokens(io.StringIO(f"({source})").readline))
