"""Every file in `events/` goes through the built artifact of its function, in Lambda's runtime interface emulator."""

import json
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from local.lambdas.build import Build
from local.lambdas.emulator import Emulator, Launch, running_emulator
from local.lambdas.template import lambda_template
from tests.functions import test_events
from tests.functions.conftest import Stack, read_event
from tests.functions.test_events import EXPECTED, FILES, submit_a_vendor
from tests.support.cloud import REGION
from tests.support.snapshot import Snapshot

# The same world and the same judgement as for the handlers in this process.
cloudformation = test_events.cloudformation
CUSTOM_RESOURCES = {"create": "SUCCESS", "update": "SUCCESS", "rollback": "SUCCESS", "delete": "SUCCESS", "bad_properties": "FAILED"}
OTHERS = {"migrate/direct", "migrate/malformed", "monitor/every_minute", "monitor/malformed"}


class FunctionFailedError(Exception):
    """The function raised, or the emulator lost it."""


@dataclass(slots=True)
class Emulators:
    """One sandbox a function, started when it is first called."""

    build: Build
    environment: dict[str, str]
    cleanup: ExitStack
    log: list[str] = field(default_factory=list)
    running: dict[str, Emulator] = field(default_factory=dict)
    world: Snapshot | None = None

    def invoke(self, name: str, event: Any) -> Any:
        if name not in self.running:
            launch = Launch(function=lambda_template().function(name), build=self.build, environment=self.environment, on_line=self.log.append)
            self.running[name] = self.cleanup.enter_context(running_emulator(launch))
        outcome = self.running[name].invoke(json.dumps(event).encode())
        if outcome.failure:
            raise FunctionFailedError(outcome.error_type, outcome.failure)
        return outcome.answer


@dataclass(slots=True)
class EmulatedStack(Stack):
    """The functions as they are deployed; topics, queue and secret are those of the stack in this process, reached through moto's server."""

    emulators: Emulators | None = None

    def invoke(self, function: str, event: Any) -> Any:
        assert self.emulators
        return self.emulators.invoke(function, event)


@pytest.fixture(scope="module")
def emulators(local_build: Build, migrated_url: str) -> Generator[Emulators]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    topics = {f"WFE_{name}_TOPIC_ARN": f"arn:aws:sns:{REGION}:123456789012:{topic}" for name, topic in (("WORK", "work"), ("NOTICE", "notices"))}
    environment = {
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "WFE_AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "WFE_DATABASE_URL": migrated_url,
        # Its name, for every test has a new secret of this name.
        "WFE_SIGNING_SECRET_ARN": "signing",
        # One pass: the next would come when the minute is over.
        "WFE_MONITOR_INTERVAL_SECONDS": "50",
        **topics,
    }
    with ExitStack() as cleanup:
        cleanup.callback(server.stop)
        yield Emulators(build=local_build, environment=environment, cleanup=cleanup)


@pytest.fixture
def stack(stack: Stack, emulators: Emulators) -> EmulatedStack:
    return EmulatedStack(bench=stack.bench, queue_url=stack.queue_url, emulators=emulators)


@pytest.fixture
def vendors(stack: EmulatedStack) -> Stack:
    """The same rows for every test: a sandbox remembers ids, and no definition ever goes away in its life."""
    assert stack.emulators
    if stack.emulators.world:
        stack.emulators.world.restore()
    else:
        submit_a_vendor(stack)
        stack.emulators.world = Snapshot(stack.bench.database_url)
    return stack


def test_every_file_is_asked_for_here():
    assert {*EXPECTED, *OTHERS, *(f"migrate/{case}" for case in CUSTOM_RESOURCES)} == set(FILES)
    assert {name.split("/")[0] for name in FILES} == {function.name for function in lambda_template().functions}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_artifact_answers_as_its_source_does(vendors, name):
    test_events.test_the_file_answers_as_expected(vendors, name)


@pytest.mark.parametrize("case", sorted(CUSTOM_RESOURCES))
def test_a_custom_resource_is_answered_by_the_artifact(stack, cloudformation, case):
    test_events.test_a_custom_resource_is_answered_with_one_constant_id(stack, cloudformation, case, CUSTOM_RESOURCES[case])


def test_the_artifact_brings_its_migrations_along(stack):
    assert stack.invoke("migrate", read_event("migrate", "direct")) == {"version": 1, "applied": []}


def test_the_monitors_artifact_makes_a_pass(vendors):
    report = vendors.invoke("monitor", read_event("monitor", "every_minute"))
    assert (report["passes"], report["failed"]) == (1, 0)


@pytest.mark.parametrize("function", ["migrate", "monitor"])
def test_another_event_fails_loudly_in_the_artifact_too(stack, function):
    with pytest.raises(FunctionFailedError, match="ValidationError"):
        stack.invoke(function, read_event(function, "malformed"))
