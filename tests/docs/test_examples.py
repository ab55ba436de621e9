"""The examples are true: requests validate, bodies have the keys that are sent, code runs, and printed output is what a run prints."""

import json
import time
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from tests.docs.pages import block
from tests.support.documents import definition_l, policy_l
from workflow_engine.adapters.signing import Signer
from workflow_engine.models.ack import AckRequest
from workflow_engine.models.consumer import HeartbeatRequest, RegisterConsumerRequest
from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult


@pytest.mark.parametrize(
    ("name", "heading", "place", "model"),
    [
        ("docs/api.md", "Trigger", 0, LifeCycleTriggerRequest),
        ("docs/api.md", "Trigger", 1, LifeCycleTriggerResult),
        ("docs/api.md", "Ack", 0, AckRequest),
        ("docs/consumers.md", "Register", 0, RegisterConsumerRequest),
        ("docs/consumers.md", "Beat", 0, HeartbeatRequest),
    ],
)
def test_an_example_is_what_the_api_takes_or_gives(name, heading, place, model):
    model.model_validate_json(block(name, heading, "json", place))


def test_an_event_and_a_notice_have_the_keys_that_the_pages_show(bench):
    bench.import_(definition_l(), policy_l())
    bench.register("c1")
    bench.trigger("Submit")
    bench.clock.advance(41)
    bench.monitor()
    transition, hook = bench.bodies("c1")[:2]
    shown = json.loads(block("docs/consumers.md", "What arrives", "json"))
    assert (list(shown), list(shown)[: len(transition)]) == (list(hook), list(transition))
    notice, example = bench.noticed("ACK_RETRY")[0].body(), json.loads(block("docs/notices.md", "Notices", "json"))
    assert (list(example), list(example["data"])) == (list(notice), list(notice["data"]))


def test_the_pages_check_of_a_signature_agrees_with_the_engine_and_the_reference():
    check: dict[str, Any] = {}
    exec(compile(block("docs/consumers.md", "Verify", "python"), "consumers.md", "exec"), check)  # noqa: S102  # the page's own code
    is_genuine, now = check["is_genuine"], int(time.time())
    before, rotating = Signer(lambda: ["old"]), Signer(lambda: ["new", "old"])
    attributes = {"webhook-id": "guid", "webhook-timestamp": str(now), "webhook-signature": rotating.sign(7, "guid", now, "{}")}
    assert is_genuine(before.signing_key(7), attributes, "{}")
    assert is_genuine(rotating.signing_key(7), attributes, "{}")
    assert not is_genuine(rotating.signing_key(8), attributes, "{}")
    assert not is_genuine(rotating.signing_key(7), attributes, "{} ")
    assert Webhook(rotating.signing_key(7)).verify("{}", attributes) == {}
