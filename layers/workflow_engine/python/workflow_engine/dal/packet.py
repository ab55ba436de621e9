"""Statements as data: a named constant and its values, sent by the gateway in packets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, LiteralString, TypeVar

Values = Mapping[str, Any]
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A change; `rows` gives one INSERT several rows."""

    sql: LiteralString
    values: Values
    rows: Sequence[Values] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Generic[Row]):
    """A read; each row becomes one `row_type`, whose fields are the columns' aliases."""

    sql: LiteralString
    values: Values
    row_type: Callable[..., Row]


def query(sql: LiteralString, row_type: Callable[..., Row], **values: Any) -> Query[Row]:
    return Query(sql=sql, values=values, row_type=row_type)


def statement(sql: LiteralString, **values: Any) -> Statement:
    return Statement(sql=sql, values=values)


def bulk(sql: LiteralString, rows: Sequence[Values]) -> Statement:
    return Statement(sql=sql, values={}, rows=rows)
