"""Registration, heartbeat, list, owner and deletion of consumers."""

import json
from datetime import timedelta

import pytest
from pydantic import ValidationError

from tests.support.consumers import OTHER_ROLE, ROLE, ConsumerDesk, deadline, queue_arn
from tests.support.engine import START
from tests.support.rows import Sql
from workflow_engine.dal.packet import statement
from workflow_engine.engine.rules.registration import EndpointLimits
from workflow_engine.entry.identity import principal_of
from workflow_engine.errors import InvalidRequestError, NotFoundError, NotOwnerError
from workflow_engine.models.consumer import ConsumerProgress, ConsumerRow, ConsumerView, HeartbeatResult, OwnerMove, RegisterConsumerRequest
from workflow_engine.models.enums import AckStatus


def view(consumer_id: int, **changes: object) -> ConsumerView:
    """What the list shows of a consumer that registered with nothing but what it must."""
    usual = {
        "consumer_id": consumer_id,
        "consumer": "c1",
        "env_code": 1,
        "definitions": ["*"],
        "kinds": ["transition", "hook"],
        "routes": None,
        "beat_seconds": None,
        "always_live": False,
        "on_exhausted": "suspend",
        "endpoint": None,
        "owner": ROLE,
        "principals": [],
        "alive": True,
        "last_beat": START,
        "alive_until": START + timedelta(seconds=30),
        "pending": 0,
        "oldest_pending_seconds": None,
        "progress": None,
    }
    return ConsumerView.model_validate(usual | changes)


@pytest.mark.scenario(80)
def test_registering_twice_gives_the_same_id_and_shows_the_key_once(desk: ConsumerDesk):
    first, second = desk.register(), desk.register()
    assert (first.created, second.created) == (True, False)
    assert first.consumer_id == second.consumer_id
    assert first.signing_key
    assert first.signing_key.startswith("whsec_")
    assert second.signing_key is None
    assert (first.subscription, first.consumer, first.env_code) == ("none", "c1", 1)


def test_the_key_is_shown_again_to_who_asks_for_it(desk: ConsumerDesk):
    assert desk.register().signing_key == desk.register(return_key=True).signing_key


def test_registration_makes_an_unknown_environment_once(desk: ConsumerDesk):
    desk.register("c1", env_code=7)
    desk.register("c2", env_code=7)
    assert desk.rows.run("SELECT code, name FROM environment") == ((7, "7"),)


@pytest.mark.scenario(80)
def test_a_beat_moves_last_beat_and_says_until_when_the_consumer_is_alive(desk: ConsumerDesk):
    desk.register()
    desk.clock.advance(20)
    assert desk.beat() == HeartbeatResult(alive_until=START + timedelta(seconds=50), pending=0, oldest_pending_seconds=None)
    assert desk.one().last_beat == START + timedelta(seconds=20)


@pytest.mark.scenario(80)
def test_a_consumer_is_alive_as_long_as_its_beat_is_no_older_than_its_window(desk: ConsumerDesk):
    desk.register("ttl")
    desk.register("promised", beat_seconds=60)
    desk.register("always", beat_seconds=None)
    moments = {30: [True, True, True], 31: [True, True, False], 180: [True, True, False], 181: [True, False, False]}
    for seconds, alive in moments.items():
        desk.clock.at = START + timedelta(seconds=seconds)
        assert [item.alive for item in desk.page().items] == alive, seconds
    assert [(item.consumer, item.beat_seconds, item.always_live, item.alive_until) for item in desk.page().items] == [
        ("always", None, True, None),
        ("promised", 60, False, START + timedelta(seconds=180)),
        ("ttl", None, False, START + timedelta(seconds=30)),
    ]


def test_a_beat_never_moves_last_beat_back(desk: ConsumerDesk):
    desk.register()
    desk.clock.at = START + timedelta(microseconds=5)
    desk.beat()
    desk.clock.at = START - timedelta(hours=1)
    assert desk.beat().alive_until == START + timedelta(seconds=30, microseconds=5)
    desk.register()
    assert desk.one().last_beat == START + timedelta(microseconds=5)


