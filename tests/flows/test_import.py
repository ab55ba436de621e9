"""Importing definitions: versions, content, refusals, dry runs."""

import json

import pytest

from tests.support.documents import definition_l, definition_large, definition_vendor, policy_l, policy_large, policy_vendor
from tests.support.importing import new_env_code, soon
from workflow_engine.errors import ConflictError, InvalidDefinitionError, InvalidPolicyError, NotFoundError


def changed_l(**changes):
    definition = definition_l(**changes)
    definition["transitions"].append({"from": "Review", "event": 40, "to": "Submitted"})
    return definition


@pytest.mark.scenario(1)
def test_the_same_document_twice_is_one_version_and_one_set_of_rows(importing):
    first = importing.run(definition_l())
    rows = importing.counts()
    second = importing.run(definition_l())
    assert first.definition.model_dump() == {
        "definition_id": first.definition.definition_id,
        "def_version_id": first.definition.def_version_id,
        "name": "Leave",
        "version": 1,
        "hash": first.definition.hash,
        "result": "created",
    }
    assert second.definition == first.definition.model_copy(update={"result": "unchanged"})
    assert importing.counts() == rows
    assert rows == {"environment": 1, "definition": 1, "def_version": 1, "state": 5, "events": 4, "transition": 6, "policy": 0, "def_policy": 0, "timeouts": 1}
    assert (first.policy, first.warnings, first.dry_run) == (None, [], False)


@pytest.mark.scenario(2)
def test_key_order_white_space_and_description_make_no_new_version(importing):
    first = importing.run(definition_l())
    again = json.loads(json.dumps(dict(reversed(definition_l(description="Other words").items())), indent=4))
    second = importing.run(again)
    assert (second.definition.def_version_id, second.definition.result) == (first.definition.def_version_id, "unchanged")
    assert importing.reader.get_definition(importing.env_code, "leave", soon()).description == "Other words"


@pytest.mark.scenario(3)
def test_a_changed_transition_is_the_next_version_and_the_old_one_stays(importing):
    first = importing.run(definition_l())
    second = importing.run(changed_l(version=None))
    assert (second.definition.version, second.definition.result) == (2, "created")
    load = importing.dal.reading(soon())
    old = importing.blueprints.get_blueprint_by_version_id(load, first.definition.def_version_id)
    new = importing.blueprints.get_blueprint_by_version_id(load, second.definition.def_version_id)
    assert (len(old.edges), old.version, len(new.edges), new.version) == (6, 1, 7, 2)
    assert importing.run(definition_l()).definition.def_version_id == first.definition.def_version_id


@pytest.mark.scenario(4)
@pytest.mark.parametrize("version", [1, 2])
def test_new_content_under_a_version_that_is_taken_or_passed_is_refused(importing, version):
    importing.run(definition_l())
    importing.run(definition_l(version=3, events=[{"code": 10, "name": "Send"}, *definition_l()["events"][1:]]))
    rows = importing.counts()
    with pytest.raises(ConflictError) as refused:
        importing.run(changed_l(version=version))
    assert refused.value.code == "VERSION_CONFLICT"
    assert importing.counts() == rows


def test_a_higher_version_is_taken_as_given_and_becomes_the_active_one(importing):
    importing.run(definition_l())
    second = importing.run(changed_l(version=7))
    assert (second.definition.version, second.definition.result) == (7, "created")
    third = importing.run(definition_l(version=None, events=[{"code": 10, "name": "Send"}, *definition_l()["events"][1:]]))
    assert third.definition.version == 8
    assert importing.blueprints.get_blueprint_latest(importing.dal.reading(soon()), importing.env_code, "LEAVE").version == 8


def test_known_content_under_a_version_of_other_content_is_refused(importing):
    importing.run(definition_l())
    importing.run(changed_l(version=2))
    with pytest.raises(ConflictError):
        importing.run(changed_l(version=1))


def test_known_content_under_a_free_version_stays_what_it_is_and_says_so(importing):
    first = importing.run(definition_l())
    second = importing.run(definition_l(version=9))
    assert (second.definition.def_version_id, second.definition.version) == (first.definition.def_version_id, 1)
    assert [(found.code, found.pointer) for found in second.warnings] == [("VERSION_IGNORED", "/definition")]


