"""What SAM itself says about the template, and what it builds."""

import os
import re
import subprocess

import pytest

from tests.template.cloudformation import FUNCTIONS, REGION, ROOT, TEMPLATE, sam_program

LAYER = ROOT / "layers" / "workflow_engine" / "python" / "workflow_engine"


def run(*command):
    environment = os.environ | {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": REGION}
    result = subprocess.run([str(part) for part in command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def sam(*arguments):
    return run(sam_program(), *arguments)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Everything but the third-party layer, which would be downloaded."""
    folder = tmp_path_factory.mktemp("sam")
    sam("build", "--exclude", "DependenciesLayer", "--build-dir", folder / "build", "--cache-dir", folder / "cache")
    return folder / "build"


@pytest.mark.parametrize("lint", [(), ("--lint",)])
def test_sam_finds_the_template_valid(lint):
    assert "is a valid SAM Template" in sam("validate", "--config-env", "none", "--region", REGION, *lint)


def test_the_migrations_travel_with_the_function_that_applies_them(built):
    shipped = {path.name: path.read_bytes() for path in (built / "MigrateFunction" / "sql").iterdir()}
    assert shipped == {path.name: path.read_bytes() for path in (ROOT / "sql").glob("*.sql")}


def test_every_function_is_built_with_its_handler(built):
    for name, function in FUNCTIONS.items():
        assert (built / name / "handler.py").read_bytes() == (ROOT / function["Properties"]["CodeUri"] / "handler.py").read_bytes()


def test_the_engines_layer_holds_the_package_and_nothing_else(built):
    python = built / "WorkFlowEngineLayer" / "python"
    shipped = {path.relative_to(python / "workflow_engine") for path in python.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert shipped == {path.relative_to(LAYER) for path in LAYER.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert [path.name for path in python.iterdir()] == ["workflow_engine"]


def test_byte_code_is_for_the_runtime_or_left_out(built):
    version = TEMPLATE["Parameters"]["Runtime"]["Default"].removeprefix("python").replace(".", "")
    tags = {re.search(r"\.(cpython-\d+)\.", path.name)[1] for path in built.rglob("*.pyc") if "WorkFlowEngineLayer" in path.parts}
    assert tags <= {f"cpython-{version}"}


def test_byte_code_is_never_checked_against_file_times(built):
    unchecked = 0b01
    assert {int.from_bytes(path.read_bytes()[4:8], "little") for path in (built / "WorkFlowEngineLayer").rglob("*.pyc")} <= {unchecked}


def test_third_party_packages_are_taken_for_the_runtime_of_the_functions(tmp_path):
    command = run("make", "--dry-run", "--makefile", "layers/dependencies/Makefile", "build-DependenciesLayer", f"ARTIFACTS_DIR={tmp_path}")
    assert "--only-binary=:all: --platform manylinux2014_x86_64 --implementation cp --python-version 3.13" in command
    assert "--requirement layers/dependencies/requirements.txt" in command