def test_registering_again_counts_as_a_beat(desk: ConsumerDesk):
    desk.register()
    desk.clock.advance(90)
    desk.register()
    assert desk.one().last_beat == START + timedelta(seconds=90)


def test_a_beat_takes_one_round_trip(desk: ConsumerDesk):
    desk.register()
    desk.beat()
    before = desk.dal.round_trips
    desk.beat(progress={"outbox_depth": 1})
    assert desk.dal.round_trips - before == 1


def test_a_registration_takes_two_round_trips(desk: ConsumerDesk):
    desk.register()
    before = desk.dal.round_trips
    desk.register()
    assert desk.dal.round_trips - before == 2


def test_a_beat_tells_what_waits_and_since_when(desk: ConsumerDesk):
    consumer_id, other_id = desk.register().consumer_id, desk.register("c2").consumer_id
    definition = desk.rows.definition(env_code=5)
    instance = desk.rows.instance(definition)
    minutes = Sql(f"DATE_SUB('{START:%Y-%m-%d %H:%M:%S}', INTERVAL n MINUTE)")
    desk.rows.many_acks(5, instance_id=instance.instance_id, consumer_id=consumer_id, next_due=START + timedelta(hours=1), created=minutes)
    held = {"next_due": None, "status": int(AckStatus.HELD), "created": START - timedelta(days=1)}
    desk.rows.many_acks(3, instance_id=instance.instance_id, consumer_id=consumer_id, **held)
    desk.rows.many_acks(3, instance_id=instance.instance_id, consumer_id=other_id, next_due=START)
    answer = desk.beat()
    assert (answer.pending, answer.oldest_pending_seconds) == (5, 240)
    assert [(item.pending, item.oldest_pending_seconds) for item in desk.page().items] == [(5, 240), (3, 0)]


def test_what_waits_is_counted_to_a_thousand(desk: ConsumerDesk):
    consumer_id = desk.register().consumer_id
    instance = desk.rows.instance(desk.rows.definition(env_code=5))
    desk.rows.many_acks(1_200, instance_id=instance.instance_id, consumer_id=consumer_id, next_due=START)
    assert desk.beat().pending == 1_000


def test_progress_is_kept_until_the_consumer_says_something_else(desk: ConsumerDesk):
    desk.register()
    desk.beat(progress={"outbox_depth": 3, "oldest_seconds": 1.5, "last_ack_guid": "5f0c1a9e-0000-4000-8000-000000000001"})
    desk.beat()
    told = ConsumerProgress(outbox_depth=3, oldest_seconds=1.5, last_ack_guid="5f0c1a9e-0000-4000-8000-000000000001")
    assert desk.one().progress == told
    desk.beat(progress={"outbox_depth": 0})
    assert desk.one().progress == ConsumerProgress(outbox_depth=0)


@pytest.mark.scenario(43)
def test_a_beat_of_an_unknown_consumer_is_refused_and_makes_none(desk: ConsumerDesk):
    desk.register("c1", env_code=2)
    for consumer, env_code in (("c1", 1), ("C1", 2), ("c1 ", 2), ("c2", 2)):
        with pytest.raises(NotFoundError) as caught:
            desk.beat(consumer, env_code=env_code)
        assert caught.value.code == "CONSUMER_NOT_FOUND"
    assert desk.column("SELECT COUNT(*) FROM consumer") == [1]


@pytest.mark.scenario(113)
def test_only_the_owner_and_whom_it_named_may_beat_register_and_delete(desk: ConsumerDesk):
    desk.register(principals=[OTHER_ROLE])
    desk.clock.advance(10)
    desk.beat(principal=OTHER_ROLE)
    desk.clock.advance(10)
    stranger = "iam:123456789012:role/billin"
    for act in (desk.beat, desk.register, desk.delete):
        with pytest.raises(NotOwnerError):
            act(principal=stranger)
    assert desk.one().last_beat == START + timedelta(seconds=10)
    assert desk.delete(principal=OTHER_ROLE).deleted


