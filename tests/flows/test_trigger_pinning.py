"""What an instance was made with stays with it; what comes later is for later instances. Visits and self-loops are new each time."""

from typing import Any

import pytest

from tests.support.documents import definition_l, definition_vendor, policy_l, policy_vendor
from tests.support.engine import Workbench
from tests.support.facts import Delivery, deliveries, stands, steps
from tests.support.racing import on
from tests.support.scenes import lamp, leave, policy_lamp
from workflow_engine.adapters.database import url_target
from workflow_engine.dal import Db
from workflow_engine.errors import ConnectionLostError, DeadlineExceededError, StorageError
from workflow_engine.models.trigger import LifeCycleTriggerRequest

HOUR = 3_600


def policy_with(route: str, minutes: int) -> dict[str, Any]:
    policy = policy_l()
    policy["rules"][0]["emit"][0]["route"] = route
    policy["params"][0]["data"] = {"who": route}
    return policy | {"timeouts": [{"state": "Submitted", "timeout_minutes": minutes, "timeout_event": 30}]}


@pytest.mark.scenario(27)
def test_a_later_policy_is_for_later_instances_only(bench: Workbench):
    old = bench.import_(definition_l(), policy_with("APP.OLD", 60)).policy.hash
    bench.register("c1")
    bench.trigger("Sumbit", "R-1")
    new = bench.import_(policy=policy_with("APP.NEW", 120)).policy.hash
    bench.trigger("Submit", "R-1")
    bench.trigger("Submit", "R-2")
    hooks = {body["external_ref"]: (body["route"], body["policy_hash"], body["params"][0]["data"]) for body in bench.bodies() if body["kind"] == "hook"}
    assert hooks == {"R-1": ("APP.OLD", old, {"who": "APP.OLD"}), "R-2": ("APP.NEW", new, {"who": "APP.NEW"})}
    assert (stands(bench, "R-1")["state_due_at"], stands(bench, "R-2")["state_due_at"]) == (HOUR, 2 * HOUR)
    assert bench.sql("SELECT CONVERT(i.external_ref USING utf8mb4) AS ref, p.hash FROM instance i JOIN policy p ON p.id = i.policy_id ORDER BY i.id") == [
        {"ref": "R-1", "hash": old},
        {"ref": "R-2", "hash": new},
    ]


@pytest.mark.scenario(27)
def test_an_instance_made_before_the_first_policy_never_gets_one(bench: Workbench):
    leave(bench)
    bench.trigger("Sumbit")
    bench.import_(policy=policy_l())
    bench.trigger("Submit")
    (body,) = bench.bodies()
    assert (body["policy_hash"], body["params"], bench.count("hook")) == (None, [], 0)


def shorter_definition() -> dict[str, Any]:
    """Version 2: Submit approves at once."""
    return definition_l(
        version=2,
        states=[{"name": "Draft", "is_initial": True}, {"name": "Approved", "is_final": True}],
        events=[{"code": 10, "name": "Submit"}],
        transitions=[{"from": "Draft", "event": 10, "to": "Approved"}],
    )


@pytest.mark.scenario(28)
def test_an_instance_goes_on_in_the_version_it_began_in(bench: Workbench):
    leave(bench)
    other = bench.another()
    other.trigger("Submit", "R-1")
    bench.import_(shorter_definition())
    first, second = other.trigger("Approve", "R-1"), other.trigger("Submit", "R-2")
    assert (first.def_version, first.applied, first.current_state) == (1, True, "Approved")
    assert (second.def_version, second.applied, second.current_state) == (2, True, "Approved")
    assert steps(bench, "R-1") == [(1, "Draft", 10, "Submitted"), (2, "Submitted", 20, "Approved")]
    assert steps(bench, "R-2") == [(1, "Draft", 10, "Approved")]
    other.process_all("c1")
    assert [(body["external_ref"], body["def_version"], body["from_state"]) for body in bench.bodies()] == [
        ("R-1", 1, "Draft"),
        ("R-2", 2, "Draft"),
        ("R-1", 1, "Submitted"),
    ]


@pytest.mark.scenario(12, 13)
def test_a_sandbox_that_has_everything_cached_uses_a_new_version_for_the_next_new_instance(bench: Workbench):
    leave(bench)
    warm = bench.another()
    warm.trigger("Submit", "R-1")
    bench.import_(shorter_definition())
    assert warm.trigger("Submit", "R-2").def_version == 2


