"""The runtime interface emulator with small functions: what they see, how they fail, and that nothing of them stays."""

import json
import os
from pathlib import Path

import pytest

from local.lambdas.build import Build
from local.lambdas.emulator import Launch, outcome_of, running_emulator
from local.lambdas.target import local_target
from local.lambdas.template import LambdaFunction

SOURCE = """
import json, os, sys, time
print("loaded")

def handler(event, context):
    if event == "raise":
        raise ValueError("no\\nmore")
    if event == "exit":
        os._exit(3)
    if event == "hang":
        time.sleep(60)
    if event == "import":
        import pytest
    if event == "look":
        import late
        return {"environment": dict(os.environ), "path": sys.path, "folder": os.getcwd(), "pid": os.getpid(), "layer": late.WHOSE}
    print("called")
    return event
"""


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """A function with two layers that both have the module `late`."""
    for layer in ("Early", "Late"):
        (tmp_path / layer / "python").mkdir(parents=True)
        (tmp_path / layer / "python" / "late.py").write_text(f"WHOSE = {layer!r}\n")
    (tmp_path / "SmallFunction").mkdir()
    (tmp_path / "SmallFunction" / "small.py").write_text(SOURCE)
    function = LambdaFunction(
        name="small",
        logical_id="SmallFunction",
        handler="small.handler",
        timeout_seconds=1,
        memory_mb=128,
        layers=("Early", "Late"),
        environment={"WFE_ONE": "template", "WFE_TWO": "template"},
    )
    lines: list[str] = []
    return Launch(function=function, build=Build(target=local_target(), folder=tmp_path), environment={"WFE_TWO": "stack"}, on_line=lines.append)


def lines_of(launch: Launch) -> list[str]:
    return launch.on_line.__self__  # type: ignore[attr-defined]


def call(emulator, event):
    return emulator.invoke(json.dumps(event).encode())


def test_a_function_answers_and_its_own_lines_are_its_log(launch):
    with running_emulator(launch) as emulator:
        assert call(emulator, {"ü": [1, None]}).answer == {"ü": [1, None]}
    assert lines_of(launch) == ["loaded", "called"]


def test_a_function_sees_what_lambda_shows_and_nothing_of_this_shell(launch, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "mine")
    with running_emulator(launch) as emulator:
        seen = call(emulator, "look").answer
    environment, folder = seen["environment"], launch.build.folder
    assert "AWS_PROFILE" not in environment
    assert (environment["WFE_ONE"], environment["WFE_TWO"]) == ("template", "stack")
    assert environment["LAMBDA_TASK_ROOT"] == seen["folder"] == str(folder / "SmallFunction")
    assert (environment["AWS_LAMBDA_FUNCTION_TIMEOUT"], environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]) == ("1", "128")
    assert not [place for place in seen["path"] if "site-packages" in place]


def test_a_later_layer_covers_an_earlier_one(launch):
    with running_emulator(launch) as emulator:
        assert call(emulator, "look").answer["layer"] == "Late"


def test_a_package_of_this_machine_does_not_stand_in_for_one_that_a_layer_forgot(launch):
    with running_emulator(launch) as emulator:
        assert call(emulator, "import").failure == "ModuleNotFoundError: No module named 'pytest'"


def test_what_was_built_stays_as_it_was_built(launch):
    before = sorted(launch.build.folder.rglob("*"))
    with running_emulator(launch) as emulator:
        call(emulator, "look")
    assert sorted(launch.build.folder.rglob("*")) == before


def test_a_function_that_raises_hangs_or_dies_has_failed_and_the_next_call_is_served(launch):
    with running_emulator(launch) as emulator:
        assert call(emulator, "raise").failure == "ValueError: no"
        assert call(emulator, "hang").failure == "Task timed out after 1.00 seconds"
        assert call(emulator, "exit").error_type == "Runtime.ExitError"
        assert call(emulator, "still here").answer == "still here"


def test_a_function_that_cannot_be_loaded_has_failed(launch):
    (launch.build.folder / "SmallFunction" / "small.py").write_text("import missing_from_every_layer\n")
    with running_emulator(launch) as emulator:
        outcome = call(emulator, {})
    assert outcome.error_type == "Runtime.ImportModuleError"
    assert "missing_from_every_layer" in str(outcome.failure)


def test_nothing_of_it_runs_afterwards(launch):
    with running_emulator(launch) as emulator:
        pid = call(emulator, "look").answer["pid"]
        assert Path(f"/proc/{pid}").exists()
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("status", "text", "answer", "failure"),
    [
        (200, '{"statusCode": 404}', {"statusCode": 404}, None),
        (200, "null", None, None),
        (200, '{"errorType": "E", "errorMessage": "m", "stackTrace": []}', None, "E: m"),
        (200, '{"errorType": "E", "errorMessage": "m", "mine": 1}', {"errorType": "E", "errorMessage": "m", "mine": 1}, None),
        (502, '{"errorType": "Runtime.ExitError", "errorMessage": "m"}', None, "Runtime.ExitError: m"),
        (200, "Task timed out after 2.00 seconds", None, "Task timed out after 2.00 seconds"),
        (200, "", None, "the function returned nothing"),
        (500, "[1]", None, "the emulator answered 500: [1]"),
    ],
)
def test_only_the_body_tells_a_failure(status, text, answer, failure):
    outcome = outcome_of(status, text)
    assert (outcome.answer, outcome.failure) == (answer, failure)
