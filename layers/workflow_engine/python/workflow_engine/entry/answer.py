"""What a route gives back, and how it goes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

# Answers may hold a signing key or a payload: nobody on the way keeps them.
_EVERY_ANSWER = {"cache-control": "no-store"}
JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": JSON})

    def for_gateway(self) -> dict[str, Any]:
        """API Gateway's payload 2.0."""
        return {"statusCode": self.status, "headers": {**_EVERY_ANSWER, **self.headers}, "body": self.body, "isBase64Encoded": False}


def response_of(answer: object) -> HttpResponse:
    """A model becomes its JSON, every named key present; a text is JSON already."""
    if isinstance(answer, HttpResponse):
        return answer
    if isinstance(answer, BaseModel):
        return HttpResponse(status=200, body=answer.model_dump_json())
    if isinstance(answer, str):
        return HttpResponse(status=200, body=answer)
    raise TypeError(f"a route cannot answer with {type(answer).__name__}")
