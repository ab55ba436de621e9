"""Logs and metrics of a sandbox: references, counts, and one engine for all its calls."""

import json
import logging
import threading
from typing import Any

import pytest

from tests.functions.conftest import Stack, read_event
from tests.support.cloud import client
from workflow_engine.entry import container, observability
from workflow_engine.entry.container import database_target
from workflow_engine.entry.settings import Settings

TRIGGER = {"env_code": 1, "def_name": "VendorRegistration", "external_ref": "V-1", "event": "Submit"}


@pytest.fixture
def vendors(stack: Stack, capsys) -> Stack:
    for function, case in (("import", "definition"), ("heartbeat", "register")):
        assert stack.http(function, read_event(function, case)).status == 200
    capsys.readouterr()
    return stack


def lines(capsys) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]


def counted(capsys) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in lines(capsys):
        for metric in line.get("_aws", {}).get("CloudWatchMetrics", [{"Metrics": []}])[0]["Metrics"]:
            found[metric["Name"]] = found.get(metric["Name"], 0) + sum(line[metric["Name"]])
    return found


def trigger(stack: Stack, **more: Any) -> Any:
    return stack.call("trigger", "POST", "/v1/trigger", {**TRIGGER, **more}).body


def test_triggers_are_counted_as_applied_refused_or_replayed(vendors, capsys):
    trigger(vendors, request_id="r1")
    trigger(vendors, request_id="r1")
    trigger(vendors, request_id="r2")
    assert counted(capsys) == {"TriggersApplied": 1, "TriggersReplayed": 1, "TriggersRefused": 1}


def test_acks_are_counted_by_outcome_and_only_when_they_changed_something(vendors, capsys):
    guid = trigger(vendors)["ack_guid"]
    capsys.readouterr()
    acks = [{"ack_guid": guid, "outcome": outcome} for outcome in ("Delivered", "Delivered", "Retry", "Processed", "Processed", "Nonsense")]
    body = {"env_code": 1, "consumer": "vendor-worker", "acks": acks}
    authorizer = read_event("heartbeat", "register")["requestContext"]["authorizer"]
    assert vendors.call("ack", "POST", "/v1/ack", body, authorizer=authorizer).status == 200
    assert counted(capsys) == {"AcksDelivered": 1, "AcksRetried": 1, "AcksProcessed": 1}


def test_what_sns_does_not_take_is_counted_and_changes_no_answer(vendors, capsys):
    client("sns").delete_topic(TopicArn=container.settings().work_topic_arn)
    assert trigger(vendors)["applied"] is True
    assert counted(capsys) == {"TriggersApplied": 1, "PublishFailures": 1}


def test_every_metric_has_the_stack_as_its_only_dimension(vendors, capsys):
    trigger(vendors)
    (metric,) = [line for line in lines(capsys) if "_aws" in line]
    assert (metric["_aws"]["CloudWatchMetrics"][0]["Dimensions"], metric["service"]) == ([["service"]], "wfe-test")
    assert metric["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "WorkFlowEngine"


def test_a_line_carries_the_references_of_its_own_call_and_no_others(vendors, capsys):
    answer = trigger(vendors, request_id="r1")
    vendors.call("query", "GET", f"/v1/instances/{answer['instance_guid']}")
    vendors.call("query", "GET", "/v1/health")
    first, second, third = (line for line in lines(capsys) if line.get("message") == "answered")
    keys = {"external_ref": "V-1", "request_id": "r1", "instance_guid": answer["instance_guid"], "ack_guid": answer["ack_guid"]}
    assert keys.items() <= first.items()
    assert second["instance_guid"] == answer["instance_guid"]
    assert "request_id" not in second
    assert set(third) & set(observability.CORRELATION_KEYS) == set()
    assert (first["status"], first["route"], first["function"]) == (200, "POST /v1/trigger", "trigger")
    assert first["seconds"] >= 0


def test_the_engines_own_loggers_write_the_same_kind_of_line(vendors, capsys):
    trigger(vendors)
    capsys.readouterr()
    logging.getLogger("workflow_engine.engine.something").warning("look", extra={"ack_guid": "g"})
    (line,) = lines(capsys)
    assert (line["message"], line["ack_guid"], line["service"]) == ("look", "g", "wfe-test")


@pytest.mark.usefixtures("stack")
def test_a_sandbox_keeps_its_engine_and_another_thread_gets_its_own():
    engines = [container.engine(), container.engine()]
    thread = threading.Thread(target=lambda: engines.append(container.engine()))
    thread.start()
    thread.join()
    assert engines[0] is engines[1]
    assert engines[0] is not engines[2]
    engines[2].close()


def test_the_deadline_leaves_two_seconds_for_the_answer(stack):
    assert 25.5 < container.deadline_of(stack.context).remaining() <= 26


def test_the_environment_decides_how_to_log_in():
    place = {"WFE_DB_HOST": "db.example.org", "WFE_DB_NAME": "wfe", "WFE_DB_USER": "engine"}
    iam = database_target(Settings.from_environment(place))
    secret = database_target(Settings.from_environment({**place, "WFE_DB_AUTH": "secret", "WFE_DB_SECRET_ARN": "arn:x"}))
    local = database_target(Settings.from_environment({**place, "WFE_DATABASE_URL": "mysql://u:p@127.0.0.1:3399/here"}))
    assert [(target.host, target.port, target.ssl_context is not None) for target in (iam, secret, local)] == [
        ("db.example.org", 3306, True),
        ("db.example.org", 3306, True),
        ("127.0.0.1", 3399, False),
    ]


@pytest.mark.parametrize("missing", ["WFE_DB_HOST", "WFE_DB_USER"])
def test_a_missing_variable_is_named(missing):
    place = {"WFE_DB_HOST": "db.example.org", "WFE_DB_USER": "engine"}
    place.pop(missing)
    with pytest.raises(RuntimeError, match=missing):
        database_target(Settings.from_environment(place))