@pytest.mark.scenario(113)
def test_two_sessions_of_one_role_are_the_same_owner_and_another_role_is_not(desk: ConsumerDesk):
    def caller(role: str, session: str) -> str:
        arn = f"arn:aws:sts::123456789012:assumed-role/{role}/{session}"
        return principal_of({"requestContext": {"authorizer": {"iam": {"userArn": arn}}}})

    desk.register(principal=caller("billing", "i-0001"))
    desk.beat(principal=caller("billing", "i-0002"))
    with pytest.raises(NotOwnerError):
        desk.beat(principal=caller("shipping", "i-0001"))


@pytest.mark.parametrize("name", ['quo"ted', "back\\slash", "com,ma", ',"', "[", "]", "ünï 'x' 🙂", "%s", "a\\", "jwt:https://issuer|sub"])
def test_every_principal_that_was_named_may_beat_and_no_part_of_it_may(desk: ConsumerDesk, name: str):
    desk.register(principals=["first", name, "last"])
    desk.clock.advance(1)
    desk.beat(principal=name)
    assert desk.one().last_beat == START + timedelta(seconds=1)
    desk.clock.advance(1)
    for part in {name[1:], name[:-1], f"{name}x", f'first","{name}', '","', ",", '"', name.upper()} - {name, ""}:
        with pytest.raises(NotOwnerError):
            desk.beat(principal=part)
    assert desk.one().last_beat == START + timedelta(seconds=1)


def test_a_named_principal_that_registers_again_stays_named_and_the_owner_stays_owner(desk: ConsumerDesk):
    desk.register(principals=[OTHER_ROLE, "iam:123456789012:role/gone"])
    desk.register(principal=OTHER_ROLE)
    assert (desk.one().owner, desk.one().principals) == (ROLE, [OTHER_ROLE])
    desk.register()
    assert desk.one().principals == []


def test_registering_again_replaces_the_registration(desk: ConsumerDesk):
    fields = {"routes": ["APP.*", "MAIL.?"], "beat_seconds": 20, "on_exhausted": "park", "definitions": ["Vendor", " vendor ", "Order"], "kinds": ["hook"]}
    consumer_id = desk.register(**fields).consumer_id
    assert desk.one() == view(consumer_id, **fields, alive_until=START + timedelta(seconds=60))
    assert desk.column("SELECT CONVERT(definition_key USING utf8mb4) FROM subscription ORDER BY 1") == ["order", "vendor"]
    desk.register(definitions=["Order", "*"])
    assert desk.one() == view(consumer_id, definitions=["Order", "*"])
    assert desk.column("SELECT CONVERT(definition_key USING utf8mb4) FROM subscription") == ["*"]


def test_names_are_compared_exactly_within_their_environment(desk: ConsumerDesk):
    ids = {desk.register(name, env_code=env_code).consumer_id for name in ("c1", "C1", "c1 ", "ç1") for env_code in (1, 2)}
    assert len(ids) == 8


@pytest.mark.scenario(111)
def test_registering_beating_and_deleting_touch_no_ack_row(desk: ConsumerDesk):
    consumer = desk.rows.consumer("c1", owner=ROLE)
    instance = desk.rows.instance(desk.rows.definition(env_code=5))
    for status, due in (
        (AckStatus.PENDING, START),
        (AckStatus.HELD, None),
        (AckStatus.DELIVERED, START),
        (AckStatus.PROCESSED, None),
        (AckStatus.PARKED, None),
    ):
        desk.rows.many_acks(2, instance_id=instance.instance_id, consumer_id=consumer.consumer_id, status=int(status), next_due=due)
    before = desk.rows.run("SELECT * FROM ack_consumer ORDER BY ack_id")
    desk.clock.advance(600)
    desk.register(definitions=["other"], kinds=["hook"], routes=["X"], on_exhausted="skip", beat_seconds=None)
    desk.beat()
    assert desk.delete().consumer_id == consumer.consumer_id
    assert desk.rows.run("SELECT * FROM ack_consumer ORDER BY ack_id") == before


@pytest.mark.scenario(112)
def test_a_deleted_consumer_listens_to_nothing_and_the_monitor_is_told_to_close_its_rows(desk: ConsumerDesk):
    consumer_id = desk.register().consumer_id
    answer = desk.delete()
    assert (answer.consumer_id, answer.consumer, answer.env_code, answer.deleted) == (consumer_id, "c1", 1, True)
    assert desk.column("SELECT COUNT(*) FROM subscription") == [0]
    assert desk.rows.run("SELECT deleted_id = id, closed_ack_id FROM consumer") == ((1, 0),)
    assert desk.page().items == []
    for act in (desk.beat, desk.delete):
        with pytest.raises(NotFoundError):
            act()


