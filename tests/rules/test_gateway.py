"""Guidelines 3.3 and 4.1: one way to the database, two ways to the world."""

import ast

import pytest

from tests.rules.source import PRODUCT, Violation, called, classes_of, in_package, modules, obey, planted, word
from workflow_engine.adapters.sns import SnsPublisher
from workflow_engine.engine.ports import Publisher

GATEWAY = "all SQL goes through WorkFlowDAL (guidelines 4.1)"
OUTLETS = "work events and notices are the only outlets (guidelines 3.3)"
# Who may call what, by the last word of the call.
DATABASE_CALLS = {
    "execute": {"dal/db.py"},
    "executemany": set(),
    "cursor": {"dal/db.py"},
    "Db": {"dal/migrator.py", "entry/container.py"},
    "WorkFlowDAL": {"dal/migrator.py", "entry/container.py"},
    "Statement": {"dal/packet.py", "dal/db.py", "dal/migrator.py"},
    "Query": {"dal/packet.py"},
}
OUTLET_CALLS = {
    # The outbox, the trigger's last word with the database down, the wrapper that counts, and SNS behind it.
    "publish": {"engine/outbox.py", "entry/observability.py"},
    "publish_notices": {"engine/outbox.py", "engine/workflow_engine.py", "entry/observability.py"},
    "publish_batch": {"adapters/sns.py"},
    # CloudFormation waits for the answer of its custom resource; nobody else is called by us.
    "urlopen": {"entry/custom_resource.py"},
    **{
        name: set()
        for name in ("send_message", "send_message_batch", "put_events", "put_record", "put_records", "invoke", "start_execution", "send_email", "put_object")
    },
}
CLIENTS = {"sns": {"adapters/sns.py", "adapters/subscriptions.py"}, "secretsmanager": {"adapters/secrets.py"}, "rds": {"adapters/secrets.py"}}
NETWORK = frozenset({"socket", "requests", "httpx", "http.client", "smtplib", "asyncio", "websockets"})


def misplaced_calls(module, allowed):
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and called(node) in allowed and not any(module.path.endswith(f"/{place}") for place in allowed[called(node)]):
            yield Violation(
                path=module.path, line=node.lineno, message=f"{ast.unparse(node.func)}(…) belongs to {', '.join(sorted(allowed[called(node)])) or 'nobody'}"
            )


def clients(module):
    """AWS clients that are made, by the service's name."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and called(node) in {"client", "resource"} and node.args:
            service = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if service is None and module.path.endswith("/adapters/aws.py"):
                continue
            if not any(module.path.endswith(f"/{place}") for place in CLIENTS.get(service, ())):
                yield Violation(path=module.path, line=node.lineno, message=f"{ast.unparse(node)}: AWS is called by the adapters for {', '.join(CLIENTS)}")


def network_imports(module):
    for node in ast.walk(module.tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (Violation(path=module.path, line=node.lineno, message=f"imports {name}") for name in names if name in NETWORK)


def unreachable_leaves():
    (gateway,) = in_package("dal/leaves.py")
    (migrator,) = in_package("dal/migrator.py")
    used = {called(node) for module in (gateway, migrator) for node in ast.walk(module.tree) if isinstance(node, ast.Call)}
    for module in in_package("dal/leaf"):
        for kind in classes_of(module.tree):
            if not kind.name.endswith("DAL") or kind.name not in used:
                yield Violation(path=module.path, line=kind.lineno, message=f"{kind.name} is no attribute of WorkFlowDAL: show it in dal/leaves.py")


@pytest.mark.scenario(92)
def test_all_sql_is_reachable_through_one_gateway_with_named_statements():
    """With the rules of test_layers and test_leaf_calls: statements are constants, leaves name them, the gateway shows the leaves, Db alone runs them."""
    obey(GATEWAY, (found for module in modules(*PRODUCT) for found in misplaced_calls(module, DATABASE_CALLS)))
    obey(GATEWAY, unreachable_leaves())
    (gateway,) = in_package("dal/workflow_dal.py")
    assert [word(base) for kind in classes_of(gateway.tree) for base in kind.bases] == ["LeafDALs"]


@pytest.mark.scenario(93)
def test_exactly_two_outlets_exist_and_nothing_else_is_published():
    obey(OUTLETS, (found for module in modules(*PRODUCT) for found in (*misplaced_calls(module, OUTLET_CALLS), *clients(module), *network_imports(module))))
    outlets = {"publish", "publish_notices"}
    assert {name for name in vars(Publisher) if not name.startswith("_")} == outlets
    assert {name for name, value in vars(SnsPublisher).items() if callable(value) and not name.startswith("_") and name.startswith("publish")} == outlets


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("engine/trigger.py", "def f(connection):\n    connection.cursor().execute(x)\n", [2, 2]),
        ("engine/trigger.py", "dal = WorkFlowDAL(Db(target))\n", [1, 1]),
        ("engine/trigger.py", 'Statement(sql="x", values={})\n', [1]),
        ("dal/db.py", "cursor.execute(x)\n", []),
    ],
)
def test_a_way_past_the_gateway_is_found(path, text, lines):
    module = planted(text, f"layers/workflow_engine/python/workflow_engine/{path}")
    assert [found.line for found in misplaced_calls(module, DATABASE_CALLS)] == lines


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("engine/trigger.py", "self._publisher.publish([])\n", [1]),
        ("entry/http.py", "queue.send_message(QueueUrl=x)\n", [1]),
        ("adapters/other.py", 'client("sqs").send_message()\n', [1, 1]),
        ("adapters/sns.py", 'x = 1\nboto3.client("events")\n', [2]),
        ("engine/trigger.py", "import requests\nfrom http.client import HTTPConnection\n", [1, 2]),
        ("adapters/sns.py", 'client("sns").publish_batch()\n', []),
    ],
)
def test_a_third_outlet_is_found(path, text, lines):
    module = planted(text, f"layers/workflow_engine/python/workflow_engine/{path}")
    assert sorted(found.line for found in (*misplaced_calls(module, OUTLET_CALLS), *clients(module), *network_imports(module))) == lines
