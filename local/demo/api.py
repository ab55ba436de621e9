"""The engine's API as its callers see it, and the failure that says at which step a story went wrong."""

import json
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

_SECONDS = 30
_OK = 200


class StoryError(Exception):
    """Something else happened than the story needs; nothing is printed that did not happen."""

    def __init__(self, step: str, expected: object, got: object) -> None:
        super().__init__(f"the story went wrong at step {step}: expected {expected}, got {got}")


class ApiError(Exception):
    """The engine answered something else than success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    body: Any

    @property
    def reason(self) -> str:
        """What a problem document says, or the body as it is."""
        try:
            return f"{self.body['code']}: {self.body['detail']}"
        except (KeyError, TypeError):
            return str(self.body)


class Api:
    """One engine; every call names its caller, as IAM would."""

    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, who: str, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Return the answer's body; ApiError for everything but success."""
        answer = self.ask(who, method, path, body, **query)
        if answer.status != _OK:
            raise ApiError(f"{answer.status} {answer.reason}")
        return answer.body

    def ask(self, who: str, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        """Return whatever the engine answers."""
        url = f"{self.url}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"content-type": "application/json", "x-local-principal": who}
        request = Request(url, data=None if body is None else json.dumps(body).encode(), headers=headers, method=method)  # noqa: S310  # our own address
        try:
            with urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
                return Answer(status=response.status, body=_json(response.read()))
        except HTTPError as error:
            with error:
                return Answer(status=error.code, body=_json(error.read()))
        except (URLError, HTTPException, OSError) as error:
            raise ApiError(f"no answer from {method} {path}: {error}") from error


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")
