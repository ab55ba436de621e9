"""What SAM itself says about the template, and what it builds."""

import os
import re
import subprocess
import sys

import pytest

from local.lambdas.build import artifacts, fingerprint, table
from tests.template.cloudformation import FUNCTIONS, REGION, ROOT, TEMPLATE, sam_program

VERSION = TEMPLATE["Parameters"]["Runtime"]["Default"].removeprefix("python")
LAYER = ROOT / "layers" / "workflow_engine" / "python" / "workflow_engine"


def run(*command):
    environment = os.environ | {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": REGION}
    result = subprocess.run([str(part) for part in command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def sam(*arguments):
    return run(sam_program(), *arguments)


@pytest.fixture(scope="module")
def built(deployed_build):
    return deployed_build.folder


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


def test_byte_code_is_for_the_runtime_or_left_out(built, deployed_build):
    layers = [built / "WorkFlowEngineLayer", built / "DependenciesLayer"]
    tags = {re.search(r"\.(cpython-\d+)\.", path.name)[1] for layer in layers for path in layer.rglob("*.pyc")}
    runs_here = {f"cpython-{VERSION.replace('.', '')}"} if deployed_build.target.python else set()
    assert runs_here <= tags <= {f"cpython-{VERSION.replace('.', '')}"}


def test_byte_code_is_never_checked_against_file_times(built):
    unchecked = 0b01
    assert {int.from_bytes(path.read_bytes()[4:8], "little") for path in (built / "WorkFlowEngineLayer").rglob("*.pyc")} <= {unchecked}


def test_compiled_packages_are_for_the_runtime_of_the_functions(built):
    compiled = [path.name for path in (built / "DependenciesLayer").rglob("*.so")]
    assert compiled
    assert [name for name in compiled if f"cpython-{VERSION.replace('.', '')}-x86_64-linux-gnu" not in name] == []


def test_third_party_packages_are_taken_for_the_runtime_with_the_projects_own_pip(tmp_path):
    command = run("make", "--dry-run", "--makefile", "layers/dependencies/Makefile", "build-DependenciesLayer", f"ARTIFACTS_DIR={tmp_path}")
    assert ".venv/bin/python -m pip install --only-binary=:all: --platform manylinux2014_x86_64 --implementation cp --python-version 3.13 " in command
    assert "--requirement layers/dependencies/requirements.txt" in command


def test_the_hosts_build_takes_packages_for_the_host(tmp_path, monkeypatch):
    monkeypatch.setenv("WFE_BUILD_PYTHON", sys.executable)
    command = run("make", "--dry-run", "--makefile", "layers/dependencies/Makefile", "build-DependenciesLayer", f"ARTIFACTS_DIR={tmp_path}")
    assert f'"{sys.executable}" -m pip install --only-binary=:all: --quiet' in command
    assert "--platform" not in command


def test_the_table_lists_every_artifact_with_its_size(built):
    lines = [line.split() for line in table(artifacts(built)).splitlines()]
    sizes = {line[0]: int(line[1]) for line in lines[1:-1]}
    assert sizes.keys() == {*FUNCTIONS, "DependenciesLayer", "WorkFlowEngineLayer"}
    assert (sizes["TriggerFunction"], sizes["MigrateFunction"]) == (1, 1 + len(list((ROOT / "sql").glob("*.sql"))))
    assert lines[-1][-5:] == ["250", "MB", "that", "Lambda", "takes"]


def test_a_build_is_old_when_a_source_was_changed_renamed_or_removed(tmp_path):
    (tmp_path / "functions" / "one").mkdir(parents=True)
    source = tmp_path / "functions" / "one" / "handler.py"
    seen = set()
    for change in (lambda: source.write_text("a"), lambda: source.write_text("b"), lambda: source.rename(source.with_name("other.py"))):
        change()
        seen.add(fingerprint(tmp_path))
    source.with_name("other.py").unlink()
    seen.add(fingerprint(tmp_path))
    assert len(seen) == 4


def test_byte_code_of_a_test_run_makes_no_build_old(tmp_path):
    before = fingerprint(tmp_path)
    (tmp_path / "layers" / "__pycache__").mkdir(parents=True)
    (tmp_path / "layers" / "__pycache__" / "x.pyc").touch()
    assert fingerprint(tmp_path) == before
