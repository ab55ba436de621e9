"""`make invoke`: one event through the built artifact of a function, in Lambda's runtime interface emulator, against the local stack."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any, cast

from local.lambdas.build import Build, ensure_build
from local.lambdas.emulator import Launch, Outcome, running_emulator
from local.lambdas.target import Target, deployed_target, host_target
from local.lambdas.template import LambdaFunction, lambda_template
from local.machine import ROOT, LocalSetupError, say
from local.stack import StackSettings, running_stack

EVENTS = ROOT / "events"
# What the events speak of; a stack that was started for one call has it too.
_BEFORE = (("import", "definition_and_policy"), ("heartbeat", "register"))
MAX_EVENT_BYTES = 6 * 1024 * 1024
_INTERRUPTED = 130
_TERMINATED = 143
_ASKING_SECONDS = 5
_OK = 200


def read_event(function: LambdaFunction, wanted: str) -> bytes:
    """Return the event's text; an error names the events that there are."""
    path = ROOT / wanted
    if not wanted or not path.is_file():
        known = "\n".join(f"    EVENT={file.relative_to(ROOT)}" for file in sorted((EVENTS / function.name).glob("*.json")))
        raise LocalSetupError(f"{f'there is no file {wanted}' if wanted else 'no event was named'}: take one of your own, or\n{known}")
    content = path.read_bytes()
    if len(content) > MAX_EVENT_BYTES:
        raise LocalSetupError(f"{wanted} has {len(content):,} bytes, and Lambda takes {MAX_EVENT_BYTES:,}")
    try:
        json.loads(content)
    except ValueError as error:
        raise LocalSetupError(f"{wanted} is not JSON: {error}") from error
    return content


def choose_target() -> Target:
    """Say which Python runs the function."""
    deployed = deployed_target()
    if deployed.python:
        say(f"Python {deployed.version} as in Lambda ({deployed.python}) runs the build that is deployed")
        return deployed
    host = host_target()
    say(f"no Python {deployed.version} for {lambda_template().architecture} on this machine: Python {host.version} runs the same build made for it")
    return host


@contextmanager
def stack_environment(settings: StackSettings) -> Generator[dict[str, str]]:
    """What a function needs to work against the stack that runs on the port, or one that is started for this call."""
    if environment := running_environment(settings):
        say(f"the stack on port {settings.port} is used")
        yield environment
        return
    say(f"no stack runs on port {settings.port} (`make serve` starts one): one is started for this call, with the definition and consumer that the events name")
    with running_stack(StackSettings(port=0, kind=settings.kind)) as stack:
        for function, case in _BEFORE:
            _replay(stack.url, json.loads((EVENTS / function / f"{case}.json").read_text("utf-8")))
        yield stack.environment


def running_environment(settings: StackSettings) -> dict[str, str] | None:
    connection = HTTPConnection(settings.address, settings.port, timeout=_ASKING_SECONDS)
    try:
        connection.request("GET", "/_local")
        about: Any = json.loads(connection.getresponse().read())
        return cast("dict[str, str]", about["environment"])
    except ConnectionRefusedError:
        return None
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        raise LocalSetupError(f"what listens on port {settings.port} is no local stack: choose the stack's port, or a free one, with WFE_PORT=…") from error
    finally:
        connection.close()


def _replay(url: str, event: dict[str, Any]) -> None:
    """Send the request that became the event to the stack's API, as the same caller."""
    http, caller = event["requestContext"]["http"], event["requestContext"]["authorizer"]["iam"]["userArn"].split("/")[1]
    connection = HTTPConnection(url.removeprefix("http://"))
    try:
        connection.request(http["method"], http["path"], body=event["body"], headers={"content-type": "application/json", "x-local-principal": caller})
        response = connection.getresponse()
        if response.status != _OK:
            raise LocalSetupError(f"{http['method']} {http['path']} was refused: {response.read().decode()}")
    finally:
        connection.close()


def invoke(function: LambdaFunction, event: bytes, build: Build | None = None) -> Outcome:
    """Build if needed, run the function once, show its log, end everything."""
    built = build or ensure_build(choose_target())
    with stack_environment(StackSettings.from_environment()) as environment:
        # An option that is set in this shell counts, as it does for the stack.
        options = {name: os.environ[name] for name in function.environment if name in os.environ}
        launch = Launch(function=function, build=built, environment={**options, **environment}, on_line=_show)
        with running_emulator(launch) as emulator:
            say(f"{function.logical_id} is called; it has {function.timeout_seconds} s")
            return emulator.invoke(event)


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.lambdas.invoke", description=__doc__)
    parser.add_argument("function", metavar="FN", help="folder or logical id of the function: trigger or TriggerFunction")
    parser.add_argument("event", metavar="EVENT", help="file with the event: events/trigger/submit.json")
    return parser.parse_args(given)


def end_on_signals() -> None:
    """Let a SIGTERM unwind as Ctrl-C does, and Ctrl-C also where a shell in the background has it ignored."""

    def leave(_number: int, _frame: object) -> None:
        sys.exit(_TERMINATED)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def main(given: list[str] | None = None, build: Build | None = None) -> int:
    """Print the function's answer and return 0; 1 when it failed, 2 when it could not be called."""
    options = _arguments(given)
    try:
        function = lambda_template().function(options.function)
        outcome = invoke(function, read_event(function, options.event), build)
    except LocalSetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        say("interrupted; everything was ended")
        return _INTERRUPTED
    if outcome.failure:
        print(f"error: {function.logical_id} failed: {outcome.failure}", file=sys.stderr)
        return 1
    print(json.dumps(outcome.answer, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main())