def test_an_older_version_imported_again_is_not_made_active_and_the_answer_says_so(importing):
    importing.run(definition_l())
    importing.run(changed_l(version=2))
    again = importing.run(definition_l())
    assert (again.definition.version, again.definition.result) == (1, "unchanged")
    assert [found.code for found in again.warnings] == ["VERSION_NOT_ACTIVE"]
    assert importing.reader.get_definition(importing.env_code, "Leave", soon()).version == 2


@pytest.mark.scenario(5)
def test_a_transition_to_an_unknown_state_leaves_nothing_behind(importing):
    definition = definition_l()
    definition["transitions"][3]["to"] = "Nowhere"
    with pytest.raises(InvalidDefinitionError) as refused:
        importing.run(definition, policy_l())
    assert [(item.code, item.pointer) for item in refused.value.errors] == [("UNKNOWN_STATE", "/definition/transitions/3/to")]
    assert set(importing.counts().values()) == {0}


@pytest.mark.scenario(6)
def test_everything_wrong_in_both_documents_is_told_at_once(importing):
    definition = definition_l(states=[{**state, "is_initial": True} for state in definition_l()["states"][:2]] + definition_l()["states"][2:])
    policy = policy_l(timeouts=[{"state": "Review", "timeout": "soon"}])
    with pytest.raises(InvalidDefinitionError) as refused:
        importing.run(definition, policy)
    assert [(item.code, item.pointer) for item in refused.value.errors] == [
        ("MULTIPLE_INITIAL_STATES", "/definition/states/1/is_initial"),
        ("INVALID_DURATION", "/policy/timeouts/0/timeout"),
    ]
    assert set(importing.counts().values()) == {0}


@pytest.mark.scenario(11)
def test_an_import_in_one_environment_is_invisible_in_another(importing):
    importing.run(definition_l(), policy_l())
    other = new_env_code()
    load = importing.dal.reading(soon())
    with pytest.raises(NotFoundError):
        importing.blueprints.get_blueprint_latest(load, other, "Leave")
    with pytest.raises(NotFoundError) as refused:
        importing.run(None, policy_l(), env_code=other)
    assert refused.value.code == "DEFINITION_NOT_FOUND"
    assert importing.rows(f"SELECT id FROM environment WHERE code = {other}") == []
    assert importing.reader.list_definitions(other, 50, None, soon()).items == []
    second = importing.run(changed_l(), env_code=other)
    assert (second.definition.version, second.policy) == (1, None)


@pytest.mark.scenario(12, 13)
def test_a_new_version_is_seen_by_every_warm_sandbox_at_once(importing, another_importing):
    elsewhere = another_importing()
    importing.run(definition_l())
    seen = [elsewhere.blueprints.get_blueprint_latest(elsewhere.dal.reading(soon()), importing.env_code, "leave").version]
    importing.run(changed_l(version=2))
    seen.append(elsewhere.blueprints.get_blueprint_latest(elsewhere.dal.reading(soon()), importing.env_code, "leave").version)
    elsewhere.blueprints.invalidate()
    seen.append(elsewhere.blueprints.get_blueprint_latest(elsewhere.dal.reading(soon()), importing.env_code, "leave").version)
    assert seen == [1, 2, 2]


def test_a_dry_run_says_what_would_happen_and_writes_nothing(importing):
    before = importing.rows("SELECT next_id FROM id_block")
    answer = importing.run(definition_l(), policy_l(), dry_run=True)
    assert answer.dry_run
    assert (answer.definition.definition_id, answer.definition.def_version_id, answer.definition.version, answer.definition.result) == (
        None,
        None,
        1,
        "created",
    )
    assert (answer.policy.policy_id, answer.policy.result) == (None, "created")
    assert set(importing.counts().values()) == {0}
    assert importing.rows("SELECT next_id FROM id_block") == before
    real = importing.run(definition_l(), policy_l())
    again = importing.run(definition_l(), policy_l(), dry_run=True)
    assert (again.definition.def_version_id, again.definition.result) == (real.definition.def_version_id, "unchanged")
    assert (again.policy.policy_id, again.policy.result) == (real.policy.policy_id, "unchanged")


