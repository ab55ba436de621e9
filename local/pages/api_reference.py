"""Writes docs/api_reference.md from the OpenAPI document, the template and the recorded examples: `python -m local.pages.api_reference`."""

import json
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from pydantic import JsonValue

from local.machine import ROOT
from local.pages.api_fields import Field, Fields
from local.pages.api_words import words_for

PAGE = ROOT / "docs" / "api_reference.md"
EXAMPLES = ROOT / "docs" / "api_examples.json"
_OPENAPI = ROOT / "docs" / "openapi.json"
_TEMPLATE = ROOT / "template.yaml"
_WIDTH = 150
_HEAD = """# API reference

Made from [openapi.json](openapi.json) by `make openapi`; do not edit. [API](api.md) has the rules that hold for all routes: identity, errors, retries, paging.

Every named field of an answer is always present, so "required" is said of requests only. Names have no control characters.

In all examples a vendor was just submitted and one consumer listens. Requests are those of [`events/`](../events).
The answers were recorded from the handlers, with ids, guids and keys made plain; a test records them anew and compares. Set first:

```
API_URL=http://127.0.0.1:8787   # make serve; in AWS the output ApiUrl
SIGN=""                         # in AWS: --aws-sigv4 aws:amz:$AWS_REGION:execute-api --user $AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY
```

| route | what | function | JWT scope | policy for IAM |
|---|---|---|---|---|
"""


class Reference:
    """One page from one document."""

    def __init__(self, document: dict[str, Any], template: str, examples: dict[str, Any]) -> None:
        self._operations = [(f"{method.upper()} {path}", operation) for path, methods in document["paths"].items() for method, operation in methods.items()]
        self._fields = Fields(document)
        self._scopes, self._policies = scopes_of(template), policies_of(template)
        self._examples = examples

    def text(self) -> str:
        rows = "".join(self._line(route, operation) for route, operation in self._operations)
        return _HEAD + rows + "".join(f"\n{part}\n" for route, operation in self._operations for part in self._section(route, operation))

    def _line(self, route: str, operation: dict[str, Any]) -> str:
        anchor = re.sub(r"[^\w\- ]", "", route.lower()).replace(" ", "-")
        policies = ", ".join(f"`{name}`" for name in self._allowed(route)) or "none needed"
        return f"| [`{route}`](#{anchor}) | {operation['summary']} | `{operation['tags'][0]}` | {_scope(self._scopes[route])} | {policies} |\n"

    def _section(self, route: str, operation: dict[str, Any]) -> Iterator[str]:
        yield f"## `{route}`"
        policies = ", ".join(f"`{name}`" for name in self._allowed(route)) or "none"
        yield f"{operation['summary']}. Function `{operation['tags'][0]}`; JWT scope {_scope(self._scopes[route])}; IAM policy {policies}."
        if operation.get("parameters"):
            yield "**Parameters**\n\n" + self._parameters(operation["parameters"])
        body = operation.get("requestBody")
        if body:
            yield from self._bodies("Request", body["content"]["application/json"]["schema"], is_request=True)
        yield from self._bodies("Answer", operation["responses"]["200"]["content"]["application/json"]["schema"], is_request=False)
        yield _statuses(operation["responses"])
        yield from self._example(route)

    def _parameters(self, parameters: list[dict[str, Any]]) -> str:
        lines = ["| name | in | type | required | limits | description |", "|---|---|---|---|---|---|"]
        for one in parameters:
            schema = one["schema"] | ({"description": one["description"]} if "description" in one else {})
            row = self._fields.row(one["name"], schema, is_required=one["required"])
            lines.append(
                f"| `{row.path}` | {one['in']} | {row.type} | {_yes(row)} | {_cell(row.limits)} | {_cell(row.text or words_for('parameter', row.path))} |"
            )
        return "\n".join(lines)

    def _bodies(self, title: str, schema: dict[str, Any], *, is_request: bool) -> Iterator[str]:
        for name, model in self._fields.variants(schema):
            rows = list(self._fields.rows(model))
            head = f"**{title}** {f'`{name}`' if name else ''}".strip() + (f": {model['description']}" if model.get("description") else "")
            yield head + ("\n\n" + _table(rows, is_request=is_request) if rows else "")

    def _example(self, route: str) -> Iterator[str]:
        example = self._examples[route]
        yield f"**Example**, [`{example['event']}`](../{example['event']}){', the answer shortened' if 'openapi' in example['answer'] else ''}"
        yield f"```\n{_curl(route, example)}\n```"
        yield f"```json\n{pretty(example['answer'])}\n```"

    def _allowed(self, route: str) -> list[str]:
        return [name for name, allowed in self._policies if any(fnmatchcase(route, pattern) for pattern in allowed)] if self._scopes[route] else []


