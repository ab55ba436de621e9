"""What a whole test run has to show: every scenario of the acceptance list, and every named statement on a real database.

A test says which scenarios it shows with @pytest.mark.scenario(n). Statements are noted where they run, in Db.send. Both travel in the tests' reports, so that
with several workers the process that leads the run sees them all. A run of selected tests is not judged.
"""

from collections.abc import Generator, Iterable
from functools import cache, wraps
from typing import Any

import pytest

from tests.rules.constants import all_constants
from workflow_engine.dal import Db

# The numbers of the acceptance list that are to be shown now, and those that wait for later capabilities.
SCENARIOS = frozenset({*range(1, 23), *range(24, 36), *range(37, 54), 55, *range(57, 66), 67, 68, 69, *range(80, 85), 88, *range(90, 97), 98, *range(101, 122)})
LATER = frozenset({54, 71})
# Db opens sessions and rolls back beside its packets. The IAM login needs a plugin that only Aurora and RDS have.
UNRECORDED = frozenset({"QRY_TRANSACTION.ROLLBACK", "QRY_TRANSACTION.SET_ISOLATION", "QRY_TRANSACTION.SET_MODE", "QRY_TRANSACTION.SET_ZONE"})
NOT_HERE = frozenset({"QRY_RUNTIME_USER.CREATE_IAM", "QRY_RUNTIME_USER.ALTER_REQUIRE_TLS"})

_SHOWN = pytest.StashKey[set[tuple[str, Any]]]()
_MISSING = pytest.StashKey[list[str]]()
# Of this process: texts that ran, and the names of those already reported.
_ran: set[str] = set()
_reported: set[str] = set()


@cache
def wanted_statements() -> dict[str, str]:
    """The names of the statements by their text."""
    return {constant.sql: name for name, constant in all_constants().items() if name not in UNRECORDED | NOT_HERE}


def note(texts: Iterable[str]) -> None:
    _ran.update(texts)


def record_statements() -> None:
    """Let every packet that came back say what was in it."""
    send = Db.send

    @wraps(send)
    def recording(self: Db, load: Any, packet: Any) -> list[Any]:
        results = send(self, load, packet)
        note(part.sql for part in packet)
        return results

    Db.send = recording  # type: ignore[method-assign]


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SHOWN] = set()
    record_statements()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and not report.skipped:
        report.user_properties += [("scenario", number) for mark in item.iter_markers("scenario") for number in mark.args]
    fresh = {wanted_statements()[text] for text in _ran & wanted_statements().keys()} - _reported
    _reported.update(fresh)
    report.user_properties += [("statement", name) for name in sorted(fresh)]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a whole run that left something out; workers and runs that were cut short are not asked."""
    ended = exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED} and not session.shouldstop and not session.shouldfail
    if hasattr(session.config, "workerinput") or not ended or not is_whole(session.config):
        return
    session.config.stash[_MISSING] = missing(session.config.stash[_SHOWN])
    if session.config.stash[_MISSING]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash.get(_MISSING, []):
        terminalreporter.write_line(line, red=True)


class Listener:
    """Hears the reports of all workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._shown = config.stash[_SHOWN]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._shown.update((name, value) for name, value in report.user_properties if name in {"scenario", "statement"})


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Listener(session.config), "full_run_listener")


def is_whole(config: pytest.Config) -> bool:
    """Whether all tests were asked for: nothing but the folder of the tests, and no selection."""
    chosen = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "collectonly", "lf", "stepwise", "pyargs")
    folders = {(config.invocation_params.dir / argument).resolve() for argument in config.args}
    return folders == {config.rootpath / "tests"} and not any(getattr(config.option, name, None) for name in chosen)


def missing(shown: set[tuple[str, Any]]) -> list[str]:
    """Say what the run did not show, each rule with what to do."""
    scenarios = sorted(SCENARIOS - {value for name, value in shown if name == "scenario"})
    statements = sorted(set(wanted_statements().values()) - {value for name, value in shown if name == "statement"})
    said = []
    if scenarios:
        said.append(f"rule broken: every scenario has an executed test; write one with @pytest.mark.scenario(n) for {', '.join(map(str, scenarios))}")
    if statements:
        said.append(f"rule broken: every statement runs in some test; test or delete {', '.join(statements)}")
    return said
