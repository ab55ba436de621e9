"""A database connection that asks the server, between the statements of every packet, how many rows it has read."""

import importlib
import pkgutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.support.engine import Workbench
from workflow_engine import queries
from workflow_engine.dal import Db, DbExecutionLoad, Query, Statement

_STATUS: Query[Any] = Query(sql="SHOW SESSION STATUS LIKE 'Handler_read%%'", values={}, row_type=lambda Variable_name, Value: (Variable_name, int(Value)))  # noqa: N803


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one statement read on the server and how many rows it gave back (or changed)."""

    name: str
    read: int
    returned: int


class CountingDb(Db):
    """Every statement is followed by a look at the session's counters; what that look itself costs is taken off."""

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
        looks = [part for statement in packet for part in (statement, _STATUS)]
        results = super().send(load, [_STATUS, _STATUS, *looks])
        totals = [sum(value for _, value in found) for found in [results[0], *results[1::2]]]
        look = totals[1] - totals[0]
        reads = [later - earlier - look for earlier, later in pairwise(totals[1:])]
        answers = results[2::2]
        for statement, read, answer in zip(packet, reads, answers, strict=True):
            self._costs.append(Cost(name=NAMES.get(statement.sql, statement.sql), read=read, returned=answer if isinstance(answer, int) else len(answer)))
        return answers


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
