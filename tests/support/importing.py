"""An importer on the run's database, and short ways to look at what it stored."""

import itertools
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.engine import FakeClock
from tests.support.targets import rows_of, target_of
from workflow_engine.dal import DatabaseTarget, Db, Deadline, WorkFlowDAL
from workflow_engine.engine.blueprint_importer import BlueprintImporter
from workflow_engine.engine.blueprint_manager import BlueprintManager
from workflow_engine.engine.definitions import DefinitionReader
from workflow_engine.models.imports import ImportRequest, ImportResult

_CODES = itertools.count(500_000)


def new_env_code() -> int:
    return next(_CODES)


def soon() -> Deadline:
    return Deadline.after(20)


@dataclass(slots=True, kw_only=True)
class Importing:
    """Short ways to import and to look at what is stored."""

    target: DatabaseTarget
    dal: WorkFlowDAL
    clock: FakeClock
    importer: BlueprintImporter
    reader: DefinitionReader
    blueprints: BlueprintManager
    env_code: int

    def run(self, definition: Any = None, policy: Any = None, **more: Any) -> ImportResult:
        request = ImportRequest(**{"env_code": self.env_code, "definition": definition, "policy": policy} | more)
        return self.importer.import_blueprint(request, soon())

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return rows_of(self.target, sql)

    def count(self, table: str) -> int:
        """Rows of a table that belong to this test's environment."""
        return int(self.rows(f"SELECT COUNT(*) AS n FROM {table} {_JOINS[table]} WHERE e.code = {self.env_code}")[0]["n"])

    def counts(self) -> dict[str, int]:
        return {table: self.count(table) for table in _JOINS}


_VERSION = "JOIN def_version v ON v.id = {}.def_version_id JOIN definition d ON d.id = v.definition_id JOIN environment e ON e.id = d.env_id"
_JOINS = {
    "environment": "e",
    "definition": "d JOIN environment e ON e.id = d.env_id",
    "def_version": "v JOIN definition d ON d.id = v.definition_id JOIN environment e ON e.id = d.env_id",
    "state": f"s {_VERSION.format('s')}",
    "events": f"s {_VERSION.format('s')}",
    "transition": f"s {_VERSION.format('s')}",
    "policy": "p JOIN definition d ON d.id = p.definition_id JOIN environment e ON e.id = d.env_id",
    "def_policy": f"s {_VERSION.format('s')}",
    "timeouts": "t LEFT JOIN policy p ON p.id = t.policy_id LEFT JOIN def_version v ON v.id = t.def_version_id "
    "JOIN definition d ON d.id = COALESCE(p.definition_id, v.definition_id) JOIN environment e ON e.id = d.env_id",
}


def open_importing(target: DatabaseTarget, env_code: int, db: Db | None = None) -> Importing:
    dal, clock = WorkFlowDAL(db or Db(target)), FakeClock()
    return Importing(
        target=target,
        dal=dal,
        clock=clock,
        importer=BlueprintImporter(dal, clock),
        reader=DefinitionReader(dal),
        blueprints=BlueprintManager(dal),
        env_code=env_code,
    )


@pytest.fixture
def importing(clean_database: str) -> Generator[Importing]:
    made = open_importing(target_of(clean_database), new_env_code())
    yield made
    made.dal.close()


@pytest.fixture
def another_importing(importing: Importing) -> Generator[Callable[..., Importing]]:
    """Further sandboxes on the same database and in the same environment, each with its own connection."""
    made: list[Importing] = []

    def make(db: Db | None = None) -> Importing:
        made.append(open_importing(importing.target, importing.env_code, db))
        return made[-1]

    yield make
    for one in made:
        one.dal.close()
