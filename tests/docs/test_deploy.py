"""The deployment page asks what SAM asks, and has the template's parameters and outputs."""

import os
import re
import shutil
import subprocess

import pytest

from tests.docs.pages import ROOT, page, rows, section
from tests.docs.test_commands import SAM
from tests.docs.test_docs import TEMPLATE

PAGE = "docs/deploy.md"
_PART = re.compile(r"^Parameters:\n(.*?)^Rules:", re.MULTILINE | re.DOTALL)
PARAMETERS = re.findall(r"^  (\w+):\n((?:    .*\n)+)", _PART.search(TEMPLATE)[1], re.MULTILINE)
OUTPUTS = re.findall(r"^  (\w+):\n    Description", TEMPLATE.partition("\nOutputs:\n")[2], re.MULTILINE)
# What SAM copies, reads or asks for before it asks AWS.
_FILES = ("template.yaml", "samconfig.toml", "functions", "layers", "sql")
_ANSWERS = "\n" * 100


@pytest.mark.parametrize(("name", "text"), PARAMETERS)
def test_every_parameter_is_listed_with_its_default_and_its_description(name, text):
    cells = rows(PAGE, name)[0]
    default = re.search(r"^    Default: (.*)$", text, re.MULTILINE)[1].strip('"')
    assert cells[1].strip("`") == (default or "empty")
    assert cells[2].startswith(re.search(r"^    Description: (.*)$", text, re.MULTILINE)[1])


def test_no_parameter_is_listed_that_does_not_exist():
    listed = re.findall(r"^\| `(\w+)` \|", section(PAGE, "Parameters"), re.MULTILINE)
    assert listed == [name for name, _ in PARAMETERS]


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_is_explained(name):
    assert f"`{name}`" in section(PAGE, "What is created")


def test_the_questions_are_those_that_sam_asks(tmp_path):
    for name in _FILES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    home, nowhere = tmp_path / "home", "http://127.0.0.1:1"
    home.mkdir()
    aws = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_ENDPOINT_URL": nowhere, "AWS_MAX_ATTEMPTS": "1", "AWS_REGION": "eu-central-1"}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | aws | {"HOME": str(home), "SAM_CLI_TELEMETRY": "0"}
    command = [str(SAM), "deploy", "--guided", "--config-env", "dev", "--template", "template.yaml"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, input=_ANSWERS, capture_output=True, text=True, check=False)
    asked = [question.strip() for question in re.findall(r"\t([A-Z][\w ]+) \[[^\]\n]*\]: ", done.stdout)]
    listed = [
        question
        for line in section(PAGE, "Step by step").splitlines()
        if line.startswith("| `")
        for question in re.findall(r"`([A-Z][\w ]+)`", line.split("|")[1])
    ]
    first, last = listed.index("Parameter Stage"), listed.index("Parameter OverdueRecheckSeconds")
    expected = [*listed[:first], *(f"Parameter {name}" for name, _ in PARAMETERS), *listed[last + 1 :]]
    assert asked == expected, done.stdout + done.stderr
    assert nowhere in done.stderr
    assert "Deploy this changeset?" in page(PAGE)
