"""Which rule an arrival means."""

import pytest

from tests.support.documents import definition_l, policy_l
from tests.support.reading import read_policy
from workflow_engine.engine.rules.policy_rules import choose_rule, resolve_params


def policy_with(*rules):
    document, findings = read_policy(policy_l(rules=list(rules)), definition_l())
    assert document is not None, findings
    return document


@pytest.mark.scenario(30)
def test_via_beats_generic_and_the_first_of_equals_wins():
    policy = policy_with(
        {"state": "Approved", "emit": [{"route": "GENERIC"}]},
        {"state": "Approved", "via": 20, "emit": [{"route": "VIA 20"}]},
        {"state": "Approved", "via": 20, "emit": [{"route": "VIA 20 AGAIN"}]},
        {"state": "Approved", "emit": [{"route": "GENERIC AGAIN"}]},
        {"state": "Rejected", "via": 30, "emit": [{"route": "REJECTED"}]},
    )
    chosen = {(state, event): choose_rule(policy, state, event) for state in ("approved", "rejected", "draft") for event in (20, 30)}
    assert {key: found.emits[0].route if found else None for key, found in chosen.items()} == {
        ("approved", 20): "VIA 20",
        ("approved", 30): "GENERIC",
        ("rejected", 20): None,
        ("rejected", 30): "REJECTED",
        ("draft", 20): None,
        ("draft", 30): None,
    }


@pytest.mark.scenario(31)
def test_params_come_with_their_data_in_the_order_they_are_named():
    policy = policy_with()
    data = {param["code"]: param["data"] for param in policy_l()["params"]}
    assert resolve_params(policy, ("PARAMS.LEAVE.TELL", "PARAMS.LEAVE.DECIDE")) == [
        {"code": "PARAMS.LEAVE.TELL", "data": data["PARAMS.LEAVE.TELL"]},
        {"code": "PARAMS.LEAVE.DECIDE", "data": data["PARAMS.LEAVE.DECIDE"]},
    ]
