"""A whole test run is judged by what it showed, a part of it is not."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import full_run

ROOT = Path(__file__).parents[2]
CONFTEST = """
from tests.support import full_run

full_run.SCENARIOS = frozenset({1, 2, 3})
full_run.wanted_statements = lambda: {"SELECT 1": "QRY_A.GET_ONE", "SELECT 2": "QRY_A.GET_TWO"}
"""
TESTS = """
import pytest
from tests.support import full_run

@pytest.mark.scenario(1, 2)
def test_one():
    full_run.note(["SELECT 1", "SHOW TABLES"])

@pytest.mark.scenario(4)
def test_four():
    pass
"""
MORE = """
import pytest
from tests.support import full_run

@pytest.fixture
def late():
    yield
    full_run.note(["SELECT 2"])

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.scenario(3))])
def test_three(x, late):
    pass
"""


def run_pytest(folder, *arguments, more=""):
    (folder / "tests").mkdir()
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = scenario(number): x\ntestpaths = tests\naddopts = -p no:cacheprovider -p no:hypothesispytest\n")
    (folder / "tests/conftest.py").write_text(CONFTEST)
    (folder / "tests/test_some.py").write_text(TESTS)
    (folder / "tests/test_more.py").write_text(more)
    path = os.pathsep.join([str(ROOT), str(ROOT / "layers/workflow_engine/python")])
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "tests.support.full_run", *arguments]
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("workers", [["-p", "no:xdist"], ["-n", "2"]], ids=["one process", "two workers"])
def test_a_whole_run_that_leaves_something_out_fails(tmp_path, workers):
    done = run_pytest(tmp_path, *workers)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert "write one with @pytest.mark.scenario(n) for 3\n" in done.stdout
    assert "test or delete QRY_A.GET_TWO\n" in done.stdout


def test_a_whole_run_that_shows_everything_passes(tmp_path):
    done = run_pytest(tmp_path, "-n", "2", "tests", more=MORE)
    assert done.returncode == pytest.ExitCode.OK, done.stdout + done.stderr


def test_a_run_of_selected_tests_is_not_judged(tmp_path):
    done = run_pytest(tmp_path, "-p", "no:xdist", "-k", "one")
    assert done.returncode == pytest.ExitCode.OK, done.stdout + done.stderr


def config(*arguments, **options):
    return SimpleNamespace(rootpath=ROOT, args=list(arguments), option=SimpleNamespace(**options), invocation_params=SimpleNamespace(dir=ROOT))


@pytest.mark.parametrize(("arguments", "options"), [(["tests"], {}), ([str(ROOT / "tests")], {"keyword": "", "lf": False}), (["tests/"], {"ignore": None})])
def test_asking_for_the_folder_of_the_tests_is_a_whole_run(arguments, options):
    assert full_run.is_whole(config(*arguments, **options))


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["tests/unit"], {}),
        (["tests", "tests/unit"], {}),
        (["tests/unit/test_full_run.py::test_x"], {}),
        (["tests"], {"keyword": "lanes"}),
        (["tests"], {"markexpr": "scenario"}),
        (["tests"], {"deselect": ["tests/unit"]}),
        (["tests"], {"ignore": ["tests/unit"]}),
        (["tests"], {"collectonly": True}),
        (["tests"], {"lf": True}),
    ],
)
def test_asking_for_less_is_not(arguments, options):
    assert not full_run.is_whole(config(*arguments, **options))


def test_every_statement_is_wanted_but_for_those_that_cannot_run_here_or_run_beside_the_packets():
    names = set(full_run.wanted_statements().values())
    assert {"QRY_TRANSACTION.BEGIN", "QRY_INSTANCE.UPDATE_STATE_CAS"} <= names
    assert not names & (full_run.UNRECORDED | full_run.NOT_HERE)