def test_a_name_that_was_deleted_can_be_registered_by_anybody_as_a_new_consumer_with_a_new_key(desk: ConsumerDesk):
    first = desk.register()
    desk.delete()
    second = desk.register(principal=OTHER_ROLE)
    assert second.created
    assert second.consumer_id != first.consumer_id
    assert second.signing_key != first.signing_key
    assert desk.one().owner == OTHER_ROLE


def test_an_operator_gives_a_consumer_to_another_owner_and_writes_more_with_it(desk: ConsumerDesk):
    consumer_id = desk.register(principals=["iam:1:role/worker"]).consumer_id
    seen: list[ConsumerRow] = []

    def audit(row: ConsumerRow):
        seen.append(row)
        return [statement("INSERT INTO category (id, name, name_key) VALUES (%(ROW_ID)s, 'moved', 'moved')", ROW_ID=1)]

    desk.clock.advance(5)
    moved = desk.manager.set_owner(OwnerMove(env_code=1, consumer="c1", principal=OTHER_ROLE), audit, deadline())
    assert moved == view(consumer_id, owner=OTHER_ROLE, principals=["iam:1:role/worker"])
    assert [row.owner for row in seen] == [ROLE]
    assert desk.column("SELECT name FROM category") == ["moved"]
    with pytest.raises(NotOwnerError):
        desk.beat()
    desk.beat(principal=OTHER_ROLE)
    desk.beat(principal="iam:1:role/worker")


def test_a_former_owner_that_had_named_itself_loses_the_consumer_too(desk: ConsumerDesk):
    consumer_id = desk.register(principals=[OTHER_ROLE]).consumer_id
    desk.rows.change("consumer", consumer_id, principals=json.dumps([ROLE, OTHER_ROLE], separators=(",", ":")))
    assert desk.move(OTHER_ROLE).principals == []
    with pytest.raises(NotOwnerError):
        desk.beat()


def test_an_unknown_consumer_cannot_be_given_away(desk: ConsumerDesk):
    with pytest.raises(NotFoundError):
        desk.move(OTHER_ROLE)


def test_consumers_are_listed_by_environment_and_name_a_page_at_a_time(desk: ConsumerDesk):
    for env_code in (2, 1):
        for name in ("b", "a", "c", "ä"):
            desk.register(name, env_code=env_code)
    desk.register("gone")
    desk.delete("gone")
    pages, cursor = [], None
    while True:
        page = desk.page(limit=3, cursor=cursor) if cursor else desk.page(limit=3)
        pages.append([(item.env_code, item.consumer) for item in page.items])
        cursor = page.cursor
        if cursor is None:
            break
    assert pages == [[(2, "a"), (2, "b"), (2, "c")], [(2, "ä"), (1, "a"), (1, "b")], [(1, "c"), (1, "ä")]]
    assert [item.consumer for item in desk.page(env_code=1, limit=4).items] == ["a", "b", "c", "ä"]
    assert desk.page(env_code=1, limit=4).cursor is None
    following = desk.page(env_code=1, limit=2).cursor
    assert [item.consumer for item in desk.page(env_code=1, cursor=following).items] == ["c", "ä"]
    assert desk.page(env_code=9).items == []


@pytest.mark.parametrize(
    "cursor", ["x", "", "bm90IGpzb24", "WyJub3RpY2VzIiwxLDJd", "WyJjb25zdW1lcnMiLC0xLCJhIl0", "WyJjb25zdW1lcnMiLDEsIlx1ZDgwMCJd", "é", "a" * 5_000]
)
def test_a_cursor_that_the_list_did_not_give_out_is_refused(desk: ConsumerDesk, cursor: str):
    with pytest.raises(InvalidRequestError) as caught:
        desk.page(cursor=cursor)
    assert [item.pointer for item in caught.value.errors] == ["/cursor"]


