"""One plain sentence that answers "why does this one stand still?"."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workflow_engine.models.base import time_text
from workflow_engine.models.enums import AckStatus, InstanceStatus
from workflow_engine.models.instance import InstanceView
from workflow_engine.models.why import DownConsumer, GaveUpAck, HeldAck, OpenAck, PossibleEvent, RunningTimeout

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailure:
    """A consumer's own word that it could not do its part of the current step."""

    consumer: str
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyFacts:
    """Everything the sentence may speak of.

    `is_operators` tells who suspended it, `has_acks` whether the current step asked for acknowledgement, `most_held` how many held events of a lane were read.
    """

    instance: InstanceView
    status: InstanceStatus
    is_operators: bool
    has_acks: bool
    open: Sequence[OpenAck]
    held: Sequence[HeldAck]
    most_held: int
    gave_up: Sequence[GaveUpAck]
    failures: Sequence[StepFailure]
    down: Sequence[DownConsumer]
    timeout: RunningTimeout | None
    events: Sequence[PossibleEvent]


def why_summary(facts: WhyFacts) -> str:
    """Say the one thing that holds the instance up; the lists beside it say the rest."""
    return next(said for say in _IN_ORDER if (said := say(facts)) is not None)


def _archived(facts: WhyFacts) -> str | None:
    return "It is archived; nothing can move it any more." if facts.status is InstanceStatus.ARCHIVED else None


def _failed(facts: WhyFacts) -> str | None:
    if facts.status is not InstanceStatus.FAILED:
        return None
    return f"It was ended as Failed{_quoted(facts.instance.message)}, and no event can move it any more{_delivering(facts)}."


def _suspended(facts: WhyFacts) -> str | None:
    if facts.status is not InstanceStatus.SUSPENDED:
        return None
    if facts.is_operators:
        return f"An operator suspended it{_quoted(facts.instance.message)}; it goes on when an operator resumes it."
    cause = next((ack for ack in facts.gave_up if ack.gave_up == "suspend"), None)
    if cause is None:
        return f"The engine suspended it{_quoted(facts.instance.message)}; it goes on when an operator resumes it."
    return (
        f"The engine suspended it because {cause.consumer} did not acknowledge {_step(cause.seq, cause.route)} after {_count(cause.attempts, 'attempt')}; "
        f"it goes on when {cause.consumer} acknowledges or an operator resumes it."
    )


def _completed(facts: WhyFacts) -> str | None:
    if facts.status is not InstanceStatus.COMPLETED:
        return None
    return f"It is Completed in state {facts.instance.current_state}, and no event can move it any more{_delivering(facts)}."


def _parked(facts: WhyFacts) -> str | None:
    parked = next((ack for ack in facts.gave_up if ack.gave_up == "park"), None)
    if parked is None:
        return None
    return (
        f"The engine gave up on {parked.consumer} at {_step(parked.seq, parked.route)} and parked its events{_behind(facts, parked.consumer)}; "
        f"they go on when {parked.consumer} acknowledges or an operator resumes the instance."
    )


def _pending(facts: WhyFacts) -> str | None:
    pending = [ack for ack in facts.open if ack.status == AckStatus.PENDING.label]
    if not pending:
        return None
    first = next((ack for ack in pending if not ack.alive), pending[0])
    who = _names([first.consumer, *(ack.consumer for ack in pending)])
    behind = _behind(facts, first.consumer)
    if not first.alive:
        return f"It waits for {who} to acknowledge {_step(first.seq, first.route)}{behind}; {_silent(facts, first)}{_timeout(facts)}."
    tries = f"sent {_count(first.attempts, 'time')}" if first.attempts else "not sent yet"
    again = f", due at {time_text(first.next_due)}" if first.next_due else ""
    return f"It waits for {who} to acknowledge {_step(first.seq, first.route)} ({tries}{again}){behind}{_timeout(facts)}."