@pytest.mark.scenario(33)
def test_a_self_loop_applies_like_any_other_and_emits_the_hooks_of_its_rule_again(bench: Workbench):
    definition, policy = definition_vendor(), policy_vendor()
    definition["transitions"] += [{"from": "Overdue", "event": 1011, "to": "Overdue"}]
    policy["rules"] += [{"state": "Overdue", "via": 1011, "emit": [{"event": "APP.REG.REMIND"}]}]
    bench.import_(definition, policy)
    bench.register("c1")
    answers = [bench.trigger(event, def_name="VendorRegistration") for event in (1000, 1001, 1010, 1011, 1011)]
    bench.process_all("c1")
    assert [answer.applied for answer in answers] == [True] * 5
    assert steps(bench)[2:] == [(3, "PendingPQValidation", 1010, "Overdue"), (4, "Overdue", 1011, "Overdue"), (5, "Overdue", 1011, "Overdue")]
    assert [(body["seq"], body["route"]) for body in bench.bodies() if body["kind"] == "hook"] == [
        (1, "APP.REG.CHECK.VENDOR_REGISTERED"),
        (3, "APP.REG.OVERDUE.NOTIFY"),
        (4, "APP.REG.REMIND"),
        (5, "APP.REG.REMIND"),
    ]
    guids = [guid for answer in answers for guid in (answer.ack_guid, *answer.hook_ack_guids)]
    assert len(set(guids)) == len(guids) == 9


@pytest.mark.scenario(33)
def test_a_self_loop_of_an_application_begins_a_new_stay(bench: Workbench):
    lamp(bench, policy=policy_lamp([], timeouts=[{"state": "On", "timeout_minutes": 60, "timeout_event": 2}]))
    bench.trigger("Switch on", def_name="Lamp")
    bench.clock.advance(600)
    answer = bench.trigger("Flicker", def_name="Lamp")
    found = stands(bench)
    assert (found["state"], found["state_entered_at"], found["state_due_at"]) == ("On", 600, 600 + HOUR)
    assert bench.sql("SELECT stay_id FROM instance") == [{"stay_id": answer.lifecycle_id}]


@pytest.mark.scenario(34)
def test_a_second_visit_emits_its_hooks_with_fresh_guids(bench: Workbench):
    lamp(bench, policy=policy_lamp([{"state": "On", "emit": [{"route": "APP.LIGHT"}]}]))
    answers = [bench.trigger(event, def_name="Lamp") for event in (1, 2, 1, 2)]
    bench.process_all("c1")
    assert steps(bench) == [(1, "Off", 1, "On"), (2, "On", 2, "Off"), (3, "Off", 1, "On"), (4, "On", 2, "Off")]
    assert bench.sent() == [
        ("c1", 1, "transition", 1),
        ("c1", 1, "hook", 1),
        ("c1", 2, "transition", 1),
        ("c1", 3, "transition", 1),
        ("c1", 3, "hook", 1),
        ("c1", 4, "transition", 1),
    ]
    assert [len(answer.hook_ack_guids) for answer in answers] == [1, 0, 1, 0]
    guids = [guid for answer in answers for guid in (answer.ack_guid, *answer.hook_ack_guids)]
    assert len(set(guids)) == 6
    processed = Delivery(status="PROCESSED", due=None, delivered=0, processed=0)
    assert {(row.status, row.due) for row in deliveries(bench)} == {(processed.status, processed.due)}


class FailingDb(Db):
    """Fails, when told to, in the read that has the given text."""

    text = ""
    error: Exception | None = None

    def send(self, load: Any, packet: Any) -> list[Any]:
        if self.error is not None and any(self.text in part.sql for part in packet):
            raise self.error
        return super().send(load, packet)


@pytest.mark.scenario(94)
@pytest.mark.parametrize("text", ["FROM definition d JOIN environment", "FROM state ", "FROM policy "], ids=["definition", "blueprint", "policy"])
@pytest.mark.parametrize(
    "error", [ConnectionLostError("cut"), DeadlineExceededError("cancelled"), RuntimeError("anything")], ids=lambda error: type(error).__name__
)
def test_what_could_not_be_loaded_is_loaded_by_the_next_caller(bench: Workbench, error: Exception, text: str):
    leave(bench, policy=policy_l())
    db = FailingDb(url_target(bench.database_url))
    sandbox = on(bench, db)
    db.text, db.error = text, error
    with pytest.raises(type(error)):
        sandbox.trigger("Submit")
    assert (bench.count("instance"), bench.sent()) == (0, [])
    db.error = None
    assert len(sandbox.trigger("Submit").hook_ack_guids) == 1


@pytest.mark.scenario(94)
def test_a_caller_without_time_left_spoils_nothing_for_the_next(bench: Workbench):
    leave(bench)
    sandbox = bench.another()
    with pytest.raises(StorageError):
        sandbox.engine.trigger(LifeCycleTriggerRequest(env_code=1, def_name="Leave", external_ref="R-1", event="Submit"), sandbox.deadline(seconds=0))
    assert sandbox.trigger("Submit").applied
