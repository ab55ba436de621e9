"""The local stack: the gateway's events, the routes that exist only here, and SNS with its subscribers."""

import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from standardwebhooks import Webhook

from local.stack.api import MAX_BODY_BYTES
from local.stack.gateway import Gateway, HttpRequest, event_of
from tests.support.https_inbox import https_inbox
from tests.support.stack import ROOT, stack_on
from workflow_engine.adapters.clock import SystemClock
from workflow_engine.entry import container

QUEUE = "arn:aws:sqs:eu-central-1:123456789012:"


def request_of(method, path, query="", body=b"", **headers):
    return HttpRequest(method=method, path=path, query=query, headers={"content-type": "application/json", **headers}, body=body)


# ---- the gateway


def test_every_operation_of_the_openapi_document_has_its_route_and_function():
    documented = json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))["paths"]
    wanted = {f"{method.upper()} {path}" for path, methods in documented.items() for method in methods}
    assert {route.key for route in Gateway().routes} == wanted


@pytest.mark.parametrize(
    ("method", "path", "key", "parameters"),
    [
        ("POST", "/v1/trigger", "POST /v1/trigger", None),
        ("GET", "/v1/instances/a%2Fb%20c/why", "GET /v1/instances/{guid}/why", {"guid": "a/b c"}),
        ("POST", "/v1/trigger/", "$default", None),
        ("PATCH", "/v1/trigger", "$default", None),
        ("GET", "/elsewhere", "$default", None),
    ],
)
def test_a_request_finds_its_route_as_api_gateway_finds_it(method, path, key, parameters):
    matched = Gateway().match(request_of(method, path))
    assert (matched.route.key, matched.path_parameters) == (key, parameters)


@pytest.mark.parametrize("name", ["trigger/submit", "query/instances", "heartbeat/delete", "query/unknown_route"])
def test_an_event_has_the_fields_of_the_sample_events(name):
    sample = json.loads((ROOT / f"events/{name}.json").read_text("utf-8"))
    http = sample["requestContext"]["http"]
    request = request_of(http["method"], http["path"], sample["rawQueryString"], (sample.get("body") or "").encode())
    made = event_of(request, Gateway().match(request), SystemClock().real_now())
    assert shape(sample) - shape(made) == set()
    assert (made["routeKey"], made["rawPath"], made["rawQueryString"]) == (sample["routeKey"], sample["rawPath"], sample["rawQueryString"])
    assert (made.get("queryStringParameters"), made.get("pathParameters")) == (sample.get("queryStringParameters"), sample.get("pathParameters"))


def shape(value, place=""):
    """Every path of the document but the names of headers."""
    if not isinstance(value, dict) or place == "/headers":
        return {place}
    return {place}.union(*(shape(inner, f"{place}/{name}") for name, inner in value.items()))


def test_a_body_that_is_no_text_arrives_as_base64():
    request = HttpRequest(method="POST", path="/v1/trigger", query="", headers={"content-type": "application/octet-stream"}, body=b"{}")
    event = event_of(request, Gateway().match(request), SystemClock().real_now())
    assert (event["body"], event["isBase64Encoded"]) == ("e30=", True)


# ---- the API


def test_the_caller_is_local_unless_the_header_says_another(stack):
    stack.listen("mine")
    stack.listen("yours", principal="somebody")
    owners = {item["consumer"]: item["owner"] for item in stack.ok("GET", "/v1/consumers?env_code=1")["items"]}
    assert owners == {"mine": "iam:123456789012:role/local", "yours": "iam:123456789012:role/somebody"}
    assert stack.call("POST", "/v1/heartbeat", {"env_code": 1, "consumer": "yours"}).status == 403


def test_a_body_without_a_json_content_type_works_as_curl_sends_it(stack):
    stack.listen("registry")
    body = json.dumps({"env_code": 1, "def_name": "Leave", "external_ref": "L-1", "event": "Submit"}).encode()
    assert stack.call("POST", "/v1/trigger", body, content_type="application/x-www-form-urlencoded").body["applied"] is True


def test_what_is_no_route_and_what_is_too_long_is_refused(stack):
    assert stack.call("GET", "/v1/nothing").body["code"] == "ROUTE_NOT_FOUND"
    refused = stack.call("PUT", "/v1/trigger")
    assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert stack.call("POST", "/v1/trigger", b"x" * (MAX_BODY_BYTES + 1)).status == 413


