"""The JSON reference has the fields that the importer asks for, and every example raises the code that it stands under."""

import json
import re

import pytest

from tests.docs.pages import blocks, page
from tests.unit.test_finding_codes import codes_in_source
from workflow_engine.engine.rules import document_limits
from workflow_engine.engine.rules.durations import MAX_MINUTES
from workflow_engine.engine.rules.import_draft import draft_import
from workflow_engine.engine.rules.object_reader import ObjectReader
from workflow_engine.errors import WorkFlowError
from workflow_engine.models.imports import ImportRequest

NAME = "docs/json_reference.md"
BLOCKS = [block for block in blocks(NAME) if block.language in {"json", "python"}]
SHAPES = [block for block in BLOCKS if "`" not in block.heading]
FINDINGS = re.findall(r"^### `(\w+)`\n\n\*\*(Error|Warning|Error or warning)\.\*\* .*?(?: Here at `(.*)`\.)?$", page(NAME), re.MULTILINE)
REFUSALS = re.findall(r"^### `(\w+)`\n\n[^*]", page(NAME), re.MULTILINE)
# A document is opened as a whole before its keys are asked for.
WRAPPER = "definition"


def test_the_tables_have_the_fields_that_the_importer_asks_for(monkeypatch):
    asked = set()
    take = ObjectReader.take

    def noted(self, key):
        asked.add(_field(self.path, key))
        return take(self, key)

    monkeypatch.setattr(ObjectReader, "take", noted)
    for block in SHAPES:
        draft_import(_request(block))
    listed = re.findall(r"^\| `([^`]+)` \|", page(NAME).partition("## Definition")[2].partition("## Findings")[0], re.MULTILINE)
    assert sorted(asked | {WRAPPER}) == sorted(listed)


def test_every_field_stands_in_an_example():
    shown = {key for block in SHAPES for key in re.findall(r'"(\w+)":', block.text)} | {"timeout_max_retry"}
    listed = re.findall(r"^\| `([^`]+)` \|", page(NAME).partition("## Definition")[2].partition("## Findings")[0], re.MULTILINE)
    assert sorted({name.rpartition(".")[2] for name in listed} - shown) == []


@pytest.mark.parametrize(
    ("field", "limit"),
    [
        ("states", document_limits.MAX_STATES),
        ("events", document_limits.MAX_EVENTS),
        ("transitions", document_limits.MAX_TRANSITIONS),
        ("description", document_limits.MAX_DESCRIPTION),
        ("rules", document_limits.MAX_RULES),
        ("rules[].emit", document_limits.MAX_EMITS),
        ("rules[].params", document_limits.MAX_PARAM_CODES),
        ("rules[].emit[].route", document_limits.MAX_ROUTE),
        ("rules[].emit[].group", document_limits.MAX_NAME),
        ("params", document_limits.MAX_PARAMS),
        ("params[].data", document_limits.MAX_PARAMS_BYTES // 1024),
        ("params[].code", document_limits.MAX_NAME),
        ("version", document_limits.MAX_INT),
        ("states[].timeout_minutes", MAX_MINUTES),
    ],
)
def test_a_limit_is_the_codes_own(field, limit):
    (line,) = (line for line in page(NAME).splitlines() if line.startswith(f"| `{field}` |"))
    assert re.search(rf"\b{limit:,}\b", line.split("|")[4])


def test_the_fields_of_the_request_are_those_of_its_model():
    listed = re.findall(r"^\| `([^`]+)` \|", page(NAME).partition("## Definition")[0], re.MULTILINE)
    assert listed == list(ImportRequest.model_fields)


def test_every_finding_has_a_section_and_no_other():
    assert sorted(code for code, _, _ in FINDINGS) == sorted(codes_in_source())


@pytest.mark.parametrize("block", SHAPES, ids=lambda block: block.heading)
def test_every_shape_is_imported(bench, block):
    warned = bench.engine.import_blueprint(_request(block), bench.deadline()).warnings
    assert {finding.code for finding in warned} == ({"LEGACY_SHAPE"} if block.heading == "The oldest shape" else set())


@pytest.mark.parametrize(("code", "severity", "pointer"), FINDINGS, ids=lambda part: part[:40])
def test_every_example_raises_its_finding_at_its_place_and_nothing_else(bench, code, severity, pointer):
    errors, warnings = _import_all(bench, code)
    found = errors if severity.startswith("Error") else warnings
    assert (code, pointer) in {(finding.code, finding.pointer) for finding in found}
    if code != "MORE_FINDINGS":
        assert {finding.code for finding in [*errors, *warnings]} == {code}


@pytest.mark.parametrize("code", REFUSALS)
def test_every_refusal_is_what_the_route_answers(stack, code):
    requests = [{"env_code": 1, **json.loads(block.text)} for block in BLOCKS if block.heading == f"`{code}`"]
    answers = [stack.call("import", "POST", "/v1/import", request) for request in requests]
    assert [answer.status for answer in answers[:-1]] == [200] * (len(answers) - 1)
    assert answers[-1].code == code


def test_every_code_of_the_route_is_named():
    responses = json.loads(page("docs/openapi.json"))["paths"]["/v1/import"]["post"]["responses"]
    codes = {code for status, response in responses.items() if status != "200" for code in response["description"].split(", ")}
    text = page(NAME).partition("## Refusals")[2]
    assert sorted(code for code in codes - {"INTERNAL", "UNAVAILABLE"} if f"`{code}`" not in text) == []


@pytest.mark.parametrize("code", ["INVALID_TEXT", "INVALID_NUMBER", "TOO_DEEP"])
def test_what_only_python_callers_are_told_is_refused_earlier_over_http(stack, code):
    (block,) = (block for block in BLOCKS if block.heading == f"`{code}`")
    answer = stack.call("import", "POST", "/v1/import", json.dumps({"env_code": 1, **_value(block)}))
    assert (answer.status, answer.code) == (400, "INVALID_REQUEST")


def _import_all(bench, code):
    *before, last = [_request(block) for block in BLOCKS if block.heading == f"`{code}`"]
    for request in before:
        bench.engine.import_blueprint(request, bench.deadline())
    try:
        return [], bench.engine.import_blueprint(last, bench.deadline()).warnings
    except WorkFlowError as error:
        return error.errors, []


def _request(block):
    return ImportRequest(env_code=1, **_value(block))


def _value(block):
    """A JSON document, or the Python expression that makes one too long for the page."""
    return json.loads(block.text) if block.language == "json" else eval(block.text, {"json": json})  # noqa: S307  # the page's own code


def _field(path, key):
    """`states[].name` for a key of /definition/states/3; a route of the oldest shape has a rule's fields."""
    steps = ["[]" if isinstance(step, int) else f".{step}" for step in (*path[1:], key)]
    name = "".join(steps).removeprefix(".")
    return name.replace("routes[]", "rules[]")


def test_the_reader_of_fields_names_them_as_the_page_does():
    assert _field(("policy", "rules", 0, "emit", 12), "route") == "rules[].emit[].route"
