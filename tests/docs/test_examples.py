"""The examples are true: requests validate, bodies have the keys that are sent, code runs, and printed output is what a run prints."""

import json
import re
import time
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from docs import first_workflow
from local.walk import Walk, walk
from local.walk_cloud import walk_environment
from tests.docs.pages import block
from tests.support.documents import definition_l, policy_l
from workflow_engine.adapters.signing import Signer
from workflow_engine.models.ack import AckRequest
from workflow_engine.models.consumer import HeartbeatRequest, RegisterConsumerRequest
from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult

_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


@pytest.mark.parametrize(
    ("name", "heading", "place", "model"),
    [
        ("docs/api.md", "Trigger", 0, LifeCycleTriggerRequest),
        ("docs/api.md", "Trigger", 1, LifeCycleTriggerResult),
        ("docs/api.md", "Ack", 0, AckRequest),
        ("docs/consumers.md", "Register", 0, RegisterConsumerRequest),
        ("docs/consumers.md", "Beat", 0, HeartbeatRequest),
        ("README.md", "A first workflow", 1, LifeCycleTriggerRequest),
    ],
)
def test_an_example_is_what_the_api_takes_or_gives(name, heading, place, model):
    model.model_validate_json(block(name, heading, "json", place))


def test_the_readmes_first_workflow_is_the_one_that_runs():
    assert [json.loads(block("README.md", "A first workflow", "json", place)) for place in (0, 1)] == [first_workflow.LEAVE, first_workflow.SUBMIT]


def test_the_first_workflow_prints_what_the_readme_shows(clean_database, capsys):
    with walk_environment(clean_database) as mailboxes:
        first_workflow.story(mailboxes["registry"])
    assert _TIME.sub("", capsys.readouterr().out) == _TIME.sub("", block("README.md", "A first workflow", "text"))


def test_the_excerpt_of_the_walk_is_what_the_walk_prints(clean_database):
    printed: list[str] = []
    with walk_environment(clean_database) as mailboxes:
        walk(Walk(mailboxes=mailboxes, say=printed.append))
    lines = iter(line for text in printed for line in text.splitlines())
    left_out = [line for line in block("README.md", "Commands", "text").splitlines() if line.strip() != "…" and line not in lines]
    assert left_out == []


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
