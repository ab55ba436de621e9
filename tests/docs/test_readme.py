"""The README is true: the story's chapters are what a run prints, and the first workflow works as pasted."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator

import pytest

from tests.docs.pages import ROOT, blocks, page
from tests.support.stack import StackCaller, serving

BLOCKS = blocks("README.md")
CHAPTERS = [block.text for block in BLOCKS if block.heading == "Two commands" and block.language == "text" and " ── " in block.text]
STEPS = [block for block in BLOCKS if block.heading == "Your first workflow"]
LOCAL_LINES = [line for block in blocks("docs/local.md") for line in block.text.splitlines() if line.startswith("curl ")]
_CUT = "----8<----"
_ADDRESS = "http://127.0.0.1:8787"
# What differs from run to run.
_VARIES = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+Z)?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<time>"),
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<guid>"),
    (re.compile(r"\b[0-9a-f]{12}…"), "<hash>"),
    (re.compile(r"\b\d+ bytes"), "<n> bytes"),
    (re.compile(r"whsec_[\w+/=]+"), "<key>"),
)


def plain(text: str) -> str:
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return text


@pytest.fixture(scope="module")
def story() -> str:
    """What `make run DEMO=once` prints."""
    environment = os.environ | {"DEMO": "once", "WFE_PORT": "0", "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-m", "local.run"], cwd=ROOT, env=_with_path(environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return plain(done.stdout)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda text: text.splitlines()[0][:30])
def test_a_chapter_of_the_story_is_what_a_run_prints(story, chapter):
    assert plain(chapter).strip() in story


def test_the_readme_says_how_many_chapters_there_are(story):
    numbers = {2: "Two", 3: "Three", 8: "eight"}
    told = re.findall(r"^(\d+) ── ", story, re.MULTILINE)
    assert f"{numbers[len(CHAPTERS)]} of its {numbers[len(told)]} chapters" in page("README.md")


@pytest.fixture(scope="module")
def served() -> Generator[str]:
    """Where `make serve` listens."""
    with serving(WFE_PORT="0") as serve:
        yield serve.ready().url


def pasted(text: str, url: str) -> str:
    shell = shutil.which("bash") or "bash"
    done = subprocess.run([shell, "-e", "-c", text.replace(_ADDRESS, url)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_workflow_works_when_pasted_and_answers_what_is_shown(served):
    assert [block.language for block in STEPS] == ["sh", "json"] * (len(STEPS) // 2)
    assert STEPS[0].text.startswith(f"API={_ADDRESS}\n")
    printed = pasted(f"\necho; echo '{_CUT}'\n".join(block.text for block in STEPS[::2]), served)
    answered = [_values(json.loads(plain(part))) for part in printed.split(_CUT)]
    assert answered == [_values(json.loads(plain(block.text))) for block in STEPS[1::2]]


@pytest.mark.parametrize("line", LOCAL_LINES)
def test_a_line_of_the_local_page_works_when_pasted(served, line):
    assert "message" not in json.loads(pasted(line, served))


def test_every_call_of_the_runbook_is_one_that_the_engine_understands(served):
    caller = StackCaller(served)
    definition = {
        "name": "Runbook",
        "states": [{"name": "A", "is_initial": True}, {"name": "B", "is_final": True}],
        "transitions": [{"from": "A", "event": 1, "to": "B"}],
    }
    caller.ok("POST", "/v1/import", {"env_code": 2, "definition": definition})
    caller.ok("POST", "/v1/consumers", {"env_code": 2, "consumer": "runbook", "definitions": ["Runbook"], "kinds": ["transition"], "beat_seconds": None})
    moved = caller.ok("POST", "/v1/trigger", {"env_code": 2, "def_name": "Runbook", "external_ref": "R", "event": 1})
    caller.ok("POST", "/v1/ack", {"env_code": 2, "consumer": "runbook", "ack_guid": moved["ack_guid"], "outcome": "Processed"})
    known = {
        "API_URL": served,
        "SIGN": "",
        "ENV": 2,
        "GUID": moved["instance_guid"],
        "ACK_GUID": moved["ack_guid"],
        "CONSUMER": "runbook",
        "DEFINITION": "Runbook",
    }
    settings = "; ".join(f"{name}={value}" for name, value in known.items())
    lines = sorted({line for block in blocks("docs/runbook.md") for line in block.text.splitlines() if line.startswith("curl ")})
    answers = {line: json.loads(pasted(f"{settings}; {line}", served)) for line in lines}
    # The world is small: a 404 or a conflict is an answer, a request that is not understood is none.
    assert {line: answer for line, answer in answers.items() if answer.get("status") in {400, 405, 500, 503} or answer.get("code") == "ROUTE_NOT_FOUND"} == {}


def test_the_end_of_a_test_run_names_the_database_and_no_failure():
    (text,) = (block.text for block in BLOCKS if block.heading == "Two commands" and "passed in" in block.text)
    assert re.search(r"^database: MariaDB [\d.]+\n=+ \d+ passed in [\d.]+s", text, re.MULTILINE)
    assert not re.search(r"failed|skipped|error", text)


def test_what_it_is_and_is_not_takes_ten_lines():
    head = page("README.md").partition("## How it fits together")[0]
    assert len(re.findall(r"^- ", head, re.MULTILINE)) == 10


def _values(value):
    """The answer without the numbers that the engine gives out."""
    if isinstance(value, dict):
        return {name: "<id>" if name == "id" or (name.endswith("_id") and isinstance(one, int)) else _values(one) for name, one in value.items()}
    return [_values(one) for one in value] if isinstance(value, list) else value


def _with_path(environment):
    return environment | {"PYTHONPATH": os.pathsep.join([str(ROOT / "layers/workflow_engine/python"), str(ROOT)])}
