"""Our own source as data, and how a broken rule is told."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = "layers/workflow_engine/python/workflow_engine"
PRODUCT = (PACKAGE, "functions")
EVERYTHING = (*PRODUCT, "local", "tests", "benchmarks", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A file: its path from the repository's root, and its text."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.text)

    @property
    def name(self) -> str:
        """As it is imported: workflow_engine.dal.db."""
        return self.path.removeprefix(f"{Path(PACKAGE).parent}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Violation:
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _read(path: Path) -> Module:
    return Module(path=path.relative_to(ROOT).as_posix(), text=path.read_text("utf-8"))


def modules(*folders: str) -> Iterator[Module]:
    """Every Python file below the folders, or the files themselves; a folder that is not there yet has none."""
    for folder in folders:
        place = ROOT / folder
        yield from (_read(path) for path in ([place] if place.is_file() else sorted(place.rglob("*.py"))))


def in_package(*parts: str) -> Iterator[Module]:
    return modules(*(f"{PACKAGE}/{part}" for part in parts or ("",)))


def planted(text: str, path: str = "planted.py") -> Module:
    """A small text that breaks a rule, to show that the rule sees it."""
    return Module(path=path, text=text)


def obey(rule: str, violations: Iterable[Violation]) -> None:
    """Fail with the rule and every place that breaks it."""
    found = sorted(set(violations))
    if found:
        pytest.fail("\n".join([f"rule broken: {rule}", *map(str, found)]), pytrace=False)


def functions_of(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def classes_of(tree: ast.AST) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def called(node: ast.Call) -> str:
    """The last word of what is called: `publish` in `self._publisher.publish(…)`."""
    target = node.func
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def word(node: ast.expr) -> str:
    """The last word of a name or a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
