"""A database connection that asks the server, between the statements of every packet, how many rows it has read."""

import importlib
import pkgutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tests.support.engine import Workbench
from workflow_engine import queries
from workflow_engine.dal import Db, DbExecutionLoad, Query, Statement

_STATUS: Query[Any] = Query(sql="SHOW SESSION STATUS LIKE 'Handler_read%%'", values={}, row_type=lambda Variable_name, Value: (Variable_name, int(Value)))  # noqa: N803


CHANGES = "changes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one statement read on the server and how many rows it gave back (or changed)."""

    name: str
    read: int
    returned: int


class CountingDb(Db):
    """Every read, and every run of changes, is followed by a look at the session's counters; what that look itself costs is taken off."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._costs: list[Cost] | None = None

    @contextmanager
    def counting(self) -> Generator[list[Cost]]:
        self._costs = []
        yield self._costs
        self._costs = None

    def send(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        if self._costs is None:
            return super().send(load, packet)
        runs = [list(run) for _, run in groupby(enumerate(packet), key=lambda part: part[0] if isinstance(part[1], Query) else -1)]
        looks = [part for run in runs for part in (*(statement for _, statement in run), _STATUS)]
        results = iter(super().send(load, [_STATUS, _STATUS, *looks]))
        before, total = _sum(next(results)), _sum(next(results))
        look, answers = total - before, list[Any]()
        for run in runs:
            answered = [next(results) for _ in run]
            later = _sum(next(results))
            self._costs += _costs(run, answered, later - total - look)
            answers += answered
            total = later
        return answers


def _costs(run: Sequence[tuple[int, Statement | Query[Any]]], answers: Sequence[Any], read: int) -> list[Cost]:
    """A read has a cost of its own; changes are named, and their sum follows them."""
    names = [NAMES.get(statement.sql, statement.sql) for _, statement in run]
    if isinstance(run[0][1], Query):
        return [Cost(name=names[0], read=read, returned=len(answers[0]))]
    each = [Cost(name=name, read=0, returned=changed) for name, changed in zip(names, answers, strict=True)]
    return [*each, Cost(name=CHANGES, read=read, returned=sum(answers))]


def _sum(counters: Sequence[tuple[str, int]]) -> int:
    return sum(value for _, value in counters)


class CountingBench(Workbench):
    """A bench whose statements can be counted."""

    db_type = CountingDb
    db: CountingDb


def _names() -> dict[str, str]:
    """The constants by their text: QRY_INSTANCE.LIST_DUE_PAGED and the like."""
    modules = [importlib.import_module(f"{queries.__name__}.{found.name}") for found in pkgutil.iter_modules(queries.__path__)]
    classes = [kind for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    return {text: f"{kind.__name__}.{name}" for kind in classes for name, text in vars(kind).items() if isinstance(text, str) and not name.startswith("__")}


NAMES = _names()
