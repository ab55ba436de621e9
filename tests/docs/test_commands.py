"""Commands on the pages exist: routes of curl lines, operations and options of the AWS CLI, commands and options of SAM."""

import json
import os
import re
import shlex
import subprocess
from functools import cache

import pytest
from botocore import xform_name
from botocore.session import Session

from tests.docs.pages import ROOT, blocks, page, pages

OPENAPI = json.loads(page("docs/openapi.json"))
SAM = ROOT / os.environ.get("SAM", ".local/sam/bin/sam")
_SHELLS = ("", "sh", "bash", "console")
# Options of the AWS CLI itself, not of an operation.
_GLOBAL = {"query", "output", "region", "endpoint-url", "profile", "no-cli-pager", "cli-binary-format"}
_GROUPS = {"local", "remote", "list", "pipeline", "validate"}


def commands() -> list[tuple[str, str]]:
    """Every line of every unnamed block, continued lines joined."""
    found = []
    for name in pages():
        for block in blocks(name):
            if block.language in _SHELLS:
                text = re.sub(r"\\\n\s*", " ", block.text)
                found += [(name, line.strip()) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    inline = [(name, line) for name in pages() for line in re.findall(r"`((?:aws|sam) [a-z][^`…]*)`", page(name))]
    return found + inline


CURLS = [(name, line) for name, line in commands() if "curl " in line and "/v1/" in line]
AWS = [(name, line) for name, line in commands() if re.match(r"(\w+=\S+ )*aws [a-z]", line)]
SAMS = [(name, part) for name, line in commands() for part in line.split(" && ") if re.match(r"sam [a-z]", part)]


def test_there_are_commands_of_each_kind():
    assert min(len(CURLS), len(AWS), len(SAMS)) > 3


@pytest.mark.parametrize(("name", "line"), sorted(set(CURLS)))
def test_a_curl_line_names_a_route(name, line):
    path = re.search(r"(/v1/[^\"'?; ]*)", line)[1]
    method = (re.search(r"-X (\w+)", line) or ("", "POST" if " -d " in line else "GET"))[1]
    assert any(_is_route(template, path) and method.lower() in methods for template, methods in OPENAPI["paths"].items()), f"{name}: {method} {path}"


@pytest.mark.parametrize(("name", "line"), sorted(set(AWS)))
def test_an_aws_line_names_an_operation_and_its_options(name, line):
    words = shlex.split(line.partition(" | ")[0].partition("$(curl")[0] if "$(curl" in line else line)
    words = words[words.index("aws") + 1 :]
    options = [word[2:].partition("=")[0] for word in words if word.startswith("--")]
    plain = [word for place, word in enumerate(words) if not word.startswith("-") and not (place and words[place - 1].lstrip("-") in _GLOBAL)]
    if len(plain) < 2:
        return
    service, operation = plain[:2]
    operations = _operations(service)
    assert operation in operations, f"{name}: aws {service} has no {operation}"
    assert [option for option in options if option not in operations[operation] | _GLOBAL] == [], f"{name}: {line}"


@pytest.mark.parametrize(("name", "line"), sorted(set(SAMS)))
def test_a_sam_line_names_a_command_and_its_options(name, line):
    words = shlex.split(line.replace("…", ""))[1:]
    command = tuple(words[:2] if words[0] in _GROUPS and len(words) > 1 and not words[1].startswith("-") else words[:1])
    text = _sam_help(command)
    options = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    assert [option for option in options if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text)] == [], f"{name}: {line}"


def _is_route(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", r"[^/]+", template), path) is not None


@cache
def _operations(service: str) -> dict[str, set[str]]:
    model = Session().get_service_model({"logs": "logs"}.get(service, service))
    return {xform_name(name, "-"): _options_of(model.operation_model(name)) for name in model.operation_names}


def _options_of(operation) -> set[str]:
    shape = operation.input_shape
    names = {xform_name(name, "-") for name in (shape.members if shape else {})}
    return names | {f"no-{name}" for name in names}


@cache
def _sam_help(command: tuple[str, ...]) -> str:
    environment = os.environ | {"SAM_CLI_TELEMETRY": "0", "COLUMNS": "200", "PYTHONPATH": ""}
    done = subprocess.run([str(SAM), *command, "--help"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
