"""AWS on this machine: moto's server for SNS, SQS and Secrets Manager, with deliveries, confirmations and a record of all messages."""

import json
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from moto.core.base_backend import BackendDict
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.secretsmanager.models import secretsmanager_backends
from moto.sns.models import Subscription, sns_backends
from moto.sqs.models import sqs_backends

from local.lambdas.calls import ACCOUNT
from local.stack.deliveries import HttpsSubscriber

if TYPE_CHECKING:
    from moto.sns.models import SNSBackend

REGION = "eu-central-1"
WORK_TOPIC, NOTICE_TOPIC = "WorkEvents", "Notices"
_BACKENDS: tuple[BackendDict[Any], ...] = (sns_backends, sqs_backends, secretsmanager_backends)
_NAMESPACE = "http://sns.amazonaws.com/doc/2010-03-31/"
_CONFIRMED = "<ConfirmSubscriptionResult><SubscriptionArn>{arn}</SubscriptionArn></ConfirmSubscriptionResult>"
_REFUSED = "<Error><Type>Sender</Type><Code>InvalidParameter</Code><Message>Invalid token</Message></Error>"
_log = logging.getLogger(__name__)

StartResponse = Callable[..., Any]


def client(service: str, url: str) -> Any:
    """A boto3 client of the local stack; typed as Any, because the stubs list every service by name."""
    boto3: Any = import_module("boto3")
    return boto3.client(service, endpoint_url=url, region_name=REGION, aws_access_key_id="local", aws_secret_access_key="local")  # noqa: S106  # moto asks nobody


@dataclass
class Published:
    """Every message in the order in which SNS took it, whoever is subscribed."""

    _messages: list[dict[str, Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, topic: str, body: str, attributes: dict[str, Any]) -> None:
        values = {name: str(attribute["Value"]) for name, attribute in attributes.items()}
        with self._lock:
            self._messages.append({"n": len(self._messages) + 1, "topic": topic, "attributes": values, "body": body})

    def after(self, number: int) -> list[dict[str, Any]]:
        with self._lock:
            return self._messages[max(0, number) :]

    def clear(self) -> None:
        with self._lock:
            self._messages.clear()


class LocalCloud:
    """A WSGI application. moto keeps topics, subscriptions, queues and secrets, and checks what it is asked; the way of a message is ours."""

    def __init__(self) -> None:
        for backends in _BACKENDS:
            backends.reset()
        self.url = ""
        self.published = Published()
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._subscribers: dict[str, HttpsSubscriber] = {}
        self._lock = threading.Lock()
        self.topics = {name: self._make_topic(name) for name in (WORK_TOPIC, NOTICE_TOPIC)}
        self.secret_arn = ""

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if str(environ["PATH_INFO"]).startswith("/moto-api"):
            # It would take our topics away under the stack's feet.
            return _xml(start_response, "404 Not Found", "ErrorResponse", "")
        query = parse_qs(str(environ.get("QUERY_STRING", "")))
        if query.get("Action") == ["ConfirmSubscription"]:
            return self._confirm(query, start_response)
        answer: list[bytes] = list(self._moto(environ, start_response))
        if "/sns/" in str(environ.get("HTTP_AUTHORIZATION", "")):
            self._adopt()
        return answer

    def open_at(self, url: str) -> None:
        """Where the server listens; what is made by asking it is made now."""
        self.url = url
        secret = json.dumps({"current": "the signing secret of a local stack, known to everybody"})
        self.secret_arn = str(client("secretsmanager", url).create_secret(Name="signing", SecretString=secret)["ARN"])

    def close(self) -> None:
        for subscriber in self._subscribers.values():
            subscriber.close()

    @property
    def _sns(self) -> "SNSBackend":
        backend: SNSBackend = sns_backends[ACCOUNT][REGION]
        return backend

    def _make_topic(self, name: str) -> str:
        """A topic, with the record as its first subscriber: it sees everything, since it has no filter."""
        arn = str(self._sns.create_topic(name).arn)
        recorder = self._sns.subscribe(arn, f"arn:aws:sqs:{REGION}:{ACCOUNT}:local-record-of-{name}", "sqs")
        recorder.publish = partial(self._record, name)  # type: ignore[method-assign]
        return arn

    def _record(self, topic: str, message: str, _message_id: str, **more: Any) -> None:
        self.published.add(topic, message, more.get("message_attributes") or {})

    def _adopt(self) -> None:
        """Take the deliveries of new subscriptions over from moto, and forget those that have ended."""
        with self._lock:
            present = dict(self._sns.subscriptions)
            for arn in [arn for arn in self._subscribers if arn not in present]:
                self._subscribers.pop(arn).close()
            for subscription in present.values():
                if "publish" not in vars(subscription):
                    self._take_over(subscription)

    def _take_over(self, subscription: Subscription) -> None:
        subscription.publish = partial(self._deliver, subscription)  # type: ignore[method-assign]
        if subscription.protocol == "https":
            subscriber = HttpsSubscriber(subscription.arn, subscription.topic.arn, subscription.endpoint)
            subscription.attributes["PendingConfirmation"] = "true"
            self._subscribers[subscription.arn] = subscriber
            subscriber.ask_to_confirm(self.url)

    def _deliver(self, subscription: Subscription, message: str, message_id: str, **more: Any) -> None:
        """As SNS does it: what an endpoint does with a message is no business of whoever publishes."""
        attributes: dict[str, Any] = more.get("message_attributes") or {}
        matcher = subscription._filter_policy_matcher  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # moto has no other way to ask
        if matcher is not None and not matcher.matches(attributes, message):
            return
        subscriber = self._subscribers.get(subscription.arn)
        if subscriber is not None and subscriber.is_confirmed:
            subscriber.notify(message, message_id, attributes)
        if subscription.protocol == "sqs":
            try:
                Subscription.publish(subscription, message, message_id, **more)
            except Exception as error:  # noqa: BLE001  # a queue that is gone, or whatever else moto finds wrong with it
                _log.warning("%s did not get its message: %s", subscription.endpoint, error)

    def _confirm(self, query: dict[str, list[str]], start_response: StartResponse) -> Iterable[bytes]:
        token = query.get("Token", [""])[0]
        subscriber = next((one for one in self._subscribers.values() if one.token == token), None)
        if subscriber is None or subscriber.subscription_arn not in self._sns.subscriptions:
            return _xml(start_response, "400 Bad Request", "ErrorResponse", _REFUSED)
        subscriber.is_confirmed = True
        self._sns.subscriptions[subscriber.subscription_arn].attributes["PendingConfirmation"] = "false"
        return _xml(start_response, "200 OK", "ConfirmSubscriptionResponse", _CONFIRMED.format(arn=subscriber.subscription_arn))


def _xml(start_response: StartResponse, status: str, root: str, inner: str) -> Iterable[bytes]:
    text = f'<{root} xmlns="{_NAMESPACE}">{inner}</{root}>'
    start_response(status, [("Content-Type", "text/xml"), ("Content-Length", str(len(text)))])
    return [text.encode()]
