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
