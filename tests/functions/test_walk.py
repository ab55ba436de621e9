"""The walk that `make walk` prints, checked: every fact is one that an answer or a received message said."""

from typing import Any

import pytest

from local.walk import Walk, walk
from local.walk_cloud import walk_environment


@pytest.fixture
def seen(clean_database: str) -> list[dict[str, Any]]:
    with walk_environment(clean_database) as mailboxes:
        it = Walk(mailboxes=mailboxes, say=lambda _text: None)
        walk(it)
    return it.seen


@pytest.mark.scenario(10, 51, 53, 60, 64, 67, 84)
def test_a_vendor_walks_from_its_request_to_its_account_with_everything_that_can_go_wrong(seen: list[dict[str, Any]]):
    triggers = [(fact["from_state"], fact["to_state"]) for fact in seen if fact["fact"] == "trigger" and fact["external_ref"] == "VENDOR-00042"]
    assert triggers == [
        ("Received", "CheckVendorRegistered"),
        ("CheckVendorRegistered", "PendingPQValidation"),
        ("PendingPQValidation", "Overdue"),
        ("Overdue", "AwaitingApproval"),
        ("AwaitingApproval", "AwaitingApproval"),
        ("AwaitingApproval", "AwaitingApproval"),
        ("AwaitingApproval", "Registered"),
    ]
    codes = {fact["code"] for fact in seen if fact["fact"] == "notice"}
    assert codes == {"ACK_RETRY", "TIMEOUT_FIRED", "DEFAULT_STATE_STALE", "ACK_SUSPEND"}
    statuses = [fact["status"] for fact in seen if fact["fact"] == "instance"]
    assert statuses == ["Suspended", "Active", "Completed"]


def test_every_consumer_first_hears_of_every_step_in_order(seen: list[dict[str, Any]]):
    for consumer in ("registry", "audit"):
        first: dict[str, int] = {}
        for fact in seen:
            if fact.get("consumer") == consumer and fact.get("external_ref") == "VENDOR-00042" and fact["fact"] == "received":
                first.setdefault(fact["ack_guid"], fact["seq"])
        assert list(first.values()) == sorted(first.values())
        assert len(set(first.values())) == max(first.values())


def test_the_timeline_ends_with_everything_processed(seen: list[dict[str, Any]]):
    steps = [fact for fact in seen if fact["fact"] == "timeline"]
    assert [step["seq"] for step in steps] == list(range(1, len(steps) + 1))
    assert {receipt["status"] for step in steps for receipt in step["receipts"]} == {"Processed"}
    assert steps[-1]["to_state"] == "Registered"