def scopes_of(template: str) -> dict[str, str | None]:
    """The JWT scope of each route; None for the one without auth."""
    found: dict[str, str | None] = {}
    path = method = ""
    for line in template.splitlines():
        if named := re.fullmatch(r" {10}(/v1/\S+):", line):
            path = named[1]
        elif named := re.fullmatch(r" {12}(get|put|post|delete):", line):
            method = named[1].upper()
            found[f"{method} {path}"] = None
        elif path and (named := re.search(r"^ {14}security:.*\$\{JwtScopePrefix\}(\w+)", line)):
            found[f"{method} {path}"] = named[1]
    return found


def policies_of(template: str) -> list[tuple[str, list[str]]]:
    """The managed policies of callers, with the routes they allow."""
    parts = re.findall(r"^  (\w+Policy):\n    Type: AWS::IAM::ManagedPolicy\n(.*?)(?=^  \w|^\w)", template, re.MULTILINE | re.DOTALL)
    allowed = [(name, re.findall(r"\$\{HttpApi\}/\*/(\w+)(/v1\S*)", text)) for name, text in parts]
    return [(name, [f"{method} {path}" for method, path in routes]) for name, routes in allowed if routes]


def pretty(value: JsonValue, indent: int = 0) -> str:
    """JSON that keeps on one line what fits there."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= _WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        inside = [f"{pad}{json.dumps(key)}: {pretty(one, indent + 2)}" for key, one in value.items()]
        return "{\n" + ",\n".join(inside) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(pad + pretty(one, indent + 2) for one in value) + "\n" + " " * indent + "]"


def _curl(route: str, example: dict[str, Any]) -> str:
    method = route.partition(" ")[0]
    event = json.loads((ROOT / example["event"]).read_text("utf-8"))
    query = f"?{event['rawQueryString']}" if event["rawQueryString"] else ""
    parts = ["curl -s $SIGN", "" if method == "GET" else f"-X {method}", f'"$API_URL{event["rawPath"]}{query}"']
    line = " ".join(part for part in parts if part)
    if not event.get("body"):
        return line
    return f"{line} -H 'content-type: application/json' \\\n  -d {shlex.quote(pretty(json.loads(event['body'])))}"


def _table(rows: list[Field], *, is_request: bool) -> str:
    head = (
        "| field | type | required | limits | description |\n|---|---|---|---|---|"
        if is_request
        else "| field | type | values | description |\n|---|---|---|---|"
    )
    middle = [f" {_yes(row)} |" if is_request else "" for row in rows]
    return "\n".join([head, *(f"| `{row.path}` | {row.type} |{yes} {_cell(row.limits)} | {_cell(row.text)} |" for row, yes in zip(rows, middle, strict=True))])


def _statuses(responses: dict[str, Any]) -> str:
    lines = ["| status | codes |", "|---|---|"]
    for status, response in responses.items():
        lines.append(f"| {status} | {', '.join(f'[`{code}`](api.md#errors)' for code in response['description'].split(', ')) if status != '200' else 'done'} |")
    return "\n".join(lines)


def _scope(scope: str | None) -> str:
    return f"`{scope}`" if scope else "none: no auth"


def _yes(row: Field) -> str:
    return "yes" if row.is_required else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page_text() -> str:
    read = {place: place.read_text("utf-8") for place in (_OPENAPI, _TEMPLATE, EXAMPLES)}
    return Reference(json.loads(read[_OPENAPI]), read[_TEMPLATE], json.loads(read[EXAMPLES])).text()


if __name__ == "__main__":
    PAGE.write_text(page_text(), "utf-8")
