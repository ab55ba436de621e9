"""Every file in `events/` is replayed through its handler, in a world where a vendor has just been submitted."""

import json
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from pydantic import ValidationError

from tests.functions.conftest import EVENTS, Context, Stack, read_event

INSTANCE_GUID = "0e6f5a52-7f0b-4f0e-9d5f-5d0c2b6f7a11"
ACK_GUID = "9b2f1c34-2a61-4c3e-8a57-0d4f6e1b2c33"
FILES = sorted(f"{file.parent.name}/{file.stem}" for file in EVENTS.glob("*/*.json"))
# What a file answers: the code of its problem, or some of the answer's fields.
EXPECTED: dict[str, str | dict[str, Any]] = {
    "ack/as_another_role": "NOT_OWNER",
    "ack/batch": {},
    "ack/delivered": {"result": "applied", "status": "Delivered"},
    "ack/failed": {"result": "applied", "status": "Failed"},
    "ack/processed": {"result": "applied", "status": "Processed"},
    "ack/retry": {"result": "applied", "status": "Pending"},
    "ack/unknown_ack": "ACK_NOT_FOUND",
    "ack/unknown_outcome": "INVALID_REQUEST",
    "admin/activate": {"version": 1, "active": True},
    "admin/activate_unknown_version": "DEFINITION_NOT_FOUND",
    "admin/fail": {"status": "Failed"},
    "admin/owner": {"owner": "iam:123456789012:role/new-worker"},
    "admin/resume": "STATUS_CONFLICT",
    "admin/suspend": {"status": "Suspended"},
    "admin/suspend_unknown_instance": "INSTANCE_NOT_FOUND",
    "admin/suspend_without_reason": "INVALID_REQUEST",
    "heartbeat/beat": {"pending": 2},
    "heartbeat/beat_as_another_role": "NOT_OWNER",
    "heartbeat/beat_from_another_session": {"pending": 2},
    "heartbeat/beat_of_unknown_consumer": "CONSUMER_NOT_FOUND",
    "heartbeat/delete": {"deleted": True},
    "heartbeat/delete_without_environment": "INVALID_REQUEST",
    "heartbeat/register": {"created": False, "signing_key": None},
    "heartbeat/register_as_another_role": "NOT_OWNER",
    "heartbeat/register_from_another_session": {"created": False},
    "heartbeat/register_queue": {"created": True, "subscription": "confirmed"},
    "heartbeat/register_with_unknown_field": "INVALID_REQUEST",
    "import/definition": {"dry_run": False},
    "import/definition_and_policy": {"dry_run": False},
    "import/dry_run": {"dry_run": True},
    "import/invalid_definition": "INVALID_DEFINITION",
    "import/policy_alone": {"definition": None},
    "import/policy_of_unknown_definition": "DEFINITION_NOT_FOUND",
    "query/ack": {"consumer": "vendor-worker", "status": "Pending"},
    "query/ack_as_another_role": "NOT_OWNER",
    "query/consumers": {"cursor": None},
    "query/definition": {"name": "VendorRegistration", "version": 1},
    "query/definition_versions": {"cursor": None},
    "query/definitions": {"cursor": None},
    "query/health": {"healthy": True, "database": True},
    "query/instance": {"instance_guid": INSTANCE_GUID, "current_state": "Submitted"},
    "query/instances": {"cursor": None},
    "query/instances_with_bad_cursor": "INVALID_REQUEST",
    "query/instances_with_bad_limit": "INVALID_REQUEST",
    "query/instances_with_unknown_parameter": "INVALID_REQUEST",
    "query/missing_auth_context": "NOT_OWNER",
    "query/notices": {"cursor": None},
    "query/openapi": {"openapi": "3.1.0"},
    "query/timeline": {"next_seq": None},
    "query/unknown_definition": "DEFINITION_NOT_FOUND",
    "query/unknown_instance": "INSTANCE_NOT_FOUND",
    "query/unknown_route": "ROUTE_NOT_FOUND",
    "query/why": {"gave_up": []},
    "query/wrong_method": "METHOD_NOT_ALLOWED",
    "runtime/freeze": {"runtime_id": 1, "frozen": True},
    "runtime/status": {"runtime_id": 1, "changed": True, "status": "Done"},
    "runtime/status_of_unknown_activity": "RUNTIME_NOT_FOUND",
    "runtime/unfreeze": {"runtime_id": 1, "frozen": False},
    "runtime/upsert": {"changed": True, "status": "Running"},
    "runtime/upsert_of_unknown_instance": "INSTANCE_NOT_FOUND",
    "trigger/bad_json": "INVALID_REQUEST",
    "trigger/base64_body": {"applied": True, "external_ref": "VENDOR-2003"},
    "trigger/by_instance_guid": {"applied": True, "to_state": "Approved"},
    "trigger/contradicting_idempotency_key": "INVALID_REQUEST",
    "trigger/idempotency_key_header": {"applied": True, "external_ref": "VENDOR-2002"},
    "trigger/jwt_caller": {"applied": True},
    "trigger/missing_auth_context": "NOT_OWNER",
    "trigger/refused_transition": {"applied": False, "reason": "InvalidTransition"},
    "trigger/same_request_id_other_body": "REQUEST_ID_REUSED",
    "trigger/submit": {"applied": True, "replayed": False, "seq": 1},
    "trigger/submit_again": {"applied": True, "replayed": True},
    "trigger/unknown_definition": "DEFINITION_NOT_FOUND",
    "trigger/unknown_event": {"applied": False, "reason": "UnknownEvent"},
    "trigger/wrong_method": "METHOD_NOT_ALLOWED",
    "trigger/wrong_types": "INVALID_REQUEST",
}
READS_NOTHING = ("query/", "import/dry_run")
OTHER_FUNCTIONS = ("migrate/", "monitor/")


