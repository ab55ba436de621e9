"""Who may act for a consumer (design section 13): its owner and the principals named with it."""

import json


def is_owner(owner: str, principals_json: str, principal: str) -> bool:
    """Tell whether the principal registered the consumer or was named with it; compared exactly."""
    return principal == owner or principal in json.loads(principals_json)
