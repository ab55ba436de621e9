"""SnsSubscriptions: an endpoint gets its consumer's events, and only those."""

import json
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.cloud import client, cloud
from tests.support.sns_stub import SUBSCRIPTION_ARN, Refusal, running_stub
from workflow_engine.adapters.subscriptions import SnsSubscriptions, subscription_attributes
from workflow_engine.errors import InvalidRequestError, StorageError

DIFFERENT = Refusal(status=400, code="InvalidParameter", message="Invalid parameter: Attributes Reason: Subscription already exists with different attributes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    arn: str
    sns: Any
    sqs: Any

    def queue(self, name: str) -> tuple[str, str]:
        url = self.sqs.create_queue(QueueName=name)["QueueUrl"]
        return url, self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]

    def received(self, url: str) -> list[str]:
        return [message["Body"] for message in self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])]

    def publish(self, env: str, consumer: str, text: str) -> None:
        values = {"env": env, "consumer": consumer}
        self.sns.publish(
            TopicArn=self.arn, Message=text, MessageAttributes={name: {"DataType": "String", "StringValue": value} for name, value in values.items()}
        )


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch) -> Generator[Topic]:
    with cloud(monkeypatch):
        sns, sqs = client("sns"), client("sqs")
        yield Topic(arn=sns.create_topic(Name="work")["TopicArn"], sns=sns, sqs=sqs)


@pytest.mark.scenario(114)
def test_consumers_of_one_name_in_two_environments_never_see_each_others_events(topic):
    subscriptions = SnsSubscriptions(topic_arn=topic.arn)
    queues = {env: topic.queue(f"q{env}") for env in (1, 2)}
    for env, (_, arn) in queues.items():
        subscriptions.subscribe("sqs", arn, env, "billing")
    for env, consumer, text in [("1", "billing", "one"), ("2", "billing", "two"), ("1", "other", "three")]:
        topic.publish(env, consumer, text)
    assert {env: topic.received(url) for env, (url, _) in queues.items()} == {1: ["one"], 2: ["two"]}


def test_an_endpoint_that_is_subscribed_already_gets_the_new_filter(topic):
    subscriptions = SnsSubscriptions(topic_arn=topic.arn)
    _, arn = topic.queue("q")
    first, again = subscriptions.subscribe("sqs", arn, 1, "old"), subscriptions.subscribe("sqs", arn, 1, "new")
    attributes = topic.sns.get_subscription_attributes(SubscriptionArn=again)["Attributes"]
    assert first == again
    assert json.loads(attributes["FilterPolicy"]) == {"env": ["1"], "consumer": ["new"]}
    assert attributes["RawMessageDelivery"] == "true"


def test_where_sns_refuses_other_attributes_the_subscription_that_exists_is_corrected():
    with running_stub(DIFFERENT) as stub:
        arn = SnsSubscriptions(topic_arn="arn:topic", client=stub.client).subscribe("sqs", "arn:queue", 1, "billing")
    assert arn == SUBSCRIPTION_ARN
    assert [call["Action"] for call in stub.calls] == ["Subscribe", "Subscribe", "GetSubscriptionAttributes", *["SetSubscriptionAttributes"] * 3]
    assert stub.calls[0]["ReturnSubscriptionArn"] == "true"
    assert "Attributes.entry.1.key" not in stub.calls[1]
    assert {call["AttributeName"]: call["AttributeValue"] for call in stub.calls[3:]} == subscription_attributes("sqs", 1, "billing")


def test_https_is_not_raw_and_tries_three_times_and_lambda_needs_only_the_filter():
    https = subscription_attributes("https", 1, "ü")
    assert "RawMessageDelivery" not in https
    assert json.loads(https["DeliveryPolicy"])["healthyRetryPolicy"]["numRetries"] == 3
    assert json.loads(https["FilterPolicy"]) == {"env": ["1"], "consumer": ["ü"]}
    assert set(subscription_attributes("lambda", 1, "c")) == {"FilterPolicy", "FilterPolicyScope"}


def test_the_state_follows_the_subscription(topic):
    subscriptions = SnsSubscriptions(topic_arn=topic.arn)
    arn = subscriptions.subscribe("sqs", topic.queue("q")[1], 1, "c")
    assert (subscriptions.state(None), subscriptions.state(arn)) == ("none", "confirmed")
    subscriptions.unsubscribe(arn)
    subscriptions.unsubscribe(arn)
    assert subscriptions.state(arn) == "none"


@pytest.mark.parametrize(("code", "error"), [("InvalidParameter", InvalidRequestError), ("Throttling", StorageError), ("AuthorizationError", StorageError)])
def test_what_sns_says_becomes_the_callers_fault_or_a_reason_to_try_again(code, error):
    with running_stub(Refusal(status=400, code=code, message="secret detail")) as stub, pytest.raises(error) as caught:
        SnsSubscriptions(topic_arn="arn:topic", client=stub.client).subscribe("https", "https://example.org/", 1, "c")
    assert "secret detail" not in str(caught.value)