def _delivered(facts: WhyFacts) -> str | None:
    if not facts.open:
        return None
    first = facts.open[0]
    who = _names([ack.consumer for ack in facts.open])
    down = "" if first.alive else f"; {_silent(facts, first)}"
    return f"It waits for {who} to process {_step(first.seq, first.route)}, which was delivered{down}{_timeout(facts)}."


def _reported_failed(facts: WhyFacts) -> str | None:
    if not facts.failures:
        return None
    first = facts.failures[0]
    return f"{first.consumer} reported step {facts.instance.seq} as Failed{_quoted(first.message)}, and nobody has raised the next event{_next(facts)}."


def _skipped(facts: WhyFacts) -> str | None:
    skipped = next((ack for ack in facts.gave_up if ack.gave_up == "skip"), None)
    if skipped is None:
        return None
    skipping = f"The engine gave up on {skipped.consumer} at {_step(skipped.seq, skipped.route)} and went on without it"
    return f"{skipping}, but nobody has raised the next event{_next(facts)}."


def _untouched(facts: WhyFacts) -> str | None:
    return f"It was created in state {facts.instance.current_state}, and no event has moved it yet{_next(facts)}." if facts.instance.seq == 0 else None


def _nobody_triggers(facts: WhyFacts) -> str | None:
    done = f"Every consumer has processed step {facts.instance.seq}" if facts.has_acks else f"Step {facts.instance.seq} asked for no acknowledgement"
    return f"{done}, and nobody has raised the next event{_next(facts)}."


_IN_ORDER: tuple[Callable[[WhyFacts], str | None], ...] = (
    _archived,
    _failed,
    _suspended,
    _completed,
    _parked,
    _pending,
    _delivered,
    _reported_failed,
    _skipped,
    _untouched,
    _nobody_triggers,
)


def _delivering(facts: WhyFacts) -> str:
    if any(ack.held_by is not None and ack.held_by.reason == "suspended" for ack in facts.held) or any(ack.next_due is None for ack in facts.open):
        return "; its last events are held back until an operator resumes it"
    return f"; its last events still go to {_names([ack.consumer for ack in facts.open])}" if facts.open else ""


def _next(facts: WhyFacts) -> str:
    names = [event.name for event in facts.events]
    could = f" ({_names(names, 'or')})" if names else ""
    down = f"; {facts.down[0].consumer} is down since {time_text(facts.down[0].last_beat)}" if facts.down else ""
    return f"{could}{down}{_timeout(facts)}"


def _timeout(facts: WhyFacts) -> str:
    if facts.timeout is None:
        return ""
    does = f"raises {facts.timeout.event.name}" if facts.timeout.event else "raises a notice"
    return f"; the timeout {does} at {time_text(facts.timeout.due_at)}"


def _step(seq: int, route: str | None) -> str:
    return f"step {seq}" if route is None else f"hook {route} of step {seq}"


def _silent(facts: WhyFacts, ack: OpenAck) -> str:
    """Why a consumer is not sent to; one that is neither alive nor down is no longer there."""
    beat = next((down.last_beat for down in facts.down if down.consumer == ack.consumer), None)
    if beat is None:
        return f"{ack.consumer} has been deleted, and the monitor closes its events"
    return f"{ack.consumer} is down since {time_text(beat)}, and gets its events when it beats again"


def _behind(facts: WhyFacts, consumer: str) -> str:
    held = sum(ack.consumer == consumer for ack in facts.held)
    if not held:
        return ""
    return f", with {held} or more later events held behind it" if held >= facts.most_held else f", with {_count(held, 'later event')} held behind it"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _names(names: Sequence[str], last: str = "and") -> str:
    """At most three names, each once, in the given order."""
    unique = list(dict.fromkeys(names))
    if len(unique) > _MOST_NAMES:
        return f"{', '.join(unique[:_MOST_NAMES])} {last} {len(unique) - _MOST_NAMES} more"
    return f" {last} ".join([", ".join(unique[:-1]), unique[-1]] if len(unique) > 1 else unique)


def _quoted(message: str | None) -> str:
    return f' ("{message}")' if message else ""
