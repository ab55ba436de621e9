"""SnsSubscriptions: a registered endpoint gets its consumer's events and nobody else's."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workflow_engine.adapters import aws
from workflow_engine.adapters.sns import sns_client
from workflow_engine.errors import ErrorItem, InvalidRequestError, StorageError

_log = logging.getLogger(__name__)
_HTTPS_RETRIES = 3
_DIFFERENT = "already exists with different attributes"
_GONE = frozenset({"NotFound", "NotFoundException", "ResourceNotFoundException"})
_BAD_ENDPOINT = frozenset({"InvalidParameter", "InvalidParameterValue", "InvalidParameterException", "ValidationError"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SnsSubscriptions:
    topic_arn: str
    client: Callable[[], Any] = sns_client

    def subscribe(self, endpoint_protocol: str, endpoint_address: str, env_code: int, consumer: str) -> str:
        """Subscribe the endpoint, or correct the subscription that it has; return the ARN, also while it waits for its confirmation."""
        wanted = subscription_attributes(endpoint_protocol, env_code, consumer)
        try:
            subscription_arn = self._subscribe(endpoint_protocol, endpoint_address, wanted)
            self._correct(subscription_arn, wanted)
        except aws.errors() as error:
            raise _refusal(error) from error
        return subscription_arn

    def unsubscribe(self, subscription_arn: str) -> None:
        try:
            self.client().unsubscribe(SubscriptionArn=subscription_arn)
        except aws.errors() as error:
            # Gone already, or never confirmed: SNS drops an unconfirmed one by itself after some days.
            if aws.error_code(error) not in _GONE | _BAD_ENDPOINT:
                raise _refusal(error) from error
            _log.info("nothing to unsubscribe", extra={"reason": aws.error_code(error)})

    def state(self, subscription_arn: str | None) -> str:
        """Return confirmed, pending or none."""
        if subscription_arn is None:
            return "none"
        try:
            attributes = self._attributes(subscription_arn)
        except aws.errors() as error:
            if aws.error_code(error) in _GONE:
                return "none"
            raise _refusal(error) from error
        return "pending" if attributes.get("PendingConfirmation") == "true" else "confirmed"

    def _subscribe(self, protocol: str, address: str, wanted: Mapping[str, str]) -> str:
        request = {"TopicArn": self.topic_arn, "Protocol": protocol, "Endpoint": address, "ReturnSubscriptionArn": True}
        try:
            return str(self.client().subscribe(**request, Attributes=dict(wanted))["SubscriptionArn"])
        except aws.errors() as error:
            if _DIFFERENT not in str(error):
                raise
            # Asked without attributes SNS names the subscription that exists.
            return str(self.client().subscribe(**request)["SubscriptionArn"])

    def _correct(self, subscription_arn: str, wanted: Mapping[str, str]) -> None:
        present = self._attributes(subscription_arn)
        for name, value in wanted.items():
            if not _is_same(present.get(name), value):
                self.client().set_subscription_attributes(SubscriptionArn=subscription_arn, AttributeName=name, AttributeValue=value)

    def _attributes(self, subscription_arn: str) -> dict[str, str]:
        answer: dict[str, dict[str, str]] = self.client().get_subscription_attributes(SubscriptionArn=subscription_arn)
        return answer.get("Attributes", {})


def subscription_attributes(protocol: str, env_code: int, consumer: str) -> dict[str, str]:
    """The filter lets this consumer's events through. Queues get the bare message; over HTTPS that would drop the attributes, and the signature with them."""
    attributes = {"FilterPolicy": json.dumps({"env": [str(env_code)], "consumer": [consumer]}), "FilterPolicyScope": "MessageAttributes"}
    if protocol == "sqs":
        attributes["RawMessageDelivery"] = "true"
    if protocol == "https":
        retries = {"numRetries": _HTTPS_RETRIES, "numMaxDelayRetries": 0, "minDelayTarget": 1, "maxDelayTarget": 20}
        attributes["DeliveryPolicy"] = json.dumps({"healthyRetryPolicy": {**retries, "backoffFunction": "exponential"}})
    return attributes


def _is_same(present: str | None, wanted: str) -> bool:
    """SNS gives documents back with other spaces and defaults filled in."""
    if present is None or not wanted.startswith("{"):
        return present == wanted
    return _contains(json.loads(present), json.loads(wanted))


def _contains(present: Any, wanted: Any) -> bool:
    if isinstance(present, dict) and isinstance(wanted, dict):
        return all(name in present and _contains(present[name], value) for name, value in wanted.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return bool(present == wanted)


def _refusal(error: Exception) -> Exception:
    code = aws.error_code(error)
    if code in _BAD_ENDPOINT:
        item = ErrorItem(pointer="/endpoint/address", code="ENDPOINT_REFUSED", message="SNS does not accept this endpoint")
        return InvalidRequestError("SNS does not accept this endpoint", (item,))
    return StorageError(f"SNS did not do it ({code}); try again")
