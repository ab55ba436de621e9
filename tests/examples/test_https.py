"""The HTTPS consumer, run as the program it is, behind TLS."""

import json
import socket
import ssl
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from io import BytesIO
from threading import Event, Thread

import pytest
from werkzeug.serving import make_ssl_devcert

from tests.examples.place import CHECKED, HTTPS, NEXT, module_of, program, until

NAME = "vendor-https"


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    cert, key = make_ssl_devcert(str(tmp_path_factory.mktemp("tls") / "consumer"), host="127.0.0.1")
    return {"TLS_CERT": cert, "TLS_KEY": key}


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def settings_of(place, folder, port, public_url):
    sns = {"TOPIC_ARN": place.about["topics"]["work"], "SNS_URL": place.about["aws"]}
    return place.settings(NAME, **sns, PUBLIC_URL=public_url, HOST="127.0.0.1", PORT=str(port), DATABASE=str(folder / "memory.sqlite3"))


@pytest.fixture
def post(place, tmp_path, tls, free_port):
    """The program runs and is subscribed at an address where nobody is: the test posts in SNS's place."""
    with program(HTTPS, settings_of(place, tmp_path, free_port, f"https://127.0.0.1:1/{place.env_code}") | tls) as running:

        def send(envelope):
            body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
            request = urllib.request.Request(f"https://127.0.0.1:{free_port}/", body, {"content-type": "text/plain; charset=UTF-8"})
            try:
                with urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context()) as answer:  # noqa: S310, S323  # made for this test
                    return answer.status
            except urllib.error.HTTPError as error:
                with error:
                    return error.code

        send.says = running.says
        yield send


def envelope_of(message):
    attributes = {name: {"Type": "String", "Value": value} for name, value in message.attributes.items()}
    return {"Type": "Notification", "MessageId": "1", "TopicArn": "arn", "Message": message.body, "MessageAttributes": attributes}


def test_an_event_that_sns_posts_is_verified_done_and_processed(place, tmp_path, tls, free_port):
    with program(HTTPS, settings_of(place, tmp_path, free_port, f"https://127.0.0.1:{free_port}/") | tls) as running:
        running.says('"POST / HTTP/1.1" 204')
        hook = place.hook(NAME, "V-1")
        running.says(f"Processed {hook.ack_guid}")
        assert place.steps(hook) == [CHECKED, NEXT]
        assert place.status(NAME, hook) == "Processed"
        running.says("Processed", times=3)


def test_a_forged_event_is_refused_and_not_acknowledged_and_the_genuine_one_is_done(place, post):
    hook = place.hook(NAME, "V-1")
    assert post(envelope_of(hook.changed(webhook_signature="v1,bm90IG91ciBrZXk="))) == 400
    assert post(envelope_of(hook) | {"Message": hook.body.replace("V-1", "V-2")}) == 400
    assert post({"Type": "Notification", "Message": "{}"}) == 400
    assert post({"Type": "SubscriptionConfirmation", "Token": "made up"}) == 400
    assert post(b"no JSON") == 400
    assert (place.status(NAME, hook), place.steps(hook)) == ("Pending", [CHECKED])
    assert post(envelope_of(hook)) == 204
    post.says(f"Processed {hook.ack_guid}")
    assert place.steps(hook) == [CHECKED, NEXT]


def test_an_event_that_comes_twice_is_done_once_and_acknowledged_twice(place, post):
    hook = place.hook(NAME, "V-1")
    assert [post(envelope_of(hook)), post(envelope_of(hook))] == [204, 204]
    post.says(f"Processed {hook.ack_guid}", times=2)
    assert place.steps(hook) == [CHECKED, NEXT]
    assert place.notices("DUPLICATE_REQUEST") == []


def test_an_instance_that_has_moved_on_is_left_alone_and_the_event_processed(place, post):
    hook = place.hook(NAME, "V-1")
    place.trigger("V-1", "Accept")
    assert post(envelope_of(hook)) == 204
    post.says(f"Processed {hook.ack_guid}")
    assert (place.status(NAME, hook), place.steps(hook)) == ("Processed", [CHECKED, NEXT])


def test_a_confirmation_goes_to_sns_for_our_topic_whatever_address_the_message_names(place, tmp_path, monkeypatch):
    with loaded(place, tmp_path, monkeypatch) as module:
        visited = []
        monkeypatch.setattr(module.request, "urlopen", lambda url, **_: visited.append(url) or BytesIO())
        trap = {"TopicArn": "arn:aws:sns:eu-central-1:999999999999:trap", "SubscribeURL": "https://trap.example/", "Token": "a&b"}
        module.Door.receive(None, {"Type": "SubscriptionConfirmation", **trap})
    assert visited == [f"{place.about['aws']}/?Action=ConfirmSubscription&TopicArn={place.about['topics']['work']}&Token=a%26b"]


def test_sns_has_its_answer_before_the_work_begins(place, tmp_path, monkeypatch):
    begun, go_on = Event(), Event()
    with loaded(place, tmp_path, monkeypatch) as module, ThreadingHTTPServer(("127.0.0.1", 0), module.Door) as server:
        module.secret["key"] = place.register(NAME)["signing_key"]
        monkeypatch.setattr(module, "work", lambda _event: begun.set() or (go_on.wait(20) and None))
        server.daemon_threads = False  # so that leaving the block waits for the work
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        hook = place.hook(NAME, "V-1")
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/", json.dumps(envelope_of(hook)).encode(), timeout=10) as answer:
            assert answer.status == 204
        assert begun.wait(20)
        assert place.status(NAME, hook) == "Delivered"
        go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()
        assert place.status(NAME, hook) == "Processed"


def test_the_program_beats_while_it_waits(place, tmp_path, tls, free_port):
    with program(HTTPS, settings_of(place, tmp_path, free_port, f"https://127.0.0.1:1/{place.env_code}") | tls | {"BEAT_SECONDS": "1"}):
        registered = place.last_beat(NAME)
        until(lambda: place.last_beat(NAME) > registered)


@contextmanager
def loaded(place, folder, monkeypatch):
    """The program's file in this process, not started."""
    for setting, value in settings_of(place, folder, 0, "https://127.0.0.1:1/").items():
        monkeypatch.setenv(setting, value)
    module = module_of(HTTPS)
    yield module
    module.memory.close()
