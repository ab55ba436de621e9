"""The story itself: one vendor from its request to its account, one that is forgotten, and two services that must hear of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from local.demo.end import show_timeline, show_why
from local.demo.story import APPLICATION, BEAT_SECONDS, DEFINITION, OPERATOR, Story, example

VENDOR, FORGOTTEN = "VENDOR-42", "VENDOR-43"
_HOUR = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    title: str
    explanation: str
    play: Callable[[Story], None]


def play(it: Story, chapters: Sequence[Chapter]) -> None:
    for number, chapter in enumerate(chapters, 1):
        it.begin(number, chapter.title, chapter.explanation)
        chapter.play(it)


def _set_up(it: Story) -> None:
    it.now_at("import of the definition and its policy")
    body = {"env_code": it.env_code, "env_name": "demo", "definition": example("definition"), "policy": example("policy")}
    answer = it.call(OPERATOR, "POST", "/v1/import", body)
    definition, policy = answer["definition"], answer["policy"]
    it.show.line(OPERATOR, "→ import", f"{definition['name']} version {definition['version']}: {definition['result']}", f"hash {definition['hash'][:8]}")
    it.show.more(f"{policy['name']}: {policy['result']}", f"hash {policy['hash'][:8]}")
    it.expect("definition, policy and number of warnings", ("created", "created", 0), (definition["result"], policy["result"], len(answer["warnings"])))
    _show_definition(it)
    subscribed = {name: _register(it, name)["subscription"] for name in it.consumers}
    _confirm(it)
    for name, state in subscribed.items():
        # The first answer may have come before the confirmation; registering again changes nothing and tells.
        it.expect("subscription", "confirmed", state if state == "confirmed" else _register(it, name)["subscription"])


def _show_definition(it: Story) -> None:
    it.now_at("the definition is read back")
    document = it.call(OPERATOR, "GET", f"/v1/definitions/{DEFINITION}", env_code=it.env_code)["document"]
    names = {event["code"]: event["name"] for event in document["events"]}
    exits: dict[str, list[str]] = {}
    for one in document["transitions"]:
        exits.setdefault(one["from"], []).append(f"{names[one['event']]}→{one['to']}")
    it.show.blank()
    it.show.table(["state", "event→next state"], [[state, ", ".join(moves)] for state, moves in exits.items()])
    it.show.blank()


def _register(it: Story, name: str) -> dict[str, Any]:
    consumer = it.consumers[name]
    it.now_at(f"{name} registers")
    body = {"env_code": it.env_code, "consumer": name, "beat_seconds": BEAT_SECONDS, "endpoint": consumer.endpoint, **consumer.wishes}
    answer: dict[str, Any] = it.call(name, "POST", "/v1/consumers", body)
    if answer["created"]:
        consumer.signing_key = answer["signing_key"]
        what = f"consumer {answer['consumer_id']} for {' and '.join(consumer.wishes['kinds'])} events by {consumer.transport}"
        it.show.line(name, "→ register", what, f"subscription {answer['subscription']}")
        it.show.more(consumer.endpoint["address"], f"signing key {consumer.signing_key[:12]}…")
    else:
        it.show.line(name, "→ register", f"consumer {answer['consumer_id']} again", f"subscription {answer['subscription']}")
    return answer


def _confirm(it: Story) -> None:
    it.now_at("registry confirms its subscription")
    it.expect("a SubscriptionConfirmation over HTTPS:", True, it.https.confirmed.wait(it.patience))  # noqa: FBT003  # a value, not a switch
    message = it.https.confirmation
    it.show.line("registry", "← https", f"{message['Type']} of {message['TopicArn'].rpartition(':')[2]}; its SubscribeURL was visited")


def _one_event(it: Story) -> None:
    first = it.trigger(VENDOR, "Start", ("Received", "CheckVendorRegistered"), "form-1")
    told = it.receive("registry", VENDOR, 1, ("transition", "hook"))
    copied = it.receive("audit", VENDOR, 1)
    it.ack("registry", told, "Delivered")
    it.ack("registry", told, "Processed")
    it.ack("audit", copied, "Processed")
    it.show.aside("The same request once more, then an event that has no place in this state:")
    again = it.trigger(VENDOR, "Start", ("Received", "CheckVendorRegistered"), "form-1")
    it.expect("the stored answer", {**first, "replayed": True}, again)
    _refused(it)


def _refused(it: Story) -> None:
    it.now_at("an event that is not allowed here")
    body = {"instance_guid": it.guids[VENDOR], "event": "RemindApprover", "actor": APPLICATION}
    answer = it.call(APPLICATION, "POST", "/v1/trigger", body)
    it.show.line(APPLICATION, "→ trigger", f"{answer['event']['name']}: refused, {answer['reason']}", f"stays in {answer['current_state']}")
    it.expect("a refusal", (False, "InvalidTransition"), (answer["applied"], answer["reason"]))


def _resend(it: Story) -> None:
    it.trigger(VENDOR, "Accept", ("CheckVendorRegistered", "PendingPQValidation"), "form-2")
    [first] = it.receive("registry", VENDOR, 2)
    it.ack("audit", it.receive("audit", VENDOR, 2), "Processed")
    it.move_clock(45, "45 seconds")
    it.monitor()
    [second] = it.receive("registry", VENDOR, 2, attempt=2)
    it.expect("the same bytes", first.text, second.text)
    it.show.more(f"{len(second.text)} bytes, sha256 {second.digest[:12]}…: the same as in attempt 1 ({first.digest[:12]}…)")
    it.ack("registry", [second], "Processed")
    [notice] = it.notices(VENDOR, "ACK_RETRY")
    data = notice["data"]
    _show_notice(it, notice, f"seq {data['seq']} {data['stage']}, sent {data['sends']} times, for {notice['consumer']}")
    it.expect("the notice", ("registry", 2, "pending", 2), (notice["consumer"], data["seq"], data["stage"], data["sends"]))


def _show_notice(it: Story, notice: dict[str, Any], text: str) -> None:
    it.show.line(OPERATOR, "→ notices", f"{notice['code']:<22}  {text}", notice["kind"])


def _forgotten(it: Story) -> None:
    it.trigger(FORGOTTEN, "Start", ("Received", "CheckVendorRegistered"), "form-1")
    it.ack("registry", it.receive("registry", FORGOTTEN, 1, ("transition", "hook")), "Processed")
    it.ack("audit", it.receive("audit", FORGOTTEN, 1), "Processed")
    it.move_clock(25 * _HOUR, "25 hours")
    it.monitor()
    notices = it.notices(FORGOTTEN, "DEFAULT_STATE_STALE")
    for notice in notices:
        data = notice["data"]
        _show_notice(it, notice, f"{data['stale_seconds'] / _HOUR:.0f} h in {data['state_name']}, for {notice['consumer']}")
    it.expect("notices for", [("OverDue", "audit"), ("OverDue", "registry")], [(notice["kind"], notice["consumer"]) for notice in notices])


def _timeout(it: Story) -> None:
    why = it.read(VENDOR, "why")
    it.show.line(OPERATOR, "→ why", why["summary"])
    timeout = why["timeout"]
    it.expect("a running timeout that raises", "ValidationLate", timeout and timeout["event"]["name"])
    it.move_clock(23 * _HOUR + _HOUR // 2, "23½ hours")
    it.monitor()
    told = it.receive("registry", VENDOR, 3, ("transition", "hook"))
    copied = it.receive("audit", VENDOR, 3)
    event = copied[0].event
    it.expect("the event", ("ValidationLate", "PendingPQValidation", "Overdue"), (event["event"]["name"], event["from_state"], event["to_state"]))
    it.show.more(f"its event: {event['event']['name']}, its actor: {event['actor']}")
    it.ack("registry", told, "Processed")
    it.ack("audit", copied, "Processed")
    for code in ("STATE_TIMEOUT_EXCEEDED", "TIMEOUT_FIRED"):
        notices = it.notices(VENDOR, code)
        it.expect(f"notices {code}", 1, len(notices))
        _show_notice(it, notices[0], f"{notices[0]['external_ref']} in {notices[0]['data']['state']}")


def _away(it: Story) -> None:
    audit = it.consumers["audit"]
    audit.is_away, before = True, len(audit.inbox.all)
    it.move_clock(120, "2 minutes")
    moves = [
        ("Accept", "Overdue", "AwaitingApproval"),
        ("RemindApprover", "AwaitingApproval", "AwaitingApproval"),
        ("Accept", "AwaitingApproval", "Registered"),
    ]
    for seq, (event, from_state, to_state) in enumerate(moves, 4):
        it.trigger(VENDOR, event, (from_state, to_state), f"form-{seq}")
        it.ack("registry", it.receive("registry", VENDOR, seq), "Processed")
    it.monitor()
    _show_backlog(it, before)
    audit.is_away = False
    it.now_at("audit beats again")
    answer = it.beat("audit")
    it.show.aside("audit is back:")
    it.show.line("audit", "→ beat", f"{answer['pending']} event due to it, alive until {answer['alive_until'][11:19]} unless it beats again")
    it.monitor()
    for seq in range(4, 4 + len(moves)):
        it.ack("audit", it.receive("audit", VENDOR, seq), "Processed")
    it.now_at("the order in which audit caught up")
    order = [(message.event["seq"], message.attempt) for message in audit.inbox.all[before:]]
    it.expect("seq and attempt", [(4, 1), (5, 1), (6, 1)], order)
    it.show.more(f"arrived as seq {', '.join(str(seq) for seq, _ in order)}, at attempt {', '.join(str(attempt) for _, attempt in order)}")


def _show_backlog(it: Story, before: int) -> None:
    why = it.read(VENDOR, "why")
    it.show.aside("What waits for audit, and why:")
    it.show.line(OPERATOR, "→ why", why["summary"])
    for one in why["open"]:
        alive = "alive" if one["alive"] else "down"
        it.show.more(f"seq {one['seq']}  {one['kind']:<10}  {one['status']} for {one['consumer']}, which is {alive}", f"attempts {one['attempts']}")
    for one in why["held"]:
        it.show.more(f"seq {one['seq']}  held for {one['consumer']}, behind one that is {one['held_by']['reason']}")
    it.expect("open", [(4, "audit", False, 0)], [(one["seq"], one["consumer"], one["alive"], one["attempts"]) for one in why["open"]])
    it.expect("held", [(5, "audit"), (6, "audit")], [(one["seq"], one["consumer"]) for one in why["held"]])
    it.expect("messages to audit while it is away:", 0, len(it.consumers["audit"].inbox.all) - before)


CHAPTERS: tuple[Chapter, ...] = (
    Chapter(
        title="A workflow, and who must be told",
        explanation="An operator imports states, events and a policy as JSON, and two services register to be told: "
        "registry over HTTPS, audit through an SQS queue, each with a signing key of its own.",
        play=_set_up,
    ),
    Chapter(
        title="One event",
        explanation="The portal raises an event: the engine checks it, moves the vendor, commits, and only then tells "
        "everybody of the transition and of the hook (work that the policy attaches to the new state); they answer "
        "Delivered (I have it) and Processed (I am done).",
        play=_one_event,
    ),
    Chapter(
        title="An answer that does not come",
        explanation="registry receives the next event and keeps silent, so the engine sends it the same bytes again, and to nobody else, until it answers.",
        play=_resend,
    ),
    Chapter(
        title="Everybody processed, nobody moved",
        explanation="A second vendor is announced, acknowledged and forgotten: no error anywhere, and yet nothing happens; after a day the engine says so.",
        play=_forgotten,
    ),
    Chapter(
        title="A timeout",
        explanation="The policy gives validation two days; then the engine raises the event itself, through the same door as everybody else.",
        play=_timeout,
    ),
    Chapter(
        title="A consumer that is away",
        explanation="audit stops beating while the vendor goes on to its account: nothing is sent to it, no attempt is used "
        "up, and after its first beat it gets everything, in order.",
        play=_away,
    ),
    Chapter(
        title="The timeline",
        explanation=f"What happened to {VENDOR}, who was told, how often, and who is done: one request.",
        play=lambda it: show_timeline(it, VENDOR),
    ),
    Chapter(title="Why?", explanation=f"And why does {FORGOTTEN} stand where it stands? One request as well.", play=lambda it: show_why(it, FORGOTTEN)),
)