def test_many_callers_at_once_are_served_and_every_event_is_applied_once(stack):
    stack.listen("registry")
    with ThreadPoolExecutor(24) as pool:
        moved = list(pool.map(lambda number: stack.trigger(f"L-{number % 12}"), range(48)))
    assert sum(one["applied"] for one in moved) == 12
    assert len(stack.published()) == sum(message["topic"] == "Notices" for message in stack.published()) + 12


# ---- the routes that exist only here


def test_the_clock_moves_what_is_stored_and_nothing_else(stack):
    stack.listen("registry")
    before = container.clock().real_now()
    moved_to = stack.ok("PUT", "/_local/clock", {"advance_seconds": 3_000})["now"]
    assert moved_to > (before + timedelta(seconds=3_000)).strftime("%Y-%m-%dT%H:%M:%S")
    stack.trigger("L-1")
    sent = stack.published()[-1]["attributes"]
    assert sent["first_sent_at"] >= moved_to
    assert abs(int(sent["webhook-timestamp"]) - before.timestamp()) < 60


WRONG_MOVES = [{}, {"advance_seconds": "1"}, {"advance_seconds": True}, {"advance_seconds": 1e12}, {"advance_seconds": 10**400}, [], None, b"[" * 100_000]


def test_a_clock_that_cannot_be_moved_so_is_told(stack):
    for body in [*WRONG_MOVES, b'{"advance_seconds": NaN}']:
        refused = stack.call("PUT", "/_local/clock", body)
        assert (refused.status, "advance_seconds" in refused.body["message"]) == (400, True)


def test_the_clock_cannot_be_driven_to_where_no_time_can_be_written(stack):
    year = {"advance_seconds": 366 * 86_400}
    while (moved := stack.call("PUT", "/_local/clock", year)).status == 200:
        pass
    assert "between 2000 and 2200" in moved.body["message"]
    assert stack.ok("GET", "/v1/health")["healthy"] is True


