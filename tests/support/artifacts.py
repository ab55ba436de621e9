"""What SAM builds, made once for a whole test run: for the runtime of the functions, and for this machine where that cannot run here."""

import pytest

from local.build import Build, build
from local.lambda_target import Target, deployed_target, local_target
from local.machine import LOCAL, exclusive


@pytest.fixture(scope="session")
def deployed_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """What would be deployed."""
    return _built_once(deployed_target(), tmp_path_factory)


@pytest.fixture(scope="session")
def local_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """What this machine can run: the same as what is deployed, if it has the runtime's Python."""
    return _built_once(local_target(), tmp_path_factory)


def _built_once(target: Target, factory: pytest.TempPathFactory) -> Build:
    """Workers have folders of their own inside the one of the run; whoever comes first builds."""
    own = factory.getbasetemp()
    run = own.parent if own.name.startswith("popen-") else own
    folder, done = run / f"build-python{target.version}", run / f"build-python{target.version}.done"
    with exclusive(LOCAL / "build.lock"):
        if not done.exists():
            build(target, folder)
            done.touch()
    return Build(target=target, folder=folder)