@pytest.mark.parametrize(("definition", "policy"), [(definition_vendor(), policy_vendor()), (definition_large(), policy_large())], ids=["vendor", "large"])
def test_the_stored_rows_say_what_the_document_says(importing, definition, policy):
    answer = importing.run(definition, policy)
    assert answer.warnings == []
    load = importing.dal.reading(soon())
    blueprint = importing.blueprints.get_blueprint_by_version_id(load, answer.definition.def_version_id)
    assert [state.name for state in blueprint.states.values()] == [state["name"] for state in definition["states"]]
    names = {state.state_id: state.name for state in blueprint.states.values()}
    edges = [(names[edge.from_state_id], blueprint.events[edge.event_id].code, names[edge.to_state_id]) for edge in blueprint.edges.values()]
    assert edges == [(edge["from"], edge["event"], edge["to"]) for edge in definition["transitions"]]
    stored = importing.rows(f"SELECT document FROM def_version WHERE id = {answer.definition.def_version_id}")[0]["document"]
    assert json.dumps(json.loads(stored)) == json.dumps(definition)
    assert blueprint.initial_state.name == definition["states"][0]["name"]


def test_names_of_any_script_are_stored_and_found(importing):
    name, state = "Łódź ẞ 🚀 " * 10, "Straße"
    definition = {
        "name": name,
        "states": [{"name": state, "is_initial": True, "category": "ΣΊΣΥΦΟΣ"}, {"name": "ẞ" * 120, "is_final": True, "category": "σίσυφος"}],
        "transitions": [{"from": "STRASSE", "event": 1, "event_name": "ﬁn", "to": "ß" * 120}],
    }
    answer = importing.run(definition)
    assert answer.definition.name == name.strip()
    load = importing.dal.reading(soon())
    blueprint = importing.blueprints.get_blueprint_latest(load, importing.env_code, f"  {name.upper()} ")
    assert blueprint.event_of("FIN") is not None
    assert importing.run(definition).definition.result == "unchanged"


def test_an_environment_is_made_with_its_name_and_renamed_by_a_later_import(importing):
    importing.run(definition_l(), env_name="Test")
    importing.run(definition_l())
    assert importing.rows(f"SELECT name FROM environment WHERE code = {importing.env_code}") == [{"name": "Test"}]
    importing.run(definition_l(), env_name=" Staging ")
    assert importing.rows(f"SELECT name FROM environment WHERE code = {importing.env_code}") == [{"name": "Staging"}]


def test_the_largest_definition_that_is_allowed_is_imported(importing):
    states = [{"name": f"S{number}", "is_initial": number == 0, "is_final": number == 999, "category": f"C{number}"} for number in range(1000)]
    transitions = [{"from": f"S{number}", "event": event, "to": f"S{number + 1}"} for number in range(999) for event in range(5)]
    answer = importing.run({"name": "Largest", "states": states, "transitions": transitions})
    assert answer.definition.result == "created"
    assert (importing.count("state"), importing.count("transition"), importing.count("events")) == (1000, 4995, 5)


def test_only_a_policy_that_says_for_what_it_is_can_come_alone(importing):
    importing.run(definition_l())
    with pytest.raises(InvalidPolicyError) as refused:
        importing.run(None, {"rules": [{"via": 1}]})
    assert [(item.code, item.pointer) for item in refused.value.errors] == [("MISSING_KEY", "/policy/rules/0"), ("MISSING_KEY", "/policy")]


def test_an_import_takes_two_round_trips_whether_or_not_it_writes(importing):
    importing.run(definition_l(name="Warm"))
    trips = []
    for definition in (definition_l(), definition_l(), changed_l(version=2)):
        before = importing.dal.round_trips
        importing.run(definition, policy_l())
        trips.append(importing.dal.round_trips - before)
    assert trips == [2, 2, 2]
