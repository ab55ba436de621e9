"""Definition documents: the shapes that are accepted, and what is found in them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.documents import definition_l, definition_large, definition_vendor
from tests.support.json_values import any_json, damaged
from tests.support.reading import follow, read_definition, told
from workflow_engine.engine.rules.canonical import author_json
from workflow_engine.engine.rules.definition_document import definition_hash, load_definition
from workflow_engine.models.definition import DefinitionEvent, DefinitionState, DefinitionTransition
from workflow_engine.models.policy import TimeoutRule


def hash_of(value: Any) -> str:
    document, findings = read_definition(value)
    assert document is not None, findings
    return definition_hash(document)


def edge(source: str, event: int | str, target: str, **more: Any) -> dict[str, Any]:
    return {"from": source, "event": event, "to": target} | more


def small(**changes: Any) -> dict[str, Any]:
    """A -1-> B."""
    states = [{"name": "A", "is_initial": True}, {"name": "B", "is_final": True}]
    return {"name": "Small", "states": states, "transitions": [edge("A", 1, "B")]} | changes


def test_the_flat_form_is_read_completely():
    document, findings = read_definition(definition_l())
    assert findings == []
    assert document is not None
    assert (document.name, document.key, document.version) == ("Leave", "leave", 1)
    assert document.states[0] == DefinitionState(name="Draft", key="draft", is_initial=True, is_final=False, category="Intake")
    assert document.events[3] == DefinitionEvent(code=40, name="40", key="40")
    assert document.transitions[3] == DefinitionTransition(from_key="submitted", to_key="review", event_code=40)
    assert document.timeouts == (TimeoutRule(state_key="review", state_name="Review", duration_minutes=60, is_repeat=False, event_code=30, max_retry=None),)


def test_the_wrapper_form_means_the_same():
    flat = definition_l()
    wrapper = {"definition": {key: flat.pop(key) for key in ("name", "version", "description")}} | flat
    assert read_definition(wrapper) == read_definition(definition_l())


@pytest.mark.parametrize("definition", [definition_vendor(), definition_large()], ids=["vendor", "large"])
def test_sample_definitions_have_nothing_to_complain_of(definition):
    document, findings = read_definition(definition)
    assert findings == []
    assert document is not None
    assert load_definition(author_json(definition)) == document


def test_events_are_named_by_code_by_digits_or_by_name():
    def variant(event: int | str) -> dict[str, Any]:
        return small(events=[{"code": 1, "name": "Go"}], transitions=[edge("A", event, "B")])

    assert {hash_of(variant(event)) for event in (1, "1", "go", " GO ")} == {hash_of(variant(1))}


def test_without_events_a_code_defines_the_event_and_its_name_is_the_code():
    document, findings = read_definition(small())
    assert findings == []
    assert document is not None
    assert document.events == (DefinitionEvent(code=1, name="1", key="1"),)


@pytest.mark.parametrize("alias", ["event_name", "eventName"])
def test_without_events_a_transition_names_its_event(alias):
    states = [{"name": "A", "is_initial": True}, {"name": "B"}, {"name": "C", "is_final": True}]
    document, findings = read_definition(
        small(states=states, transitions=[edge("A", 1, "B"), edge("B", 1, "C", **{alias: "Go"}), {"from": "A", "to": "C", alias: "End", "event": 2}])
    )
    assert findings == []
    assert document is not None
    assert [(event.code, event.name) for event in document.events] == [(1, "Go"), (2, "End")]


def test_a_transition_may_name_an_event_that_another_one_gave_a_code():
    states = [{"name": "A", "is_initial": True}, {"name": "B"}, {"name": "C", "is_final": True}]
    document, findings = read_definition(small(states=states, transitions=[edge("A", 1, "B", event_name="Go"), edge("B", "go", "C")]))
    assert findings == []
    assert document is not None
    assert document.transitions[1].event_code == 1


@pytest.mark.scenario(2)
def test_key_order_description_version_spelling_and_order_of_arrays_are_not_content():
    shuffled = definition_l(description="other words", version=9)
    shuffled["states"] = [dict(reversed(state.items())) for state in reversed(shuffled["states"])]
    shuffled["transitions"] = [edge(item["from"].upper(), str(item["event"]), f" {item['to']} ") for item in reversed(shuffled["transitions"])]
    assert hash_of(dict(reversed(shuffled.items()))) == hash_of(definition_l())


@pytest.mark.scenario(3)
@pytest.mark.parametrize(
    "change",
    [
        {"transitions": [*definition_l()["transitions"], edge("Review", 40, "Review")]},
        {"events": [{"code": 10, "name": "Send"}, *definition_l()["events"][1:]]},
        {"states": [{**definition_l()["states"][0], "category": "Elsewhere"}, *definition_l()["states"][1:]]},
        {
            "states": [
                *definition_l()["states"][:2],
                {"name": "Review", "category": "Decision", "timeout_minutes": 61, "timeout_event": 30},
                *definition_l()["states"][3:],
            ]
        },
    ],
    ids=["transition", "event name", "category", "timeout"],
)
def test_a_change_of_content_changes_the_hash(change):
    assert hash_of(definition_l(**change)) != hash_of(definition_l())


GOOD_STATES = [{"name": "A", "is_initial": True}, {"name": "B", "is_final": True}]


@pytest.mark.scenario(5, 6)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"states": [{"name": "A"}, {"name": "B", "is_final": True}]}, [("NO_INITIAL_STATE", "/definition/states")]),
        (
            {"states": [GOOD_STATES[0], {"name": "B", "is_final": True, "is_initial": True}]},
            [("MULTIPLE_INITIAL_STATES", "/definition/states/1/is_initial")],
        ),
        ({"transitions": [edge("A", 1, "Nowhere")]}, [("UNKNOWN_STATE", "/definition/transitions/0/to"), ("UNREACHABLE_STATE", "/definition/states/1")]),
        ({"transitions": [edge("A", 1, "B"), edge("Nowhere", 1, "B")]}, [("UNKNOWN_STATE", "/definition/transitions/1/from")]),
        ({"events": [{"code": 2}], "transitions": [edge("A", 1, "B")]}, [("UNKNOWN_EVENT", "/definition/transitions/0/event")]),
        ({"transitions": [edge("A", "Go", "B")]}, [("UNKNOWN_EVENT", "/definition/transitions/0/event")]),
        ({"transitions": [edge("A", 1, "B"), edge("a ", "1", "A")]}, [("DUPLICATE_TRANSITION", "/definition/transitions/1")]),
        ({"transitions": [edge("A", 1, "B"), edge("B", 1, "A")]}, [("FINAL_STATE_HAS_EXIT", "/definition/states/1/is_final")]),
        ({"states": [*GOOD_STATES, {"name": "C"}], "transitions": [edge("A", 1, "B"), edge("A", 2, "C")]}, [("STUCK_STATE", "/definition/states/2")]),
        (
            {"states": [*GOOD_STATES, {"name": "C"}], "transitions": [edge("A", 1, "B"), edge("A", 2, "C"), edge("C", 1, "C")]},
            [("SELF_LOOP_ONLY", "/definition/states/2")],
        ),
        ({"states": [*GOOD_STATES, {"name": " b"}]}, [("DUPLICATE_STATE", "/definition/states/2/name")]),
        ({"events": [{"code": 1, "name": "x"}, {"code": 1}]}, [("DUPLICATE_EVENT", "/definition/events/1")]),
        ({"events": [{"code": 1, "name": "x"}, {"code": 2, "name": "X"}]}, [("DUPLICATE_EVENT", "/definition/events/1/name")]),
        ({"events": [{"code": 1, "name": "2"}]}, [("INVALID_VALUE", "/definition/events/0/name")]),
        (
            {"transitions": [edge("A", 1, "B", event_name="x"), edge("A", 1, "A", event_name="y")]},
            [("CONFLICTING_EVENT_NAME", "/definition/transitions/1/event_name"), ("DUPLICATE_TRANSITION", "/definition/transitions/1")],
        ),
        ({"transitions": [edge("A", 1, "B", event_name="x", eventName="y")]}, [("CONFLICTING_KEYS", "/definition/transitions/0/eventName")]),
        ({"transitions": [edge("A", -1, "B")]}, [("INVALID_VALUE", "/definition/transitions/0/event")]),
        ({"transitions": [edge("A", 2**31, "B")]}, [("INVALID_VALUE", "/definition/transitions/0/event")]),
        ({"transitions": [{"from": "A", "to": "B"}]}, [("MISSING_KEY", "/definition/transitions/0")]),
        ({"name": " "}, [("INVALID_VALUE", "/definition/name")]),
        ({"name": "x" * 121}, [("INVALID_VALUE", "/definition/name")]),
        ({"name": None}, [("MISSING_KEY", "/definition")]),
        ({"version": 0}, [("INVALID_VALUE", "/definition/version")]),
        ({"version": True}, [("INVALID_TYPE", "/definition/version")]),
        (
            {"states": [{"name": f"S{number}", "is_initial": number == 0} for number in range(1001)]},
            [("TOO_MANY", "/definition/states"), ("NO_INITIAL_STATE", "/definition/states")],
        ),
        (
            {"transitions": [edge("A", number, "B") for number in range(5001)]},
            [("TOO_MANY", "/definition/transitions"), ("STUCK_STATE", "/definition/states/0"), ("UNREACHABLE_STATE", "/definition/states/1")],
        ),
        ({"transitions": [edge("A", number, "B") for number in range(1001)]}, [("TOO_MANY", "/definition")]),
        ({"description": "\ud800"}, [("INVALID_TEXT", "/definition/description")]),
    ],
)
def test_a_wrong_definition_is_refused_with_code_and_place(change, expected):
    document, findings = read_definition(small(**change))
    assert document is None
    assert told(findings) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"timeout": "P2D", "timeout_minutes": 2880, "timeout_event": "1"}, []),
        ({"timeout": "P2D", "timeout_minutes": 2881}, [("CONFLICTING_KEYS", "/definition/states/0/timeout_minutes")]),
        ({"timeout": "soon"}, [("INVALID_DURATION", "/definition/states/0/timeout")]),
        ({"timeout_minutes": "60"}, [("INVALID_DURATION", "/definition/states/0/timeout_minutes")]),
        ({"timeout_event": 1}, [("INVALID_DURATION", "/definition/states/0")]),
        ({"timeout": "P1D", "timeout_event": 7}, [("UNKNOWN_EVENT", "/definition/states/0/timeout_event")]),
        ({"timeout": "P1D", "timeout_event": 2}, [("TIMEOUT_EVENT_NOT_LEGAL", "/definition/states/0/timeout_event")]),
        ({"timeout": "P1D", "timeout_mode": "daily"}, [("INVALID_VALUE", "/definition/states/0/timeout_mode")]),
        ({"timeout": "P1D", "timeout_mode": "Repeat", "max_retry": 3}, []),
        ({"timeout": "P1D", "timeout_mode": 1, "timeout_max_retry": 3}, []),
        ({"timeout": "P1D", "max_retry": 3}, [("MAX_RETRY_WITHOUT_REPEAT", "/definition/states/0")]),
        ({"timeout": "P1D", "timeout_mode": "repeat", "max_retry": 0}, [("INVALID_VALUE", "/definition/states/0/max_retry")]),
    ],
)
def test_timeout_keys_of_a_state_are_checked(keys, expected):
    states = [{"name": "A", "is_initial": True} | keys, {"name": "B"}, {"name": "C", "is_final": True}]
    _, findings = read_definition(small(states=states, transitions=[edge("A", 1, "B"), edge("B", 2, "C")]))
    assert told(findings) == expected


def test_repeat_and_max_retry_become_part_of_the_timeout():
    states = [
        {"name": "A", "is_initial": True, "timeout": "PT90S", "timeout_mode": "repeat", "timeout_event": 1, "max_retry": 4},
        {"name": "B", "is_final": True},
    ]
    document, _ = read_definition(small(states=states))
    assert document is not None
    assert document.timeouts == (TimeoutRule(state_key="a", state_name="A", duration_minutes=2, is_repeat=True, event_code=1, max_retry=4),)


def test_everything_is_found_at_once():
    value = small(version="x", states=[{"name": "A"}, {"nome": "B"}, 7], transitions=[edge("A", 1, "Z"), {"from": 3}], colour="red")
    document, findings = read_definition(value)
    assert document is None
    assert told(findings) == [
        ("INVALID_TYPE", "/definition/version"),
        ("MISSING_KEY", "/definition/states/1"),
        ("INVALID_TYPE", "/definition/states/2"),
        ("UNKNOWN_STATE", "/definition/transitions/0/to"),
        ("INVALID_TYPE", "/definition/transitions/1/from"),
        ("MISSING_KEY", "/definition/transitions/1"),
        ("MISSING_KEY", "/definition/transitions/1"),
        ("NO_INITIAL_STATE", "/definition/states"),
        ("UNKNOWN_KEY", "/definition/states/1/nome"),
        ("UNKNOWN_KEY", "/definition/colour"),
    ]


def test_unknown_keys_and_unreachable_states_are_warnings():
    states = [*GOOD_STATES, {"name": "C", "ui/colour": "red"}]
    document, findings = read_definition(small(states=states, transitions=[edge("A", 1, "B"), edge("C", 1, "B")]))
    assert document is not None
    assert told(findings) == [("UNKNOWN_KEY", "/definition/states/2/ui~1colour"), ("UNREACHABLE_STATE", "/definition/states/2")]


def test_a_key_inside_and_outside_the_wrapper_contradicts_itself():
    _, findings = read_definition(small(definition={"name": "Other"}))
    assert told(findings) == [("CONFLICTING_KEYS", "/definition/name")]


def test_nesting_has_a_limit_and_deep_nesting_harms_nothing():
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    document, findings = read_definition(small(extra=deep))
    assert document is None
    assert [finding.code for finding in findings] == ["TOO_DEEP"]
    assert findings[0].pointer.count("/") == 65
    while deep:
        deep = deep.pop()


def test_a_thousand_findings_are_enough():
    _, findings = read_definition(small(transitions=[{} for _ in range(2000)]))
    errors = [finding for finding in findings if finding.is_error]
    assert len(errors) == 1001
    assert told(errors[-1:]) == [("MORE_FINDINGS", "")]


@given(any_json | damaged(definition_l()) | damaged(definition_vendor()))
def test_any_json_is_answered_with_findings_whose_pointers_lead_somewhere(value):
    document, findings = read_definition(value)
    assert (document is None) == any(finding.is_error for finding in findings)
    for finding in findings:
        follow({"definition": value}, finding.pointer)
        assert finding.message.encode()


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.integers(1, 3), st.sampled_from("ABCD")), max_size=8), st.sets(st.sampled_from("ABCD")))
def test_an_accepted_machine_is_sound(edges, finals):
    states = [{"name": name, "is_initial": name == "A", "is_final": name in finals} for name in "ABCD"]
    document, _ = read_definition(small(states=states, transitions=[edge(*item) for item in edges]))
    targets: dict[str, set[str]] = {name: {target for source, _, target in edges if source == name} for name in "ABCD"}
    is_sound = all(not targets[name] if name in finals else targets[name] - {name} for name in "ABCD")
    is_sound = is_sound and len({(source, event) for source, event, _ in edges}) == len(edges)
    assert (document is not None) == is_sound
