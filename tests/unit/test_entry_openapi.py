"""The OpenAPI document: current, complete, and the same in both places."""

import json
from itertools import groupby

from workflow_engine.entry.openapi import PUBLISHED, STATUS_BY_CODE, apps, document, text_of
from workflow_engine.entry.routes import DOCUMENT, METHODS, allowed_methods, match

CURRENT = document(apps())
OPERATIONS = [(path, method, operation) for path, methods in CURRENT["paths"].items() for method, operation in methods.items()]


def test_both_copies_are_what_the_code_says():
    assert PUBLISHED.read_text("utf-8") == text_of(CURRENT), "run: python -m workflow_engine.entry.openapi"
    assert DOCUMENT.read_bytes() == PUBLISHED.read_bytes()


def test_every_reference_leads_somewhere():
    text = json.dumps(CURRENT)
    names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names <= set(CURRENT["components"]["schemas"])


def test_every_operation_has_its_own_name_a_summary_and_an_answer_with_fields():
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(names)) == len(names)
    assert all(operation["summary"] for _, _, operation in OPERATIONS)
    assert all(operation["responses"]["200"]["content"]["application/json"]["schema"] for _, _, operation in OPERATIONS)


def test_every_route_says_how_it_fails():
    for path, _, operation in OPERATIONS:
        if path != "/v1/openapi.json":
            assert {"400", "403", "500", "503"} <= set(operation["responses"]), path
        assert ("413" in operation["responses"]) == ("requestBody" in operation), path
    for _, _, operation in OPERATIONS:
        for status, response in operation["responses"].items():
            if status != "200":
                assert {STATUS_BY_CODE[code] for code in response["description"].split(", ")} == {int(status)}


def test_only_the_document_itself_is_public():
    assert [path for path, _, operation in OPERATIONS if operation.get("security") == []] == ["/v1/openapi.json"]


def test_a_trigger_may_carry_its_request_id_in_a_header():
    assert [parameter["name"] for parameter in CURRENT["paths"]["/v1/trigger"]["post"]["parameters"]] == ["Idempotency-Key"]


def test_no_two_routes_could_mean_the_same_request():
    listed = sorted((route.method, route.path) for app in apps() for route in app.routes)
    assert len(set(listed)) == len(listed)
    assert {method for method, _ in listed} <= set(METHODS)
    for _, group in groupby(listed, key=lambda pair: pair[0]):
        paths = [path for _, path in group]
        assert [(one, other) for one in paths for other in paths if one != other and match(one, other.replace("{", "").replace("}", ""))] == []


def test_paths_match_whole_segments():
    assert match("/v1/instances/{guid}/why", "/v1/instances/a b/why") == {"guid": "a b"}
    assert match("/v1/instances/{guid}", "/v1/instances/") is None
    assert match("/v1/instances/{guid}", "/v1/instances/a/b") is None
    assert allowed_methods("/v1/consumers") == ("GET", "POST")
    assert allowed_methods("/v1/nothing") == ()
