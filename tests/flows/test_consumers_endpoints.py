"""Endpoints of consumers and their SNS subscriptions, in moto."""

import json
from typing import Any

import boto3
import pytest

from tests.support.consumers import OTHER_ROLE, TOPIC, ConsumerDesk, queue_arn
from workflow_engine.errors import ConflictError, NotFoundError, StorageError

HTTPS = {"protocol": "https", "address": "https://hooks.example.com/in"}


def sqs(name: str = "billing") -> dict[str, str]:
    return {"protocol": "sqs", "address": queue_arn(name)}


def subscriptions() -> dict[str, dict[str, str]]:
    """What SNS has, by endpoint."""
    sns = boto3.client("sns")
    found = sns.list_subscriptions_by_topic(TopicArn=TOPIC)["Subscriptions"]
    return {one["Endpoint"]: sns.get_subscription_attributes(SubscriptionArn=one["SubscriptionArn"])["Attributes"] for one in found}


def filters() -> dict[str, Any]:
    return {endpoint: json.loads(attributes["FilterPolicy"]) for endpoint, attributes in subscriptions().items()}


def stored_arn(desk: ConsumerDesk, consumer_id: int) -> str | None:
    return desk.column(f"SELECT subscription_arn FROM consumer WHERE id = {consumer_id}")[0]


def test_a_registered_queue_gets_its_consumers_events_and_nothing_else(sns_desk: ConsumerDesk):
    answer = sns_desk.register(endpoint=sqs())
    assert (answer.created, answer.subscription) == (True, "confirmed")
    attributes = subscriptions()[queue_arn()]
    assert json.loads(attributes["FilterPolicy"]) == {"env": ["1"], "consumer": ["c1"]}
    assert attributes["RawMessageDelivery"] == "true"
    assert stored_arn(sns_desk, answer.consumer_id) == attributes["SubscriptionArn"]
    assert sns_desk.one().endpoint is not None


def test_registering_again_keeps_the_subscription(sns_desk: ConsumerDesk):
    first = sns_desk.register(endpoint=sqs())
    arn = stored_arn(sns_desk, first.consumer_id)
    assert sns_desk.register(endpoint=sqs()).signing_key is None
    assert (stored_arn(sns_desk, first.consumer_id), list(subscriptions())) == (arn, [queue_arn()])


def test_registering_again_makes_a_subscription_anew_that_somebody_ended(sns_desk: ConsumerDesk):
    consumer_id = sns_desk.register(endpoint=sqs()).consumer_id
    boto3.client("sns").unsubscribe(SubscriptionArn=stored_arn(sns_desk, consumer_id))
    assert sns_desk.register(endpoint=sqs()).subscription == "confirmed"
    assert stored_arn(sns_desk, consumer_id) == subscriptions()[queue_arn()]["SubscriptionArn"]


def test_another_endpoint_ends_the_former_subscription(sns_desk: ConsumerDesk):
    sns_desk.register(endpoint=sqs("old"))
    sns_desk.register(endpoint=HTTPS)
    assert filters() == {HTTPS["address"]: {"env": ["1"], "consumer": ["c1"]}}


def test_no_endpoint_ends_the_former_subscription(sns_desk: ConsumerDesk):
    consumer_id = sns_desk.register(endpoint=sqs()).consumer_id
    assert sns_desk.register().subscription == "none"
    assert (subscriptions(), stored_arn(sns_desk, consumer_id), sns_desk.one().endpoint) == ({}, None, None)


def test_deleting_a_consumer_ends_its_subscription_and_frees_its_endpoint(sns_desk: ConsumerDesk):
    consumer_id = sns_desk.register(endpoint=sqs()).consumer_id
    sns_desk.delete()
    assert (subscriptions(), stored_arn(sns_desk, consumer_id)) == ({}, None)
    sns_desk.register("c2", endpoint=sqs())
    assert filters() == {queue_arn(): {"env": ["1"], "consumer": ["c2"]}}


def test_an_endpoint_that_another_consumer_uses_is_refused_and_nothing_is_written(sns_desk: ConsumerDesk):
    sns_desk.register(endpoint=sqs())
    for consumer, env_code in (("c2", 1), ("c1", 2)):
        with pytest.raises(ConflictError) as caught:
            sns_desk.register(consumer, env_code=env_code, endpoint=sqs())
        assert caught.value.code == "ENDPOINT_IN_USE"
    assert [item.consumer for item in sns_desk.page().items] == ["c1"]
    assert filters() == {queue_arn(): {"env": ["1"], "consumer": ["c1"]}}
    assert sns_desk.column("SELECT COUNT(*) FROM environment") == [1]


def test_a_changed_registration_cannot_take_an_endpoint_that_is_used(sns_desk: ConsumerDesk):
    sns_desk.register(endpoint=sqs())
    sns_desk.register("c2", endpoint=sqs("second"))
    with pytest.raises(ConflictError):
        sns_desk.register("c2", endpoint=sqs(), definitions=["changed"])
    assert sns_desk.one("c2").definitions == ["*"]


