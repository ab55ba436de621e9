"""Guidelines 3.2: commit first, then publish."""

import textwrap

import pytest

from tests.rules.call_graph import CallGraph
from tests.rules.source import in_package, obey, planted
from tests.rules.units import told_inside, units

RULE = "nobody is told inside a unit of work: commit first, then publish (guidelines 3.2)"
OUTBOX = """
class WorkFlowDAL:
    def run(self, deadline, unit): ...


class Outbox:
    def __init__(self, publisher: "Publisher") -> None:
        self._publisher = publisher

    def store(self, notices): ...

    def send(self, messages):
        self._publisher.publish(messages)


class Helper:
    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox

    def finish(self, done):
        self.outbox.send(done)

    def harmless(self, done):
        self.outbox.store(done)


class Engine:
    def __init__(self, dal: "WorkFlowDAL", outbox: "Outbox", helper: Helper) -> None:
        self._dal, self._outbox = dal, outbox
        self._helper = helper

    def _tells(self, load):
        self._helper.finish(load)

    def _writes(self, load):
        self._helper.harmless(load)
        return self._dal.write(load, [])
"""
TELLING = [
    "self._dal.run(deadline, self._tells)",
    "self._dal.run(deadline, unit=self._tells)",
    "self._dal.run_reading(deadline, self._tells)",
    "self._dal.run(deadline, partial(self._tells, 1))",
    "self._dal.run(deadline, lambda load: self._tells(load))",
    "self._dal.run(deadline, lambda load: [self._outbox.send(x) for x in load])",
    "def unit(load):\n    self._tells(load)\nself._dal.run(deadline, unit)",
    "def change(load):\n    self._tells(load)\nself._act(change)",
    "unit = PlantedUnit(self)\nself._dal.run(deadline, unit)",
    "self._dal.run(deadline, PlantedUnit(self).apply)",
    "with self._dal.begin(deadline) as load:\n    self._dal.write(load, [])\n    self._helper.finish(load)",
    "self._dal.run(deadline, lambda load: unknown().finish(load))",
    "self._dal.run(deadline, given)",
]
QUIET = [
    "messages = self._dal.run(deadline, self._writes)\nself._outbox.send(messages)",
    "with self._dal.begin(deadline) as load:\n    self._dal.write(load, [])\nself._outbox.send([])",
    "self._dal.run(deadline, lambda load: self._outbox.store(load))",
]
REST = """
    def _act(self, change):
        return self._dal.run(0, lambda load: change(load))


class PlantedUnit:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, load):
        return self._engine._tells(load)

    def apply(self, load):
        return self(load)
"""


def graph_of(body):
    method = "\n    def act(self, deadline, given):\n" + textwrap.indent(body, " " * 8) + "\n"
    return CallGraph([planted(OUTBOX + method + REST)])


def test_nobody_is_told_inside_a_unit_of_work():
    obey(RULE, told_inside(CallGraph(in_package("engine", "dal"))))


def test_the_units_of_the_engine_are_found():
    found = {unit.function.name for unit in units(CallGraph(in_package("engine", "dal")))}
    expected = {"TriggerOrchestrator.trigger", "AckOutcomeOrchestrator.ack", "BlueprintImporter.import_blueprint", "ConsumerManager.register_consumer"}
    assert expected <= found, "the rule no longer sees the engine's units of work"


@pytest.mark.parametrize("body", TELLING)
def test_telling_inside_a_unit_is_found_however_it_is_written(body):
    assert list(told_inside(graph_of(body)))


@pytest.mark.parametrize("body", QUIET)
def test_telling_after_the_commit_is_left_alone(body):
    assert list(told_inside(graph_of(body))) == []