@pytest.fixture
def vendors(stack: Stack) -> Stack:
    return submit_a_vendor(stack)


def submit_a_vendor(stack: Stack) -> Stack:
    """A definition, a consumer, and an instance with the guids that the files name."""
    for function, case in (("import", "definition_and_policy"), ("heartbeat", "register"), ("trigger", "submit_again")):
        assert stack.http(function, read_event(function, case)).status == 200
    stack.bench.sql(f"UPDATE instance SET guid = '{INSTANCE_GUID}'")
    stack.bench.sql(f"UPDATE ack SET guid = '{ACK_GUID}' WHERE id IN (SELECT ack_id FROM lc_ack)")
    assert stack.http("runtime", read_event("runtime", "upsert")).status == 200
    stack.bench.sql("UPDATE runtime SET id = 1, status = 'Waiting'")
    stack.received()
    return stack


def test_every_http_file_has_its_expectation():
    assert [name for name in FILES if not name.startswith(OTHER_FUNCTIONS)] == sorted(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_file_answers_as_expected(vendors, name):
    function, case = name.split("/")
    before = vendors.contents()
    answer = vendors.http(function, read_event(function, case))
    expected = EXPECTED[name]
    if isinstance(expected, str):
        assert (answer.code, answer.headers["content-type"]) == (expected, "application/problem+json"), answer.text
        assert answer.body["status"] == answer.status
    else:
        assert answer.status == 200, answer.text
        assert expected.items() <= answer.body.items()
    if isinstance(expected, str) or name.startswith(READS_NOTHING):
        assert vendors.contents() == before


def test_two_sessions_of_one_role_are_one_owner_and_get_one_key(vendors):
    first = vendors.http("heartbeat", read_event("heartbeat", "register")).body
    other = vendors.http("heartbeat", read_event("heartbeat", "register_from_another_session")).body
    assert (first["consumer_id"], first["signing_key"]) == (other["consumer_id"], None)
    assert other["signing_key"].startswith("whsec_")


def test_a_bad_item_of_a_batch_fails_alone(vendors):
    items = vendors.http("ack", read_event("ack", "batch")).body["items"]
    assert [(item["result"], (item["error"] or {}).get("code")) for item in items] == [
        ("applied", None),
        ("error", "ACK_NOT_FOUND"),
        ("error", "INVALID_REQUEST"),
    ]


def test_a_wrong_method_is_told_the_paths_methods_over_all_functions(vendors):
    assert vendors.http("query", read_event("query", "wrong_method")).headers["allow"] == "GET, POST"
    assert vendors.http("trigger", read_event("trigger", "wrong_method")).headers["allow"] == "POST"


def test_the_schedule_runs_passes_for_its_fifty_seconds_and_reports_them(vendors, capsys):
    report = vendors.invoke("monitor", read_event("monitor", "every_minute"))
    assert report["passes"] >= 5
    assert metric(capsys.readouterr().out, "MonitorPasses") == [float(report["passes"])]


def test_another_event_than_the_schedules_fails_loudly_and_runs_nothing(vendors):
    before = vendors.contents()
    for event in (read_event("monitor", "malformed"), {}, {"source": "aws.scheduler"}):
        with pytest.raises(ValidationError):
            vendors.invoke("monitor", event)
    assert vendors.contents() == before


def metric(output: str, name: str) -> Any:
    """The value of a metric in the log lines."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return next(line[name] for line in lines if name in line)


class CloudFormation:
    """The place that custom resources answer to."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self.content_types: list[str | None] = []
        self.url = ""


@pytest.fixture
def cloudformation() -> Generator[CloudFormation]:
    place = CloudFormation()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            place.answers.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            place.content_types.append(self.headers["content-type"])
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    place.url = f"http://127.0.0.1:{server.server_port}/answer"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield place
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("case", "status"), [("create", "SUCCESS"), ("update", "SUCCESS"), ("rollback", "SUCCESS"), ("delete", "SUCCESS"), ("bad_properties", "FAILED")]
)
def test_a_custom_resource_is_answered_with_one_constant_id(stack, cloudformation, case, status):
    event = read_event("migrate", case) | {"ResponseURL": cloudformation.url}
    stack.invoke("migrate", event)
    (answer,) = cloudformation.answers
    echoed = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    assert echoed.items() <= answer.items()
    assert (answer["Status"], answer["PhysicalResourceId"], cloudformation.content_types) == (status, "workflow-engine-schema", [""])


