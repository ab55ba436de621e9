"""The failure matrix: every cell names a test that exists, and the cells that no other test shows are shown here."""

import json
import re

import pytest

from tests.docs.pages import ROOT, page, section
from tests.support.cloud import client
from workflow_engine.entry import container

NAME = "docs/failures.md"
_ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in section(NAME, "The matrix").splitlines() if line.startswith("| ")]
CELLS = [(row[0], when, cell) for row in _ROWS[1:] for when, cell in zip(_ROWS[0][1:], row[1:], strict=True)]
SHOWN = re.findall(r"^\| (\w+) \| \[`(.+)`\]\(.+\) `(\w+)` \|$", section(NAME, "Shown by"), re.MULTILINE)


def test_the_matrix_has_every_part_and_every_moment():
    assert len(_ROWS[0]) == 6
    parts = " ".join(row[0] for row in _ROWS)
    wanted = ("API Gateway", "caller", "function", "database", "SNS", "consumer", "monitor", "secret", "scheduler", "migration", "import")
    assert [part for part in wanted if part not in parts] == []


@pytest.mark.parametrize(("part", "when", "cell"), CELLS)
def test_every_cell_says_what_shows_it(part, when, cell):
    keys = [key for found in re.findall(r"\[([A-Z0-9, ]+)\]", cell) for key in found.split(", ")]
    assert keys or cell in {"-", "nothing"} or cell.endswith("*"), f"{part}, {when}: {cell}"
    assert set(keys) <= {key for key, _, _ in SHOWN}


@pytest.mark.parametrize(("key", "file", "test"), SHOWN)
def test_every_test_that_is_named_exists(key, file, test):
    assert f"\ndef {test}(" in (ROOT / file).read_text("utf-8"), key
    assert re.search(rf"\[(?:[A-Z0-9]+, )*{key}(?:, [A-Z0-9]+)*\]", section(NAME, "The matrix")), f"{key} shows nothing"


def test_every_test_file_of_the_faults_is_named():
    named = {file for _, file, _ in SHOWN} | set(re.findall(r"\(\.\./(tests/[\w/]+\.py)\)", page(NAME)))
    # Counting round trips breaks nothing.
    assert sorted(f"tests/faults/{file.name}" for file in (ROOT / "tests/faults").glob("test_*.py") if file.name != "test_round_trips.py") == sorted(
        file for file in named if file.startswith("tests/faults/")
    )


def test_a_registration_without_the_signing_secret_answers_503_and_stores_nothing(stack, monkeypatch):
    missing = client("secretsmanager").create_secret(Name="gone", SecretString=json.dumps({"current": "x"}))["ARN"]
    client("secretsmanager").delete_secret(SecretId=missing, ForceDeleteWithoutRecovery=True)
    monkeypatch.setenv("WFE_SIGNING_SECRET_ARN", missing)
    container.reset()
    before = stack.contents()
    answer = stack.call("heartbeat", "POST", "/v1/consumers", {"env_code": 1, "consumer": "c1", "definitions": ["*"], "kinds": ["transition"]})
    assert (answer.status, answer.code) == (503, "UNAVAILABLE")
    assert stack.contents() == before
