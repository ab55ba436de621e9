"""What an import is judged by before the database is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.documents import definition_l, policy_l
from tests.support.json_values import any_json, damaged
from tests.support.reading import follow
from workflow_engine.engine.rules.import_draft import draft_import
from workflow_engine.errors import InvalidDefinitionError, InvalidPolicyError
from workflow_engine.models.imports import ImportRequest


def drafted(**fields):
    return draft_import(ImportRequest(env_code=1, **fields))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (False, [("INVALID_TYPE", "/policy")]),
        ({}, [("MISSING_KEY", "/policy")]),
        ({"for": {"definition": "\ud800"}}, [("INVALID_TEXT", "/policy/for/definition")]),
        ({"rules": 7}, [("INVALID_TYPE", "/policy/rules"), ("MISSING_KEY", "/policy")]),
    ],
)
def test_a_policy_whose_definition_cannot_be_known_is_refused_at_once(policy, expected):
    with pytest.raises(InvalidPolicyError) as refused:
        drafted(policy=policy)
    assert [(item.code, item.pointer) for item in refused.value.errors] == expected


def test_a_policy_alone_waits_for_its_definition():
    draft = drafted(policy=policy_l(rules=[{"state": "Nowhere"}]))
    assert (draft.def_key, draft.for_version, draft.policy, draft.definition) == ("leave", 1, None, None)


def test_a_request_without_documents_is_refused():
    with pytest.raises(ValidationError):
        ImportRequest(env_code=1)


@given(st.none() | any_json | damaged(definition_l()), st.none() | any_json | damaged(policy_l()))
def test_any_two_documents_are_drafted_or_refused_with_pointers_from_the_request_s_root(definition, policy):
    try:
        request = ImportRequest(env_code=1, definition=definition, policy=policy)
    except ValidationError:
        assert definition is None
        assert policy is None
        return
    refusal = None
    try:
        draft = draft_import(request)
        assert draft.def_key.encode()
    except (InvalidDefinitionError, InvalidPolicyError) as error:
        refusal = error
    for item in refusal.errors if refusal else ():
        follow({"definition": definition, "policy": policy}, item.pointer)
    assert refusal is None or refusal.errors
