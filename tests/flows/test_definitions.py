"""Reading definitions, and making a version the active one."""

from functools import partial

import pytest

from tests.support.documents import definition_l, policy_l
from tests.support.importing import soon
from workflow_engine.errors import InvalidRequestError, NotFoundError


def variant(number, **changes):
    return definition_l(version=number, events=[{"code": 10, "name": f"Submit {number}"}, *definition_l()["events"][1:]], **changes)


def activate(importing, version):
    def unit(load):
        planned = importing.importer.activate(load, importing.env_code, " LEAVE", version)
        importing.dal.write(load, planned.statements)
        return planned.activation

    return importing.dal.run(soon(), unit)


def test_definitions_are_listed_by_name_page_by_page(importing):
    names = ["alpha", "Beta", "ALPHA 2", "gamma", "Éclair"]
    for name in names:
        importing.run(definition_l(name=name))
    pages, cursor = [], None
    while True:
        page = importing.reader.list_definitions(importing.env_code, 2, cursor, soon())
        pages.append([item.name for item in page.items])
        cursor = page.cursor
        if cursor is None:
            break
    assert pages == [["alpha", "ALPHA 2"], ["Beta", "gamma"], ["Éclair"]]


def test_definitions_of_all_environments_are_listed_page_by_page(importing):
    for name in ("a", "b", "c"):
        importing.run(definition_l(name=name))
    found, cursor = [], None
    while True:
        page = importing.reader.list_definitions(None, 7, cursor, soon())
        found += [(item.env_code, item.name) for item in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert len(found) == len(set(found)) == importing.rows("SELECT COUNT(*) AS n FROM definition")[0]["n"]
    assert [name for env_code, name in found if env_code == importing.env_code] == ["a", "b", "c"]


@pytest.mark.parametrize("cursor", ["x", "e30", "WyJvdGhlciIsIDEsICJhIl0", ""])
def test_a_cursor_that_was_not_given_out_is_refused(importing, cursor):
    with pytest.raises(InvalidRequestError):
        importing.reader.list_definitions(importing.env_code, 2, cursor, soon())


def test_one_definition_is_shown_with_both_documents_as_authored(importing):
    answer = importing.run(definition_l(), policy_l())
    detail = importing.reader.get_definition(importing.env_code, " leave ", soon())
    assert detail.model_dump(mode="json") == {
        "definition_id": answer.definition.definition_id,
        "env_code": importing.env_code,
        "name": "Leave",
        "description": definition_l()["description"],
        "version": 1,
        "def_version_id": answer.definition.def_version_id,
        "hash": answer.definition.hash,
        "policy_hash": answer.policy.hash,
        "created": "2026-01-01T12:00:00.000000Z",
        "document": definition_l(),
        "policy_name": "leave.policy",
        "policy": policy_l(),
        "policy_warnings": [],
    }


def test_without_a_policy_its_fields_are_empty(importing):
    importing.run(definition_l())
    detail = importing.reader.get_definition(importing.env_code, "Leave", soon())
    assert (detail.policy_hash, detail.policy_name, detail.policy, detail.policy_warnings) == (None, None, None, [])


def test_an_unknown_definition_is_not_found(importing):
    for read in (importing.reader.get_definition, partial(importing.reader.list_versions, limit=5, cursor=None)):
        with pytest.raises(NotFoundError) as refused:
            read(importing.env_code, "Nothing", deadline=soon())
        assert refused.value.code == "DEFINITION_NOT_FOUND"


def test_versions_are_listed_newest_first_with_hash_and_active_flag(importing):
    answers = [importing.run(variant(number)) for number in range(1, 6)]
    seen, cursor = [], None
    while True:
        page = importing.reader.list_versions(importing.env_code, "leave", 2, cursor, soon())
        seen += [(item.version, item.def_version_id, item.hash, item.active) for item in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    expected = [(answer.definition.version, answer.definition.def_version_id, answer.definition.hash, answer.definition.version == 5) for answer in answers]
    assert seen == expected[::-1]


def test_activating_makes_a_version_the_one_for_new_instances_with_its_own_policy(importing):
    importing.run(variant(1), policy_l(policy_name="first"))
    importing.run(variant(2), policy_l(policy_name="second"))
    done = activate(importing, 1)
    assert (done.previous_version, done.view.version, done.view.active, done.def_name) == (2, 1, True, "Leave")
    detail = importing.reader.get_definition(importing.env_code, "Leave", soon())
    assert (detail.version, detail.policy_name, detail.policy_hash) == (1, "first", done.view.policy_hash)
    assert done.view == importing.reader.list_versions(importing.env_code, "Leave", 5, None, soon()).items[1]


@pytest.mark.scenario(117)
def test_the_policy_of_an_activated_version_is_the_newest_one_for_the_next(importing):
    importing.run(variant(1), policy_l(policy_name="first"))
    importing.run(variant(2), policy_l(policy_name="second"))
    activate(importing, 1)
    assert importing.run(variant(3)).policy.name == "first"


def test_a_version_without_policy_can_be_activated_and_activated_again(importing):
    importing.run(variant(1))
    importing.run(variant(2))
    assert activate(importing, 1).view.policy_hash is None
    assert activate(importing, 1).previous_version == 1


@pytest.mark.parametrize("name", ["Leave", "Other"])
def test_what_does_not_exist_cannot_be_activated(importing, name):
    importing.run(variant(1, name=name))
    with pytest.raises(NotFoundError) as refused:
        activate(importing, 2)
    assert refused.value.code == "DEFINITION_NOT_FOUND"
