"""What the three consumers have in common: the same rules, shown on each of them in this process."""

import json
import re
import time
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from local.lambdas.calls import LocalContext
from tests.examples.place import CHECKED, HTTPS, LAMBDA, NEXT, SQS, Message, lambda_settings, module_of, sns_event
from tests.support.stack import ROOT

NAME = "vendor-checks"


class Told:
    """A consumer's module with one way to hand it a message, whatever its transport."""

    def __init__(self, place, module, key):
        self.module, self.key = module, key
        self._place = place

    def tell(self, message):
        if hasattr(self.module, "handler"):
            return self.module.handler(sns_event(message), LocalContext())
        if hasattr(self.module, "Door"):
            self.module.secret["key"] = self.key
            attributes = {name: {"Type": "String", "Value": value} for name, value in message.attributes.items()}
            event = self.module.Door.receive(None, {"Type": "Notification", "Message": message.body, "MessageAttributes": attributes})
            return event and self.module.handle(event)
        attributes = {name: {"DataType": "String", "StringValue": value} for name, value in message.attributes.items()}
        return self.module.receive({"MessageId": "1", "Body": message.body, "MessageAttributes": attributes}, self.key)

    def status(self, message):
        return self._place.status(NAME, message)


@pytest.fixture(params=[HTTPS, SQS, LAMBDA], ids=["https", "sqs", "lambda"])
def consumer(request, place, monkeypatch, tmp_path):
    key = place.register(NAME)["signing_key"]
    settings = {**lambda_settings(place, NAME, key), "DATABASE": str(tmp_path / "memory.sqlite3"), "TOPIC_ARN": "arn", "PUBLIC_URL": "https://127.0.0.1:1/"}
    for setting, value in settings.items():
        monkeypatch.setenv(setting, value)
    module = module_of(request.param)
    yield Told(place, module, key)
    if request.param is not LAMBDA:
        module.memory.close()


def resigned(message, key, seconds_ago):
    """The same event, sent at another time."""
    at = datetime.fromtimestamp(int(time.time()) - seconds_ago, UTC)
    signature = Webhook(key).sign(message.attributes["webhook-id"], at, message.body)
    return message.changed(webhook_timestamp=str(int(at.timestamp())), webhook_signature=signature)


@pytest.mark.parametrize("path", [HTTPS, SQS, LAMBDA])
def test_a_consumer_has_under_a_hundred_lines_and_needs_no_other_file(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) < 100
    assert not re.search(r"^from \.|import workflow_engine|import local", text, re.MULTILINE)


@pytest.mark.parametrize("path", [HTTPS, SQS])
def test_the_packages_of_a_consumer_are_the_versions_that_it_is_tested_with(path):
    pinned = set((ROOT / "local/constraints.txt").read_text("utf-8").splitlines())
    wanted = path.with_name("requirements.txt").read_text("utf-8").splitlines()
    assert set(wanted) <= pinned
    named = {name for name in ("boto3", "botocore", "standardwebhooks") if re.search(rf"^(?:import|from) {name}\b", path.read_text("utf-8"), re.MULTILINE)}
    assert named - {line.partition("==")[0] for line in wanted} <= {"botocore"}  # boto3 brings it along


def test_work_that_cannot_be_done_now_is_asked_for_again_and_then_done(place, consumer, monkeypatch):
    hook = place.hook(NAME, "V-1")
    with monkeypatch.context() as patch:
        patch.setattr(consumer.module, "work", fails(ConnectionError("the register is down")))
        consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook)) == ("Pending", [CHECKED])
    consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook)) == ("Processed", [CHECKED, NEXT])


def test_work_that_fails_for_good_is_acknowledged_as_failed_with_its_reason_and_not_tried_again(place, consumer, monkeypatch):
    hook = place.hook(NAME, "V-1")
    with monkeypatch.context() as patch:
        patch.setattr(consumer.module, "work", fails(ValueError("no such vendor")))
        consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook)) == ("Failed", [CHECKED])
    consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook)) == ("Failed", [CHECKED])
    assert "no such vendor" in str(place.notices("CONSUMER_FAILURE"))


