"""Which Python runs built functions on this machine: the runtime's own where there is one, else the host's."""

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from local.lambdas.template import lambda_template
from local.machine import LOCAL, ROOT, LocalSetupError, exclusive, run, say

REQUIREMENTS = ROOT / "local" / "requirements-lambda.txt"
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
# Set by an outer make or by the Makefile for our own tools; SAM, pip and their makefiles shall not see them.
_NOT_FOR_OTHERS = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONPATH", "WFE_BUILD_PYTHON")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`deployed`: what is built for it is what is deployed; otherwise it is the same build made for the host's Python."""

    python: str
    version: str
    deployed: bool

    @property
    def folder(self) -> Path:
        """Where its build is: SAM's own place, or one under .local/."""
        return ROOT / ".aws-sam" / "build" if self.deployed else LOCAL / "build" / f"python{self.version}"


def outer_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _NOT_FOR_OTHERS}


def architecture() -> str:
    """This machine's, as AWS spells it."""
    return _MACHINES.get(platform.machine().lower(), platform.machine())


def deployed_target() -> Target:
    """What is deployed; `python` is empty when this machine cannot run it."""
    template = lambda_template()
    return Target(python=_runtime_python() if _runs_here() else "", version=template.runtime.removeprefix("python"), deployed=True)


def host_target() -> Target:
    return Target(python=sys.executable, version=f"{sys.version_info.major}.{sys.version_info.minor}", deployed=False)


def local_target() -> Target:
    """What runs here, as near to Lambda as this machine comes."""
    deployed = deployed_target()
    return deployed if deployed.python else host_target()


def _runs_here() -> bool:
    """Layers hold compiled packages for Linux with glibc and one processor; an interpreter alone is not enough."""
    return sys.platform == "linux" and platform.libc_ver()[0] == "glibc" and architecture() == lambda_template().architecture


def _runtime_python() -> str:
    """Look where the build looks for it; empty when there is none."""
    found = run(["make", "--silent", "--no-print-directory", "-C", str(ROOT), "-f", "layers/target.mk", "runtime-python"], outer_environment()).strip()
    return run([found, "-c", "import sys; print(sys.executable)"]).strip() if found else ""


def runtime_client(target: Target) -> Path:
    """Return the folder with Lambda's Python runtime client for the target; installed once."""
    folder = LOCAL / "lambda" / f"python{target.version}{'' if target.deployed else '-host'}"
    note, wanted = folder / "requirements.txt", REQUIREMENTS.read_text("utf-8")
    with exclusive(folder.with_name(f"{folder.name}.lock")):
        if not note.is_file() or note.read_text("utf-8") != wanted:
            say(f"Lambda's runtime client for Python {target.version}: installing")
            shutil.rmtree(folder, ignore_errors=True)
            _install(target, folder)
            note.write_text(wanted, "utf-8")
    return folder


def _install(target: Target, folder: Path) -> None:
    machine = architecture().replace("arm64", "aarch64")
    foreign = ["--platform", f"manylinux2014_{machine}", "--implementation", "cp", "--python-version", target.version] if target.deployed else []
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile", "--only-binary=:all:"]
    try:
        run([*command, *foreign, "--requirement", str(REQUIREMENTS), "--target", str(folder)], outer_environment())
    except LocalSetupError as error:
        raise LocalSetupError(f"Lambda's runtime client could not be installed for Python {target.version}; is a package index reachable?\n{error}") from error
