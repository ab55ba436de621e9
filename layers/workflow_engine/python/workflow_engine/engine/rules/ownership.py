"""Who may act for a consumer (design section 13): its owner and the principals named with it."""

import json

from workflow_engine.errors import NotOwnerError


def is_owner(owner: str, principals_json: str, principal: str) -> bool:
    """Tell whether the principal registered the consumer or was named with it; compared exactly."""
    return principal == owner or principal in json.loads(principals_json)


def check_owner(owner: str, principals_json: str, principal: str) -> None:
    if not is_owner(owner, principals_json, principal):
        raise NotOwnerError("the consumer belongs to another principal")