@pytest.mark.parametrize("case", ["delete", "rollback"])
def test_delete_and_rollback_do_not_even_ask_the_database(stack, cloudformation, monkeypatch, case):
    monkeypatch.setenv("WFE_DATABASE_URL", "mysql://nobody:x@127.0.0.1:1/none")
    stack.invoke("migrate", read_event("migrate", case) | {"ResponseURL": cloudformation.url})
    assert [answer["Status"] for answer in cloudformation.answers] == ["SUCCESS"]


def test_a_failed_migration_is_told_without_secrets(stack, cloudformation, monkeypatch):
    monkeypatch.setenv("WFE_DATABASE_URL", "mysql://nobody:hunter2@127.0.0.1:1/none")
    stack.invoke("migrate", read_event("migrate", "create") | {"ResponseURL": cloudformation.url})
    (answer,) = cloudformation.answers
    assert answer["Status"] == "FAILED"
    assert "2003" in answer["Reason"]
    assert "hunter2" not in str(answer)


def test_migrate_waits_a_minute_for_a_database_that_does_not_answer_yet(stack, cloudformation, monkeypatch):
    monkeypatch.setenv("WFE_DATABASE_URL", "mysql://nobody:x@127.0.0.1:1/none")
    stack.context, started = Context(seconds=280), stack.bench.clock.now()
    stack.invoke("migrate", read_event("migrate", "create") | {"ResponseURL": cloudformation.url})
    assert [answer["Status"] for answer in cloudformation.answers] == ["FAILED"]
    assert 60 <= (stack.bench.clock.now() - started).total_seconds() < 70


def test_migrate_may_be_called_directly(stack):
    assert stack.invoke("migrate", read_event("migrate", "direct")) == {"version": 1, "applied": ()}


@pytest.mark.parametrize("event", [{}, {"RequestType": "Create"}, {"action": "drop"}])
def test_another_event_than_a_custom_resources_fails_loudly(stack, event):
    with pytest.raises(ValidationError):
        stack.invoke("migrate", event)


def test_a_custom_resource_answers_to_https_only(stack):
    with pytest.raises(ValidationError):
        stack.invoke("migrate", read_event("migrate", "malformed"))
    for url in ("file:///etc/passwd", "http://example.org/", "ftp://example.org/"):
        with pytest.raises(ValidationError):
            stack.invoke("migrate", read_event("migrate", "create") | {"ResponseURL": url})
