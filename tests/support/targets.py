"""Addresses of empty databases on the run's server."""

from workflow_engine.adapters.database import url_target
from workflow_engine.dal import DatabaseTarget, Db, DbExecutionLoad, Deadline
from workflow_engine.dal.packet import Query, Statement


def target_of(url: str) -> DatabaseTarget:
    return url_target(url)


def rows_of(target: DatabaseTarget, sql: str) -> list[dict[str, object]]:
    """Run one statement outside the product's queries and return its rows."""
    db = Db(target)
    try:
        return db.send(DbExecutionLoad(deadline=Deadline.after(20)), [Query(sql=sql, values={}, row_type=dict)])[0]
    finally:
        db.close()


def run_sql(target: DatabaseTarget, *statements: str) -> None:
    db = Db(target)
    try:
        for sql in statements:
            db.send(DbExecutionLoad(deadline=Deadline.after(20)), [Statement(sql=sql, values={})])
    finally:
        db.close()


def contents_of(target: DatabaseTarget, *, without: frozenset[str]) -> dict[str, list[str]]:
    """Every row of every table, to be compared with a later look; one connection for all."""
    db, load = Db(target), DbExecutionLoad(deadline=Deadline.after(20))
    try:
        names = db.send(
            load, [Query(sql="SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()", values={}, row_type=dict)]
        )[0]
        tables = sorted({str(row["name"]) for row in names} - without)
        return {
            table: sorted(map(str, rows))
            for table, rows in zip(tables, db.send(load, [Query(sql=f"SELECT * FROM {table}", values={}, row_type=dict) for table in tables]), strict=True)
        }
    finally:
        db.close()
