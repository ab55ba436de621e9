"""The API reference is what the generator writes, and its examples are what the handlers answer."""

import json
import re

import pytest

from local.pages.api_reference import EXAMPLES, PAGE, page_text, policies_of, scopes_of
from tests.docs.pages import page, rows
from tests.functions.conftest import read_event

OPENAPI = json.loads(page("docs/openapi.json"))
ROUTES = [f"{method.upper()} {path}" for path, methods in OPENAPI["paths"].items() for method in methods]
# The event that shows a route, and the events that must have come before it.
SHOWN = {
    "POST /v1/ack": ("ack/processed",),
    "GET /v1/acks/{ack_guid}": ("query/ack",),
    "GET /v1/consumers": ("query/consumers",),
    "POST /v1/consumers": ("heartbeat/register_queue",),
    "DELETE /v1/consumers/{consumer}": ("heartbeat/delete",),
    "POST /v1/consumers/{consumer}/owner": ("admin/owner",),
    "GET /v1/definitions": ("query/definitions",),
    "GET /v1/definitions/{name}": ("query/definition",),
    "POST /v1/definitions/{name}/activate": ("admin/activate",),
    "GET /v1/definitions/{name}/versions": ("query/definition_versions",),
    "GET /v1/health": ("query/health",),
    "POST /v1/heartbeat": ("heartbeat/beat",),
    "POST /v1/import": ("import/definition_and_policy",),
    "GET /v1/instances": ("query/instances",),
    "GET /v1/instances/{guid}": ("query/instance",),
    "POST /v1/instances/{guid}/fail": ("admin/fail",),
    "POST /v1/instances/{guid}/resume": ("admin/suspend", "admin/resume"),
    "POST /v1/instances/{guid}/suspend": ("admin/suspend",),
    "GET /v1/instances/{guid}/timeline": ("query/timeline",),
    "GET /v1/instances/{guid}/why": ("query/why",),
    "GET /v1/notices": ("trigger/refused_transition", "query/notices"),
    "GET /v1/openapi.json": ("query/openapi",),
    "PUT /v1/runtime": ("runtime/upsert",),
    "POST /v1/runtime/{id}/freeze": ("runtime/freeze",),
    "POST /v1/runtime/{id}/status": ("runtime/status",),
    "POST /v1/runtime/{id}/unfreeze": ("runtime/unfreeze",),
    "POST /v1/trigger": ("trigger/submit",),
}
_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMED = ("0e6f5a52-7f0b-4f0e-9d5f-5d0c2b6f7a11", "9b2f1c34-2a61-4c3e-8a57-0d4f6e1b2c33")
_PLAIN_KEY = "whsec_bm90IGEga2V5LCBvbmx5IGFuIGV4YW1wbGUgb2Ygb25l"


def test_the_page_is_what_the_generator_writes():
    assert page_text() == PAGE.read_text("utf-8"), "run: make openapi"


def test_every_route_has_its_section_and_its_example():
    assert re.findall(r"^## `(.+)`$", page("docs/api_reference.md"), re.MULTILINE) == ROUTES
    assert sorted(json.loads(EXAMPLES.read_text("utf-8"))) == sorted(SHOWN) == sorted(ROUTES)


def test_every_field_of_every_model_is_on_the_page():
    names = {name for schema in OPENAPI["components"]["schemas"].values() for name in schema.get("properties", {})}
    # What a problem looks like is said once, on the page about all routes.
    own = names - set(OPENAPI["components"]["schemas"]["Problem"]["properties"])
    assert sorted(name for name in own if not re.search(rf"^\| `(?:[\w.\[\]]+\.)?{name}` \|", page("docs/api_reference.md"), re.MULTILINE)) == []


def test_every_parameter_and_field_is_explained():
    assert re.findall(r"^\| `.*\|\s*\|$", page("docs/api_reference.md"), re.MULTILINE) == []


def test_scopes_and_policies_are_those_of_the_template():
    scopes = scopes_of(page("template.yaml"))
    assert {route: scope for route, scope in scopes.items() if route in ROUTES} == {route: _scope_on_the_prose_page(route) for route in ROUTES}
    assert [name for name, _ in policies_of(page("template.yaml"))] == [
        "ApplicationPolicy",
        "ImporterPolicy",
        "ConsumerPolicy",
        "ReaderPolicy",
        "OperatorPolicy",
    ]


@pytest.mark.parametrize("route", ROUTES)
def test_the_example_of_a_route_is_what_its_handler_answers(vendors, route, tmp_path):
    committed = json.loads(EXAMPLES.read_text("utf-8")).get(route) if EXAMPLES.exists() else None
    recorded = _record(vendors, SHOWN[route])
    note = tmp_path / "example.json"
    note.write_text(json.dumps({route: recorded}, ensure_ascii=False, indent=1), "utf-8")
    assert recorded == committed, f"if this is meant, take {note} into docs/api_examples.json and run: make openapi"


def _record(stack, cases):
    for case in cases:
        answer = stack.http(case.partition("/")[0], read_event(*case.split("/")))
        assert answer.status == 200, answer.text
    body = answer.body
    if "openapi" in body:
        body = {name: body[name] for name in ("openapi", "info", "security")}
    return {"event": f"events/{cases[-1]}.json", "answer": _plain(body, {})}


def _plain(value, known):
    """The answer with what differs from run to run made plain: ids, guids, keys and the hour of the test."""
    if isinstance(value, dict):
        return {name: _plain_id(name, one, known) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, known) for one in value]
    if isinstance(value, str) and value.startswith("whsec_"):
        return _PLAIN_KEY
    return _GUID.sub(lambda found: _plain_guid(found[0], known), value) if isinstance(value, str) else value


def _plain_id(name, value, known):
    if isinstance(value, int) and not isinstance(value, bool) and (name.endswith("_id") or name == "id") and name != "runtime_id":
        return known.setdefault((name, value), 11 + len([key for key in known if isinstance(key, tuple)]))
    return _plain(value, known)


def _plain_guid(guid, known):
    return guid if guid in _NAMED else known.setdefault(guid, f"{len([key for key in known if isinstance(key, str)]) + 1:08d}-0000-4000-8000-000000000000")


def _scope_on_the_prose_page(route):
    (cells,) = rows("docs/api.md", route)
    return None if cells[2] == "none" else cells[2].strip("`")