def test_endpoints_may_change_hands(sns_desk: ConsumerDesk):
    sns_desk.register(endpoint=sqs("a"))
    sns_desk.register(endpoint=sqs("b"))
    sns_desk.register("c2", endpoint=sqs("a"))
    assert filters() == {queue_arn("b"): {"env": ["1"], "consumer": ["c1"]}, queue_arn("a"): {"env": ["1"], "consumer": ["c2"]}}


def test_when_sns_fails_the_registration_stands_and_the_same_request_finishes_it(sns_desk: ConsumerDesk):
    sns = boto3.client("sns")
    sns.delete_topic(TopicArn=TOPIC)
    with pytest.raises(StorageError) as caught:
        sns_desk.register(endpoint=sqs())
    assert caught.value.code == "UNAVAILABLE"
    assert [item.consumer for item in sns_desk.page().items] == ["c1"]
    sns.create_topic(Name="work")
    answer = sns_desk.register(endpoint=sqs())
    assert (answer.created, answer.subscription) == (False, "confirmed")
    assert answer.signing_key, "the caller of the first request never saw the key"
    assert sns_desk.register(endpoint=sqs()).signing_key is None


def test_a_first_registration_that_sns_failed_shows_its_key_also_with_another_endpoint(sns_desk: ConsumerDesk):
    with sns_desk.without_sns(), pytest.raises(StorageError):
        sns_desk.register(endpoint=sqs("mistyped"))
    assert sns_desk.register(endpoint=sqs()).signing_key
    assert list(subscriptions()) == [queue_arn()]


def test_when_sns_fails_a_changed_endpoint_the_same_request_also_ends_the_former_one(sns_desk: ConsumerDesk):
    sns_desk.register(endpoint=sqs("old"))
    with sns_desk.without_sns(), pytest.raises(StorageError):
        sns_desk.register(endpoint=sqs("new"))
    assert list(subscriptions()) == [queue_arn("old")]
    sns_desk.register(endpoint=sqs("new"))
    assert list(subscriptions()) == [queue_arn("new")]


def test_when_sns_fails_a_deletion_the_same_request_finishes_it(sns_desk: ConsumerDesk):
    consumer_id = sns_desk.register(endpoint=sqs()).consumer_id
    with sns_desk.without_sns(), pytest.raises(StorageError):
        sns_desk.delete()
    assert sns_desk.page().items == []
    with pytest.raises(NotFoundError):
        sns_desk.delete(principal=OTHER_ROLE)
    assert list(subscriptions()) == [queue_arn()]
    assert sns_desk.delete().consumer_id == consumer_id
    assert subscriptions() == {}
    with pytest.raises(NotFoundError):
        sns_desk.delete()


def test_a_new_consumer_of_a_deleted_name_ends_what_the_deletion_left_behind(sns_desk: ConsumerDesk):
    first = sns_desk.register(endpoint=sqs("old")).consumer_id
    with sns_desk.without_sns(), pytest.raises(StorageError):
        sns_desk.delete()
    second = sns_desk.register(endpoint=sqs("new")).consumer_id
    assert list(subscriptions()) == [queue_arn("new")]
    assert (stored_arn(sns_desk, first), stored_arn(sns_desk, second)) == (None, subscriptions()[queue_arn("new")]["SubscriptionArn"])


def test_a_new_consumer_of_a_deleted_name_on_the_same_endpoint_keeps_the_subscription(sns_desk: ConsumerDesk):
    sns_desk.register(endpoint=sqs())
    with sns_desk.without_sns(), pytest.raises(StorageError):
        sns_desk.delete()
    second = sns_desk.register(endpoint=sqs()).consumer_id
    assert stored_arn(sns_desk, second) == subscriptions()[queue_arn()]["SubscriptionArn"]


@pytest.mark.scenario(114)
def test_consumers_of_one_name_in_two_environments_never_see_each_others_events(sns_desk: ConsumerDesk):
    sqs_client, sns = boto3.client("sqs"), boto3.client("sns")
    urls = [sqs_client.create_queue(QueueName=f"env{env_code}")["QueueUrl"] for env_code in (1, 2)]
    for env_code in (1, 2):
        sns_desk.register(env_code=env_code, endpoint=sqs(f"env{env_code}"))
    for env_code, consumer in ((1, "c1"), (2, "c1"), (2, "c2"), (1, "c11")):
        attributes = {"env": {"DataType": "String", "StringValue": str(env_code)}, "consumer": {"DataType": "String", "StringValue": consumer}}
        sns.publish(TopicArn=TOPIC, Message=f"{env_code}/{consumer}", MessageAttributes=attributes)
    seen = [[message["Body"] for message in sqs_client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])] for url in urls]
    assert seen == [["1/c1"], ["2/c1"]]