def test_whatever_is_sent_is_answered_in_json(stack):
    assert stack.call("GET", f"/_local/published?after={'9' * 5_000}").status == 400
    place = urlsplit(stack.url)
    for head in (f"content-length: {'9' * 5_000}", "transfer-encoding: chunked"):
        with socket.create_connection((place.hostname, place.port), 10) as connection:
            connection.sendall(f"POST /v1/trigger HTTP/1.1\r\nhost: localhost\r\n{head}\r\n\r\nzz\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        assert answer.split(b" ")[1] in {b"400", b"413"}
        assert b'{"message": ' in answer


def test_a_name_that_is_not_this_machines_is_not_answered(stack):
    place = urlsplit(stack.url)
    connection = http.client.HTTPConnection(place.hostname, place.port)
    try:
        connection.request("GET", "/_local", headers={"host": "evil.example"})
        assert connection.getresponse().status == 403
    finally:
        connection.close()


def test_motos_own_door_is_closed(stack):
    with pytest.raises(OSError, match="404"):
        urlopen(Request(f"{stack.stack.aws_url}/moto-api/reset", method="POST"), timeout=10)  # noqa: S310  # the stack's own address


def test_a_pass_on_request_resends_what_is_due_with_the_same_bytes(stack):
    stack.listen("registry")
    stack.trigger("L-1")
    stack.ok("PUT", "/_local/clock", {"advance_seconds": 60})
    report = stack.ok("POST", "/_local/monitor")
    work = [message for message in stack.published() if message["topic"] == "WorkEvents"]
    assert report["sent"] == 1
    assert [message["attributes"]["attempt"] for message in work] == ["1", "2"]
    assert work[0]["body"] == work[1]["body"]


def test_the_monitor_makes_its_passes_by_itself(database_server, tmp_path):
    with stack_on(database_server, WFE_MONITOR_INTERVAL_SECONDS="1") as stack, https_inbox(tmp_path) as inbox:
        stack.listen("registry", {"protocol": "https", "address": inbox.address})
        inbox.confirm()
        stack.trigger("L-1")
        stack.ok("PUT", "/_local/clock", {"advance_seconds": 60})
        first, second = inbox.take("Notification", 2)
        assert first["Message"] == second["Message"]
        assert stack.ok("GET", "/v1/health")["monitor_age_seconds"] is not None


def test_published_messages_are_numbered_from_one_asked_for_after_a_number_and_emptied(stack):
    stack.listen("registry")
    for number in range(3):
        stack.trigger(f"L-{number}")
    messages = stack.published()
    assert [message["n"] for message in messages] == [1, 2, 3]
    assert set(messages[0]) == {"n", "topic", "attributes", "body"}
    assert [message["n"] for message in stack.published(after=2)] == [3]
    assert stack.published(after=9) == []
    assert stack.call("GET", "/_local/published?after=x").status == 400
    stack.ok("DELETE", "/_local/published")
    assert stack.published() == []


def test_local_routes_say_what_they_take(stack):
    assert "/_local/clock" in stack.call("GET", "/_local/time").body["message"]
    assert stack.call("GET", "/_local/monitor").status == 405


# ---- SNS and its subscribers


def test_an_https_subscriber_confirms_and_gets_its_events_in_sns_envelopes_with_a_signature_that_holds(stack, tmp_path):
    with https_inbox(tmp_path) as inbox:
        registered = stack.listen("registry", {"protocol": "https", "address": inbox.address})
        assert registered["subscription"] == "pending"
        stack.trigger("L-0")
        assert "SubscriptionArn" in inbox.confirm()
        moved = stack.trigger("L-1")
        envelope = inbox.take("Notification", 1)[0]
        attributes = {name: attribute["Value"] for name, attribute in envelope["MessageAttributes"].items()}
        verified = Webhook(registered["signing_key"]).verify(
            envelope["Message"], {name: attributes[name] for name in attributes if name.startswith("webhook-")}
        )
        assert (verified["ack_guid"], attributes["consumer"]) == (moved["ack_guid"], "registry")
        assert envelope["TopicArn"] == stack.stack.topics["work"]
        assert inbox.posts[-1][0]["x-amz-sns-message-type"] == "Notification"
        assert stack.listen("registry", {"protocol": "https", "address": inbox.address})["subscription"] == "confirmed"


def test_a_post_that_fails_is_repeated_and_holds_nobody_up(stack, tmp_path):
    with https_inbox(tmp_path) as inbox:
        stack.listen("registry", {"protocol": "https", "address": inbox.address})
        inbox.confirm()
        inbox.answers = [500]
        stack.trigger("L-1")
        inbox.take("Notification", 1)
        stack.trigger("L-2")
        refs = [json.loads(envelope["Message"])["external_ref"] for envelope in inbox.take("Notification", 3)]
        assert refs == ["L-1", "L-2", "L-1"]


def test_only_the_consumers_own_events_pass_its_filter(stack):
    queues = {name: stack.aws("sqs").create_queue(QueueName=name)["QueueUrl"] for name in ("one", "two")}
    for name in queues:
        stack.listen(name, {"protocol": "sqs", "address": QUEUE + name})
    stack.trigger("L-1")
    for name, url in queues.items():
        messages = stack.aws("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])["Messages"]
        assert [message["MessageAttributes"]["consumer"]["StringValue"] for message in messages] == [name]


def test_an_ended_subscription_gets_nothing_more(stack, tmp_path):
    with https_inbox(tmp_path) as inbox:
        stack.listen("registry", {"protocol": "https", "address": inbox.address})
        inbox.confirm()
        stack.trigger("L-1")
        inbox.take("Notification", 1)
        stack.ok("DELETE", "/v1/consumers/registry?env_code=1")
        assert [one["Endpoint"] for one in stack.aws("sns").list_subscriptions()["Subscriptions"] if one["Protocol"] == "https"] == []


def test_a_wrong_token_confirms_nothing(stack, tmp_path):
    with https_inbox(tmp_path) as inbox:
        stack.listen("registry", {"protocol": "https", "address": inbox.address})
        inbox.take("SubscriptionConfirmation", 1)[0]["SubscribeURL"] += "x"
        with pytest.raises(OSError, match="400"):
            inbox.confirm()


def test_a_queue_that_is_gone_does_not_stop_publishing(stack):
    url = stack.aws("sqs").create_queue(QueueName="gone")["QueueUrl"]
    stack.listen("registry", {"protocol": "sqs", "address": QUEUE + "gone"})
    stack.aws("sqs").delete_queue(QueueUrl=url)
    assert stack.trigger("L-1")["applied"] is True
    assert [message["topic"] for message in stack.published()] == ["WorkEvents"]
