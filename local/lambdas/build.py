"""`sam build` without Docker: `python -m local.lambdas.build` for what is deployed, `ensure_build` for what is run on this machine."""

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from local.lambdas.target import Target, deployed_target, outer_environment
from local.lambdas.template import lambda_template
from local.machine import LOCAL, ROOT, LocalSetupError, exclusive, run, say

SOURCES = ("template.yaml", "samconfig.toml", "functions", "layers", "sql")
# Beside what SAM builds: what it was built from. Missing after a build that failed, or one that somebody else made.
_STAMP = ".sources"
_MAX_UNZIPPED_MB = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A finished build, and the Python it was made for."""

    target: Target
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    name: str
    files: int
    size: int


def ensure_build(target: Target) -> Build:
    """Return the target's build, made anew when it is missing or the sources have changed."""
    with exclusive(LOCAL / "build.lock"):
        if not is_fresh(target.folder):
            say(f"sam build for Python {target.version}: {'the sources have changed' if target.folder.is_dir() else 'there is none yet'}")
            build(target, target.folder)
    return Build(target=target, folder=target.folder)


def build(target: Target, folder: Path) -> str:
    """Build everything into the folder; returns what is worth telling of SAM's output."""
    before = fingerprint()
    given = {} if target.deployed else {"WFE_BUILD_PYTHON": target.python}
    command = [sam_program(), "build", "--template-file", str(ROOT / "template.yaml"), "--build-dir", str(folder)]
    output = run(command, {**outer_environment(), "SAM_CLI_TELEMETRY": "0", **given})
    (folder / _STAMP).write_text(before)
    return "\n".join(sorted({line for line in output.splitlines() if line.startswith("note: ")}))


def is_fresh(folder: Path) -> bool:
    stamp = folder / _STAMP
    return stamp.is_file() and stamp.read_text() == fingerprint()


def sam_program() -> str:
    program = ROOT / (os.environ.get("SAM") or LOCAL / "sam" / "bin" / "sam")
    if not program.is_file():
        raise LocalSetupError("SAM CLI is missing: `make setup` installs it")
    return str(program)


def fingerprint(root: Path = ROOT) -> str:
    """One value for the names and contents of all sources."""
    digest = hashlib.sha256()
    for path in sorted(file for name in SOURCES for file in _files(root / name)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(place: Path) -> Iterator[Path]:
    found = [place] if place.is_file() else place.rglob("*")
    return (path for path in found if path.is_file() and "__pycache__" not in path.parts)


def artifacts(folder: Path) -> list[Artifact]:
    """What was built, functions before layers."""
    template = lambda_template()
    functions = [function.logical_id for function in template.functions]
    layers = sorted({layer for function in template.functions for layer in function.layers})
    return [_artifact(folder / name) for name in (*functions, *layers)]


def _artifact(folder: Path) -> Artifact:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return Artifact(name=folder.name, files=len(sizes), size=sum(sizes))


def table(built: list[Artifact]) -> str:
    """Sizes as Lambda counts them: unzipped, each function together with its layers."""
    sizes = {artifact.name: artifact.size for artifact in built}
    largest = max(sizes[function.logical_id] + sum(sizes[layer] for layer in function.layers) for function in lambda_template().functions)
    width = max(map(len, sizes))
    lines = [f"  {'artifact':<{width}}  files    unzipped"]
    lines += [f"  {artifact.name:<{width}}  {artifact.files:>5}  {_size(artifact.size):>10}" for artifact in built]
    return "\n".join([*lines, f"  the largest function with its layers: {_size(largest)} of the {_MAX_UNZIPPED_MB} MB that Lambda takes"])


def _size(size: int) -> str:
    kilo = size / 1024
    return f"{kilo:.1f} KB" if kilo < 1024 else f"{kilo / 1024:.1f} MB"  # noqa: PLR2004  # the unit itself


def main() -> int:
    """Build what is deployed, always anew, and list it."""
    target, template, began = deployed_target(), lambda_template(), time.monotonic()
    say(f"sam build for {template.runtime} on {template.architecture}, without Docker")
    try:
        with exclusive(LOCAL / "build.lock"):
            notes = build(target, target.folder)
    except LocalSetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if notes:
        print(notes, file=sys.stderr)
    print(table(artifacts(target.folder)))
    say(f"built into {target.folder.relative_to(ROOT)} in {time.monotonic() - began:.1f} s")
    say("`sam deploy --guided` deploys it (docs/deploy.md), `make invoke` runs it on this machine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