def test_an_endpoint_outside_the_allowed_accounts_and_hosts_is_refused(desk: ConsumerDesk):
    narrow = desk.another(EndpointLimits(accounts=("111111111111",), hosts=("hooks.example.com", "*.example.org")))
    refused = [("sqs", queue_arn()), ("https", "https://example.org/x"), ("https", "https://hooks.example.com.evil.net/"), ("https", "https://xexample.org/")]
    for protocol, address in refused:
        with pytest.raises(InvalidRequestError) as caught:
            narrow.register(endpoint={"protocol": protocol, "address": address})
        assert [(item.pointer, item.code) for item in caught.value.errors] == [("/endpoint/address", "ENDPOINT_NOT_ALLOWED")]
    assert desk.column("SELECT COUNT(*) FROM consumer") == [0]


def test_a_principal_that_does_not_fit_is_refused(desk: ConsumerDesk):
    with pytest.raises(InvalidRequestError):
        desk.register(principal="p" * 1_025)


GOOD = {"env_code": 1, "consumer": "c1", "definitions": ["*"], "kinds": ["hook"]}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("env_code", "1"),
        ("env_code", True),
        ("env_code", -1),
        ("consumer", ""),
        ("consumer", " "),
        ("consumer", "x" * 121),
        ("consumer", "a\nb"),
        ("consumer", "a\u200bb"),
        ("consumer", "\ud800"),
        ("consumer", 5),
        ("definitions", []),
        ("definitions", [" "]),
        ("definitions", "*"),
        ("definitions", ["d"] * 101),
        ("kinds", []),
        ("kinds", ["complete"]),
        ("routes", []),
        ("routes", ["x" * 201]),
        ("beat_seconds", 0),
        ("beat_seconds", 86_401),
        ("beat_seconds", "30"),
        ("beat_seconds", 1.5),
        ("on_exhausted", "fail"),
        ("endpoint", {"protocol": "http", "address": "http://example.com"}),
        ("endpoint", {"protocol": "sqs", "address": "https://example.com"}),
        ("endpoint", {"protocol": "sqs", "address": queue_arn("x.fifo")}),
        ("endpoint", {"protocol": "lambda", "address": queue_arn()}),
        ("endpoint", {"protocol": "https", "address": "http://example.com/"}),
        ("endpoint", {"protocol": "https", "address": "https://user@example.com/"}),
        ("endpoint", {"protocol": "https", "address": "https:///path"}),
        ("endpoint", {"protocol": "https", "address": "https://exa mple.com/"}),
        ("endpoint", {"protocol": "https", "address": "https://example.com:99999/"}),
        ("endpoint", {"protocol": "https", "address": "https://example.com/\n"}),
        ("endpoint", {"protocol": "https", "address": f"https://example.com/{'x' * 2048}"}),
        ("principals", ["x"] * 21),
        ("principals", [""]),
        ("return_key", "yes"),
        ("surplus", 1),
    ],
)
def test_a_registration_with_a_wrong_field_is_refused(field: str, value: object):
    with pytest.raises(ValidationError) as caught:
        RegisterConsumerRequest.model_validate(GOOD | {field: value})
    assert caught.value.errors()[0]["loc"][0] == field


@pytest.mark.parametrize(
    "endpoint",
    [
        {"protocol": "sqs", "address": queue_arn("Billing_queue-1")},
        {"protocol": "lambda", "address": "arn:aws:lambda:eu-central-1:123456789012:function:billing:live"},
        {"protocol": "lambda", "address": "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:billing"},
        {"protocol": "https", "address": "https://hooks.example.com:8443/in?x=1"},
    ],
)
def test_an_endpoint_of_the_right_shape_is_taken(endpoint: dict[str, str]):
    assert RegisterConsumerRequest.model_validate(GOOD | {"endpoint": endpoint}).endpoint is not None


@pytest.mark.parametrize(("body", "is_always_live"), [({}, False), ({"beat_seconds": None}, True), ({"beat_seconds": 5}, False)])
def test_a_beat_of_null_is_a_choice_and_an_absent_one_is_not(body: dict[str, object], is_always_live: bool):  # noqa: FBT001
    assert RegisterConsumerRequest.model_validate(GOOD | body).is_always_live is is_always_live
