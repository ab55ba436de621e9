"""Importing a handler: no client, no connection, nothing that the function does not use."""

import json
import os
import subprocess
import sys

import pytest

from tests.functions.conftest import ROOT

FUNCTIONS = sorted(file.parent.name for file in (ROOT / "functions").glob("*/handler.py"))
# Loads a handler with an empty environment and no way out, then says what came along.
_SCRIPT = """
import importlib.util, json, socket, sys
def refuse(*_, **__):
    raise AssertionError("a connection at import")
socket.socket.connect = refuse
spec = importlib.util.spec_from_file_location("handler", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
assert callable(module.lambda_handler)
print(json.dumps(sorted(sys.modules)))
"""
# Powertools itself looks at the bare name botocore; its client is what costs.
HEAVY = {"boto3", "botocore.client", "botocore.session", "aws_xray_sdk", "requests", "urllib3", "moto", "jsonschema"}


def modules_of(function: str) -> set[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "layers" / "workflow_engine" / "python")}
    handler = str(ROOT / "functions" / function / "handler.py")
    done = subprocess.run([sys.executable, "-c", _SCRIPT, handler], env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_handler_loads_only_what_it_uses(function):
    loaded = modules_of(function)
    assert loaded & HEAVY == set()
    engine = {name for name in loaded if name.startswith("workflow_engine.engine.") and name != "workflow_engine.engine.ports"}
    assert engine == set()
    assert ("workflow_engine.entry.http" in loaded) == (function not in {"monitor", "migrate"})
    assert ("workflow_engine.dal.migrator" in loaded) == (function == "migrate")
