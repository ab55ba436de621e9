"""Applies the files of `sql/` in order, one runner at a time, and keeps the runtime user; the same code at deploy, in tests and locally."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workflow_engine.dal.db import DatabaseTarget, Db
from workflow_engine.dal.leaf.schema_version import RuntimeUserDAL, SchemaVersionDAL
from workflow_engine.dal.load import DbExecutionLoad, Deadline
from workflow_engine.dal.migration_files import MigrationError, MigrationFile, read_migrations
from workflow_engine.dal.packet import Statement
from workflow_engine.dal.workflow_dal import WorkFlowDAL
from workflow_engine.errors import DuplicateKeyError, MissingKeyError, StorageError, WorkFlowError
from workflow_engine.models.schema_version import MigrationReport, SchemaVersionRow

__all__ = ["MigrationError", "RuntimeUser", "apply_migrations", "ensure_runtime_user"]

_log = logging.getLogger(__name__)
_LOCK_WAIT_SECONDS = 5
_IDLE_SECONDS = 3600
_DEFAULT_SECONDS = 240.0
# Table, column, key or constraint is there already, or is gone already.
_DONE_ALREADY = frozenset({1050, 1051, 1060, 1061, 1091, 1826})


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeUser:
    """The functions' database user. Without a password it logs in by IAM, which only Aurora and RDS know."""

    name: str
    password: str | None = None


def apply_migrations(target: DatabaseTarget, folder: Path, *, newest: int | None = None, deadline: Deadline | None = None) -> MigrationReport:
    """Apply every file up to `newest` that has not run yet; safe to run twice and by two at once."""
    files = [file for file in read_migrations(folder) if newest is None or file.version <= newest]
    time_left = deadline or Deadline.after(_DEFAULT_SECONDS)
    work, lock = WorkFlowDAL(Db(target)), Db(target)
    try:
        migrator = Migrator(work, lock, files)
        work.run(time_left, migrator.ensure_lock_row, reserve=0)
        return WorkFlowDAL(lock).run(time_left, migrator.apply, reserve=0)
    finally:
        work.close()
        lock.close()


def ensure_runtime_user(target: DatabaseTarget, user: RuntimeUser, deadline: Deadline | None = None) -> None:
    """Create the user or bring it up to date: rows of this schema, no DDL."""
    dal, leaf = WorkFlowDAL(Db(target)), RuntimeUserDAL()
    account = leaf.create_for_iam(user.name) if user.password is None else leaf.create_with_password(user.name, user.password)
    try:
        dal.write(dal.reading(deadline or Deadline.after(_DEFAULT_SECONDS)), [*account, leaf.grant_rows(user.name)])
    finally:
        dal.close()


class Migrator:
    """`lock` holds the lock row while `work` runs the statements: DDL would commit the lock's own transaction."""

    def __init__(self, work: WorkFlowDAL, lock: Db, files: Sequence[MigrationFile]) -> None:
        self._work = work
        self._lock = lock
        self._files = files
        self._versions = SchemaVersionDAL()

    def ensure_lock_row(self, load: DbExecutionLoad) -> None:
        """Make the table and its row 0; of two that try at once, the second finds them."""
        first = self._files[0]
        if not self._work.read(load, self._versions.exists_table())[0][0].count:
            self._work.write(load, [_ddl(text) for text in first.statements])
        if not any(row.version == first.version for row in self._work.read(load, self._versions.list_all())[0]):
            done = len(first.statements)
            row = SchemaVersionRow(version=first.version, name=first.name, checksum=first.checksum(done), statements_done=done, applied_at=_now())
            self._work.write(load, [self._versions.insert(row)])

    def apply(self, load: DbExecutionLoad) -> MigrationReport:
        """Run as the lock's unit of work: whatever restarts it, it goes on where the last attempt stopped."""
        self._lock.send(load, [self._versions.set_idle_wait(_IDLE_SECONDS)])
        self._lock.read(load, [self._versions.lock()])
        known = {row.version: row for row in self._work.read(self._work.reading(load.deadline), self._versions.list_all())[0]}
        applied = tuple(file.name for file in self._files if self._apply_file(load, file, known.get(file.version)))
        return MigrationReport(version=max(*known, self._files[-1].version), applied=applied)

    def _apply_file(self, load: DbExecutionLoad, file: MigrationFile, row: SchemaVersionRow | None) -> bool:
        done = row.statements_done if row else 0
        if row is not None and row.checksum != file.checksum(done):
            raise MigrationError(f"{file.name} was changed after it had been applied; write a new migration instead")
        if row is not None and row.applied_at is not None:
            _refuse_additions(file, done)
            return False
        _log.info("migration starts", extra={"migration": file.name, "statements_done": done})
        if row is None:
            fresh = SchemaVersionRow(version=file.version, name=file.name, checksum=file.checksum(0), statements_done=0, applied_at=None)
            self._work.write(self._work.reading(load.deadline), [self._versions.insert(fresh)])
        for position in range(done, len(file.statements)):
            self._run(load, file, position, may_be_done=load.is_uncertain and position == done)
        return True

    def _run(self, load: DbExecutionLoad, file: MigrationFile, position: int, *, may_be_done: bool) -> None:
        progress = self._progress(file, position + 1)
        try:
            with self._work.begin(load.deadline) as step:
                self._work.write(step, [self._versions.set_lock_wait(_LOCK_WAIT_SECONDS), _ddl(file.statements[position]), progress])
        except (DuplicateKeyError, MissingKeyError) as error:
            raise _refusal(file, position, error) from error
        except StorageError:
            raise
        except WorkFlowError as error:
            if not may_be_done or _number(error) not in _DONE_ALREADY:
                raise _refusal(file, position, error) from error
            self._work.write(self._work.reading(load.deadline), [progress])

    def _progress(self, file: MigrationFile, done: int) -> Statement:
        applied_at = _now() if done == len(file.statements) else None
        return self._versions.update_progress(file.version, file.checksum(done), done, applied_at)


def _refuse_additions(file: MigrationFile, done: int) -> None:
    if done != len(file.statements):
        raise MigrationError(f"{file.name} grew after it had been applied; write a new migration instead")


def _refusal(file: MigrationFile, position: int, error: WorkFlowError) -> MigrationError:
    head = file.statements[position].split("\n", 1)[0][:120]
    return MigrationError(f"{file.name}, statement {position + 1} ({head}): {error.__cause__ or error}")


def _number(error: WorkFlowError) -> object:
    return error.__cause__.args[0] if error.__cause__ is not None and error.__cause__.args else None


def _ddl(text: str) -> Statement:
    # From our own files, never from a caller; the driver would take a percent sign for a placeholder.
    return Statement(sql=text.replace("%", "%%"), values={})  # pyright: ignore[reportArgumentType]


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)
