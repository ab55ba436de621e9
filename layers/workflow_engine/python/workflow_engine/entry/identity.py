"""Who calls: the principal, from what API Gateway's authorizer found out."""

import re
from collections.abc import Mapping
from typing import Any

from workflow_engine.errors import NotOwnerError

_ROLE = re.compile(r"arn:[a-z-]+:sts::(?P<account>\d{12}):assumed-role/(?P<name>[^/]+)/.+")
_USER = re.compile(r"arn:[a-z-]+:iam::(?P<account>\d{12}):user/(?:.+/)?(?P<name>[^/]+)")
_OTHER = re.compile(r"arn:[a-z-]+:(?:iam|sts)::(?P<account>\d{12}):(?P<name>root|federated-user/[^/]+)")
# As much as the audit keeps; issuers and subjects are ASCII by their standards.
_MAX_LENGTH = 600


def principal_of(event: Mapping[str, Any]) -> str:
    """Return `iam:{account}:role/{name}` without the session, `iam:{account}:user/{name}`, `cognito:{identity}` or `jwt:{issuer}|{subject}`."""
    authorizer = _part(_part(event, "requestContext"), "authorizer")
    principal = _iam(_part(authorizer, "iam")) or _jwt(_part(authorizer, "jwt"))
    if principal is None or len(principal) > _MAX_LENGTH or not principal.isascii():
        raise NotOwnerError("the request carries no caller that could be recognised")
    return principal


def _iam(iam: Mapping[str, Any]) -> str | None:
    identity = _text(_part(iam, "cognitoIdentity"), "identityId")
    if identity:
        return f"cognito:{identity}"
    arn = _text(iam, "userArn")
    for kind, pattern in (("role/", _ROLE), ("user/", _USER), ("", _OTHER)):
        found = pattern.fullmatch(arn)
        if found:
            return f"iam:{found['account']}:{kind}{found['name']}"
    return None


def _jwt(jwt: Mapping[str, Any]) -> str | None:
    claims = _part(jwt, "claims")
    issuer, subject = _text(claims, "iss"), _text(claims, "sub")
    return f"jwt:{issuer}|{subject}" if issuer and subject else None


def _part(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]


def _text(parent: Mapping[str, Any], name: str) -> str:
    value = parent.get(name)
    return value if isinstance(value, str) else ""
