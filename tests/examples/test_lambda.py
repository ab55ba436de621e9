"""The Lambda consumer: its handler, called with the events that SNS hands over."""

import pytest

from local.lambdas.calls import LocalContext
from tests.examples.place import CHECKED, LAMBDA, NEXT, lambda_settings, module_of, sns_event

NAME = "vendor-lambda"


@pytest.fixture
def consumer(place, monkeypatch):
    """The module as Lambda loads it, with its table and its secret."""
    for setting, value in lambda_settings(place, NAME, place.register(NAME)["signing_key"]).items():
        monkeypatch.setenv(setting, value)
    return module_of(LAMBDA)


def test_an_event_is_verified_done_and_processed(place, consumer):
    hook = place.hook(NAME, "V-1")
    consumer.handler(sns_event(hook), LocalContext())
    assert (place.status(NAME, hook), place.steps(hook)) == ("Processed", [CHECKED, NEXT])
    (kept,) = consumer.memory.scan()["Items"]
    assert (kept["ack_guid"], kept["outcome"], kept["next_event"]) == (hook.ack_guid, "Processed", hook.event["on_success_event"])


def test_what_is_remembered_is_forgotten_only_after_sns_has_given_up(place, consumer):
    consumer.handler(sns_event(place.hook(NAME, "V-1")), LocalContext())
    days = (int(consumer.memory.scan()["Items"][0]["expires_at"]) - consumer.time.time()) / 86_400
    assert 29 < days <= 30


@pytest.mark.parametrize("signature", ["v1,bm90IG91ciBrZXk=", "ü", ""])
def test_a_forged_event_is_refused_and_not_acknowledged_and_the_genuine_one_is_done(place, consumer, capsys, signature):
    hook = place.hook(NAME, "V-1")
    consumer.handler(sns_event(hook.changed(webhook_signature=signature)), LocalContext())
    assert capsys.readouterr().out.startswith("refused")
    assert (place.status(NAME, hook), place.steps(hook), consumer.memory.scan()["Items"]) == ("Pending", [CHECKED], [])
    consumer.handler(sns_event(hook), LocalContext())
    assert place.steps(hook) == [CHECKED, NEXT]


def test_a_key_that_is_changed_in_the_secret_is_read_again_after_a_refusal(place, consumer):
    hook, secrets = place.hook(NAME, "V-1"), consumer.aws.client("secretsmanager")
    secret = {"SecretId": consumer.os.environ["SIGNING_SECRET_ARN"]}
    right = secrets.get_secret_value(**secret)["SecretString"]
    secrets.put_secret_value(**secret, SecretString="whsec_b2xk")
    consumer.handler(sns_event(hook), LocalContext())
    secrets.put_secret_value(**secret, SecretString=right)
    assert place.status(NAME, hook) == "Pending"
    consumer.handler(sns_event(hook), LocalContext())
    assert place.status(NAME, hook) == "Processed"


def test_an_event_that_comes_twice_is_done_once_and_acknowledged_twice(place, consumer, capsys):
    hook = place.hook(NAME, "V-1")
    for _ in range(2):
        consumer.handler(sns_event(hook), LocalContext())
    assert capsys.readouterr().out.count(f"Processed {hook.ack_guid}") == 2
    assert place.steps(hook) == [CHECKED, NEXT]
    assert place.notices("DUPLICATE_REQUEST") == []


def test_an_instance_that_has_moved_on_is_left_alone_and_the_event_processed(place, consumer, monkeypatch):
    hook = place.hook(NAME, "V-1")
    place.trigger("V-1", "Accept")
    monkeypatch.setattr(consumer, "work", lambda _event: pytest.fail("the instance has moved on"))
    consumer.handler(sns_event(hook), LocalContext())
    assert (place.status(NAME, hook), place.steps(hook)) == ("Processed", [CHECKED, NEXT])


def test_of_two_copies_that_get_the_event_at_the_same_time_one_does_it(place, consumer, monkeypatch):
    hook, done = place.hook(NAME, "V-1"), []

    def work(event):
        done.append(event["ack_guid"])
        with pytest.raises(KeyError, match="outcome"):
            consumer.handler(sns_event(hook), LocalContext())
        return event["on_success_event"]

    monkeypatch.setattr(consumer, "work", work)
    consumer.handler(sns_event(hook), LocalContext())
    assert (done, place.status(NAME, hook), place.steps(hook)) == ([hook.ack_guid], "Processed", [CHECKED, NEXT])


def test_a_copy_that_died_holds_its_event_only_until_its_time_would_have_been_up(place, consumer):
    hook = place.hook(NAME, "V-1")
    consumer.recall(hook.event, seconds=-1)
    consumer.handler(sns_event(hook), LocalContext())
    assert place.steps(hook) == [CHECKED, NEXT]