def test_nothing_is_raised_when_the_instance_moves_on_during_the_work(place, consumer, monkeypatch):
    hook = place.hook(NAME, "V-1")

    def slow(event):
        place.trigger("V-1", "Accept")
        return event["on_success_event"]

    monkeypatch.setattr(consumer.module, "work", slow)
    consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook)) == ("Processed", [CHECKED, NEXT])


def test_work_is_not_repeated_when_the_instance_was_suspended_meanwhile_and_its_event_is_raised_after_the_resume(place, consumer, monkeypatch):
    hook, done = place.hook(NAME, "V-1"), []

    def work(event):
        done.append(event["ack_guid"])
        place.stack.ok("POST", f"/v1/instances/{event['instance_guid']}/suspend", {"reason": "a look at it"})
        return event["on_success_event"]

    monkeypatch.setattr(consumer.module, "work", work)
    consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook)) == ("Pending", [CHECKED])
    place.stack.ok("POST", f"/v1/instances/{hook.event['instance_guid']}/resume", {"reason": "looked"})
    consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook), len(done)) == ("Processed", [CHECKED, NEXT], 1)


def test_a_crash_after_the_work_repeats_neither_work_nor_event(place, consumer, monkeypatch):
    hook, done = place.hook(NAME, "V-1"), []
    work, call = consumer.module.work, consumer.module.call

    def dies_before_it_raises(method, path, body=None):
        if path == "/v1/trigger":
            raise KeyboardInterrupt
        return call(method, path, body)

    monkeypatch.setattr(consumer.module, "work", lambda event: done.append(event["ack_guid"]) or work(event))
    with monkeypatch.context() as patch:
        patch.setattr(consumer.module, "call", dies_before_it_raises)
        with pytest.raises(KeyboardInterrupt):
            consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook)) == ("Delivered", [CHECKED])
    consumer.tell(hook)
    assert (consumer.status(hook), place.steps(hook), len(done)) == ("Processed", [CHECKED, NEXT], 1)


def test_an_event_that_is_not_ours_or_wants_no_answer_is_dropped(place, consumer, monkeypatch):
    monkeypatch.setattr(consumer.module, "call", fails(AssertionError("nothing to do for us")))
    consumer.tell(place.hook(NAME, "V-1", ack_required=False))
    hook = place.hook(NAME, "V-2")
    consumer.tell(hook.changed(consumer="somebody-else"))
    elsewhere = json.dumps({**hook.event, "env_code": place.env_code + 1})
    consumer.tell(resigned(Message(body=elsewhere, attributes=hook.attributes), consumer.key, 0))


def test_a_message_with_a_second_signature_is_genuine_while_keys_rotate(place, consumer):
    hook = place.hook(NAME, "V-1")
    consumer.tell(hook.changed(webhook_signature=f"v1,bmV3ZXI= {hook.attributes['webhook-signature']}"))
    assert consumer.status(hook) == "Processed"


def test_an_old_message_is_taken_from_a_queue_or_by_a_function_but_not_over_https(place, consumer):
    hook = place.hook(NAME, "V-1")
    old = resigned(hook, consumer.key, 86_400)
    if hasattr(consumer.module, "Door"):
        with pytest.raises(WebhookVerificationError, match="too old"):
            consumer.tell(old)
    else:
        consumer.tell(old)
    assert consumer.status(hook) == ("Pending" if hasattr(consumer.module, "Door") else "Processed")


def test_calls_are_signed_for_the_api_with_the_callers_credentials(place, consumer, monkeypatch):
    sent = []
    opened = consumer.module.request.urlopen
    monkeypatch.setattr(consumer.module.request, "urlopen", lambda request, **more: sent.append(request) or opened(request, **more))
    consumer.module.has_moved_on(place.hook(NAME, "V-1").event)
    authorization = sent[0].get_header("Authorization")
    assert re.match(r"AWS4-HMAC-SHA256 Credential=local/\d{8}/eu-central-1/execute-api/aws4_request, SignedHeaders=\S*host;x-amz-date", authorization)


def fails(error):
    def failing(*_):
        raise error

    return failing
