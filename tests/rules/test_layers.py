"""Guidelines 1.1 and 1.3: who may know whom, and what every database call is given."""

import ast
import tomllib

import pytest

from tests.rules.source import PRODUCT, ROOT, Violation, classes_of, in_package, modules, obey, planted

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# Who may import what begins with the key; everybody else asks WorkFlowDAL. The migrator works before the gateway has a schema.
IMPORTERS = {
    "workflow_engine.dal.leaf": ["workflow_engine.dal.leaves", "workflow_engine.dal.migrator"],
    "workflow_engine.queries": ["workflow_engine.dal.leaf", "workflow_engine.dal.db"],
    "pymysql": ["workflow_engine.dal.db"],
}
GATEWAY_PARTS = {"workflow_engine.dal.leaves": ["workflow_engine.dal.workflow_dal"]}
LAYERS = ["functions", *(f"workflow_engine.{name}" for name in ("entry", "adapters", "engine", "dal", "queries", "models"))]
CORE = {f"workflow_engine.{name}" for name in ("engine", "dal", "queries", "models")}
# What opens nothing and runs nothing.
QUIET = frozenset({"close", "unit_ids", "round_trips"})
WITHOUT_DEADLINE = frozenset({"close", "invalidate"})


def imported(module):
    """Every module that is imported, wherever in the file, with its line; `from a import b` may mean a or a.b."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{node.module or ''}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args and isinstance(node.args[0], ast.Constant):
            yield str(node.args[0].value), node.lineno


def is_within(name, place):
    return f"{name}.".startswith(f"{place}.")


def forbidden_imports(module):
    for name, line in imported(module):
        for place, allowed in {**IMPORTERS, **GATEWAY_PARTS}.items():
            if is_within(name, place) and not any(is_within(module.name, one) for one in (*allowed, place)):
                yield Violation(path=module.path, line=line, message=f"{module.name} imports {place}; ask WorkFlowDAL")


def parameters_of(function):
    return [parameter for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs) if parameter.arg != "self"]


def public_methods(module, name):
    for kind in classes_of(module.tree):
        if kind.name == name:
            yield from (member for member in kind.body if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"))


def without_load(module, name):
    for method in public_methods(module, name):
        if method.name in QUIET:
            continue
        positional = [one.arg for one in (*method.args.posonlyargs, *method.args.args) if one.arg != "self"]
        if positional[:1] not in (["load"], ["deadline"]) or len(method.args.defaults) >= len(positional):
            yield Violation(path=module.path, line=method.lineno, message=f"{name}.{method.name}() takes load (or deadline) first, without a default")


def without_deadline(module, name):
    for method in public_methods(module, name):
        if method.name not in WITHOUT_DEADLINE and "deadline" not in {one.arg for one in parameters_of(method)}:
            yield Violation(path=module.path, line=method.lineno, message=f"{name}.{method.name}() takes the deadline, our cancellation token")


def test_leaves_queries_and_the_driver_are_imported_by_those_who_may():
    obey("WorkFlowDAL is the only way to the database (guidelines 1.1)", (found for module in modules(*PRODUCT) for found in forbidden_imports(module)))


def contracts(kind):
    return [contract for contract in SETTINGS["tool"]["importlinter"]["contracts"] if contract["type"] == kind]


def test_import_linter_keeps_the_same_contracts():
    protected = {name: contract["allowed_importers"] for contract in contracts("protected") for name in contract["protected_modules"]}
    assert protected == IMPORTERS, "pyproject.toml and tests/rules/test_layers.py differ in who may import what"
    (layers,) = contracts("layers")
    assert layers["layers"][: len(LAYERS)] == LAYERS, "pyproject.toml: the arrows point from functions down to models"
    without_aws = [
        set(contract["source_modules"]) for contract in contracts("forbidden") if {"boto3", "aws_lambda_powertools"} <= set(contract["forbidden_modules"])
    ]
    assert any(sources >= CORE for sources in without_aws), "pyproject.toml: the core knows no AWS"


def test_the_gateway_and_the_connection_are_given_a_load_or_a_deadline_first():
    found = [*without_load(*in_package("dal/workflow_dal.py"), "WorkFlowDAL"), *without_load(*in_package("dal/db.py"), "Db")]
    obey("nothing runs outside a transaction or past its deadline by accident (guidelines 1.3)", found)


def test_every_public_method_of_the_engine_takes_the_deadline():
    obey("public engine methods take the deadline (guidelines 1.3)", without_deadline(*in_package("engine/workflow_engine.py"), "WorkFlowEngine"))


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("engine/trigger.py", "from workflow_engine.dal.leaf.ack import AckDAL\n", [1]),
        ("engine/trigger.py", "x = 1\nif TYPE_CHECKING:\n    from workflow_engine.queries import ack\n", [3]),
        ("engine/trigger.py", "def f():\n    import pymysql.cursors\n", [2]),
        ("engine/trigger.py", 'def f():\n    return importlib.import_module("pymysql")\n', [2]),
        ("dal/ids.py", "from workflow_engine.queries.ack import QRY_ACK\n", [1]),
        ("dal/leaf/ack.py", "import pymysql\n", [1]),
        ("dal/leaf/ack.py", "from workflow_engine.queries.ack import QRY_ACK\n", []),
        ("dal/leaves.py", "from workflow_engine.dal.leaf.ack import AckDAL\n", []),
        ("engine/trigger.py", "from workflow_engine.dal import WorkFlowDAL\n", []),
    ],
)
def test_an_import_past_the_gateway_is_found(path, text, lines):
    module = planted(text, f"layers/workflow_engine/python/workflow_engine/{path}")
    assert [found.line for found in forbidden_imports(module)] == lines


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ("def read(self, queries, load): ...", [2]),
        ("def read(self): ...", [2]),
        ("def read(self, load=None): ...", [2]),
        ("def read(self, load=None, /): ...", [2]),
        ("def read(self, load, /, *queries): ...", []),
        ("def begin(self, deadline, *, is_uncertain=False): ...", []),
        ("def _open(self): ...", []),
        ("def close(self): ...", []),
    ],
)
def test_a_database_method_without_a_load_is_found(header, lines):
    assert [found.line for found in without_load(planted(f"class Db:\n    {header}\n"), "Db")] == lines


def test_an_engine_method_without_a_deadline_is_found():
    text = "class WorkFlowEngine:\n    def why(self, instance_guid): ...\n    def ack(self, request, deadline): ...\n    def close(self): ...\n"
    assert [found.line for found in without_deadline(planted(text), "WorkFlowEngine")] == [2]
