"""Schemas of the OpenAPI document as rows of a table: one for each field, nested ones with their path."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from local.pages.api_words import words_for

Schema = dict[str, Any]
_ANY = "JsonValue"
_LIMITS = {"minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}", "minItems": "≥ {} items", "maxItems": "≤ {} items", "pattern": "`{}`"}
# What every page says once is not said in each row.
_UNPRINTABLE = r"^[^\u0000-\u001f\u007f-\u009f\ufffe\uffff]+$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    path: str
    type: str
    is_required: bool
    limits: str
    text: str


class Fields:
    """Reads the components of one document."""

    def __init__(self, document: Schema) -> None:
        self._schemas: dict[str, Schema] = document["components"]["schemas"]

    def variants(self, schema: Schema) -> list[tuple[str, Schema]]:
        """The models that a body may be, with their names; one, unless it says anyOf."""
        return [(name_of(part), self.resolved(part)) for part in schema.get("anyOf", [schema])]

    def resolved(self, schema: Schema) -> Schema:
        return self._schemas[name_of(schema)] if "$ref" in schema else schema

    def rows(self, schema: Schema, prefix: str = "") -> Iterator[Field]:
        required = schema.get("required", [])
        for name, part in schema.get("properties", {}).items():
            row = self.row(f"{prefix}{name}", part, is_required=name in required)
            yield replace(row, text=row.text or words_for(schema.get("title", ""), name))
            yield from self._below(f"{prefix}{name}", part)

    def row(self, path: str, schema: Schema, *, is_required: bool) -> Field:
        parts = self._parts(schema)
        limits = [limit for part in parts for limit in _limits(part)]
        if "default" in schema and schema["default"] is not None:
            limits.append(f"default `{json.dumps(schema['default'])}`")
        texts = [schema.get("description", ""), *(part.get("description", "") for part in parts if part.get("type") != "object")]
        return Field(path=path, type=self._type(schema), is_required=is_required, limits=", ".join(limits), text=next((text for text in texts if text), ""))

    def _below(self, path: str, schema: Schema) -> Iterator[Field]:
        for part in self._parts(schema):
            if part.get("type") == "array":
                yield from self._below(f"{path}[]", part.get("items", {}))
            elif "properties" in part:
                yield from self.rows(part, f"{path}.")

    def _parts(self, schema: Schema) -> list[Schema]:
        """What a value may be, without null."""
        if name_of(schema) == _ANY:
            return []
        return [self.resolved(part) for part in schema.get("anyOf", [schema]) if part.get("type") != "null" and name_of(part) != _ANY]

    def _type(self, schema: Schema) -> str:
        kinds = [self._kind(part) for part in schema.get("anyOf", [schema])]
        return " or ".join(dict.fromkeys(kinds))

    def _kind(self, schema: Schema) -> str:
        if name_of(schema) == _ANY or not ({"type", "$ref", "enum", "anyOf"} & schema.keys()):
            return "any JSON"
        schema = self.resolved(schema)
        if schema.get("type") == "array":
            return f"array of {self._type(schema.get('items', {}))}"
        if schema.get("format") == "date-time":
            return "time"
        return str(schema.get("type", "any JSON"))


def name_of(schema: Schema) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _limits(schema: Schema) -> Iterator[str]:
    if "enum" in schema:
        yield ", ".join(f"`{value}`" for value in schema["enum"])
    low, high = schema.get("minLength"), schema.get("maxLength")
    if high is not None:
        yield f"{low or 0} to {high} characters"
    elif low is not None:
        yield f"at least {low} character"
    for key, form in _LIMITS.items():
        if key in schema and schema[key] != _UNPRINTABLE:
            yield form.format(schema[key])
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        yield from (f"each {limit}" for limit in _limits(schema["items"]))
