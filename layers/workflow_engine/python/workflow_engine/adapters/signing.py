"""Standard Webhooks: every message is signed with a key of its consumer's own, derived from one master secret."""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workflow_engine.errors import StorageError

_LABEL = "workflow-engine/consumer-signing-key/v1/"
# While a master is being replaced both sign, so that a consumer may change its key when it likes.
_MASTERS = ("current", "previous")


def masters_of(secret: Mapping[str, Any]) -> Sequence[str]:
    """Return the master secrets, the one that new keys are made from first."""
    masters = [secret[name] for name in _MASTERS if secret.get(name)]
    if not secret.get(_MASTERS[0]) or not all(isinstance(master, str) for master in masters):
        raise StorageError("the signing secret must have a text under 'current'")
    return masters


class Signer:
    """`masters` is asked at every use; it caches."""

    def __init__(self, masters: Callable[[], Sequence[str]]) -> None:
        self._masters = masters

    def signing_key(self, consumer_id: int) -> str:
        """Return the consumer's present key as `whsec_…`."""
        return f"whsec_{b64encode(_consumer_key(self._masters()[0], consumer_id)).decode()}"

    def sign(self, consumer_id: int, webhook_id: str, timestamp: int, body: str) -> str:
        """Return the signatures, one a master, separated by spaces."""
        content = f"{webhook_id}.{timestamp}.{body}".encode()
        digests = (hmac.digest(_consumer_key(master, consumer_id), content, hashlib.sha256) for master in self._masters())
        return " ".join(f"v1,{b64encode(digest).decode()}" for digest in digests)


def _consumer_key(master: str, consumer_id: int) -> bytes:
    return hmac.digest(master.encode(), f"{_LABEL}{consumer_id}".encode(), hashlib.sha256)
