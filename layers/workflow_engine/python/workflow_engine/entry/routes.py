"""Routes: one table for dispatch, for 404 and 405, and for the OpenAPI document."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

from pydantic import BaseModel

DOCUMENT = Path(__file__).with_name("openapi.json")
DEFAULT_MAX_BYTES = 64 * 1024
METHODS = ("GET", "PUT", "POST", "DELETE")


class RouteOptions(TypedDict, total=False):
    """`request` is the body's model, `query` the query string's; without them none is taken. `codes` are the errors of its own.

    `may_be_unhealthy`: the answer comes with status 503 too.
    """

    summary: str
    request: type[BaseModel]
    query: type[BaseModel]
    answer: Any
    max_bytes: int
    codes: tuple[str, ...]
    is_public: bool
    takes_idempotency_key: bool
    may_be_unhealthy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    method: str
    path: str
    handler: Callable[..., Any]
    options: RouteOptions

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def arguments(self) -> tuple[str, ...]:
        code = self.handler.__code__
        return code.co_varnames[: code.co_argcount]

    @property
    def path_names(self) -> tuple[str, ...]:
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def match(template: str, path: str) -> dict[str, str] | None:
    """Return the path's parameters; None when it is another path."""
    wanted, given = template.split("/"), path.split("/")
    if len(wanted) != len(given) or not all(part == value or (part.startswith("{") and value) for part, value in zip(wanted, given, strict=True)):
        return None
    return {part[1:-1]: value for part, value in zip(wanted, given, strict=True) if part.startswith("{")}


def allowed_methods(path: str) -> tuple[str, ...]:
    """The methods that any function serves on this path."""
    paths = _document_paths()
    return tuple(sorted({method.upper() for template, methods in paths.items() if match(template, path) is not None for method in methods}))


@lru_cache(maxsize=1)
def document_text() -> str:
    return DOCUMENT.read_text("utf-8")


@lru_cache(maxsize=1)
def _document_paths() -> Mapping[str, Mapping[str, Any]]:
    paths: Mapping[str, Mapping[str, Any]] = json.loads(document_text())["paths"]
    return paths
