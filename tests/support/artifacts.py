"""What SAM builds, made once for a whole test run: for the runtime of the functions, and for this machine where that cannot run here."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from local.lambdas.build import Build, build
from local.lambdas.target import Target, deployed_target, local_target
from local.machine import LOCAL, exclusive

FOLDER = pytest.StashKey[Path]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the one folder to each xdist worker; the process that leads the run removes it."""
    node.workerinput["builds"] = str(folder_of(node.config))


def folder_of(config: pytest.Config) -> Path:
    """A folder that goes with the run: builds are too large to be kept like the other folders of tests."""
    if FOLDER not in config.stash:
        folder = config.stash[FOLDER] = Path(tempfile.mkdtemp(prefix="wfe-builds-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return config.stash[FOLDER]


@pytest.fixture(scope="session")
def builds_folder(request: pytest.FixtureRequest) -> Path:
    handed = getattr(request.config, "workerinput", None)
    return Path(handed["builds"]) if handed else folder_of(request.config)


@pytest.fixture(scope="session")
def deployed_build(builds_folder: Path) -> Build:
    """What would be deployed."""
    return _built_once(deployed_target(), builds_folder)


@pytest.fixture(scope="session")
def local_build(builds_folder: Path) -> Build:
    """What this machine can run: the same as what is deployed, if it has the runtime's Python."""
    return _built_once(local_target(), builds_folder)


def _built_once(target: Target, builds: Path) -> Build:
    """Whichever worker comes first builds."""
    name = f"python{target.version}{'' if target.deployed else '-host'}"
    done = builds / f"{name}.done"
    with exclusive(LOCAL / "build.lock"):
        if not done.exists():
            build(target, builds / name)
            done.touch()
    return Build(target=target, folder=builds / name)
