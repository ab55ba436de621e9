"""Which transition an event means, or why it means none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.made import blueprint, instance_row
from workflow_engine.engine.rules.transitions import judge
from workflow_engine.models.enums import RefusalReason
from workflow_engine.models.flags import LifeCycleInstanceFlag

ACTIVE, SUSPENDED, COMPLETED, FAILED, ARCHIVED = LifeCycleInstanceFlag
MADE = blueprint()
STATES = {state.name: state for state in MADE.states.values()}
# What is true of an instance in Open whatever else is: Submit leads here, Close and Touch lead on, Later is nothing.
REASONS = {"Submit": RefusalReason.NO_OP_ALREADY_IN_STATE, "Close": None, "Touch": None, "Later": RefusalReason.UNKNOWN_EVENT}


@pytest.mark.parametrize("event", REASONS)
def test_in_an_active_instance_the_event_decides(event: str):
    verdict = judge(MADE, instance_row(current_state_id=STATES["Open"].state_id), STATES["Open"], event)
    assert verdict.reason is REASONS[event]
    assert (verdict.edge is None) == (verdict.reason is not None)


def test_a_new_instance_stands_in_the_initial_state():
    assert MADE.initial_state is STATES["Draft"]
    verdict = judge(MADE, None, MADE.initial_state, "Submit")
    assert verdict.edge_to_take.to_state_id == STATES["Open"].state_id
    assert judge(MADE, None, MADE.initial_state, "Close").reason is RefusalReason.INVALID_TRANSITION


@pytest.mark.parametrize("event", REASONS)
@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (COMPLETED, RefusalReason.INSTANCE_IS_TERMINAL),
        (FAILED, RefusalReason.INSTANCE_IS_TERMINAL),
        (ARCHIVED, RefusalReason.INSTANCE_IS_TERMINAL),
        (COMPLETED | SUSPENDED, RefusalReason.INSTANCE_IS_TERMINAL),
        (FAILED | SUSPENDED, RefusalReason.INSTANCE_IS_TERMINAL),
        (ACTIVE | SUSPENDED, RefusalReason.INSTANCE_NOT_ACTIVE),
    ],
)
def test_terminal_comes_before_not_active_and_both_before_the_event(flags: LifeCycleInstanceFlag, reason: RefusalReason, event: str):
    verdict = judge(MADE, instance_row(flags=flags), STATES["Open"], event)
    assert (verdict.reason, verdict.edge) == (reason, None)
    assert (verdict.event is None) == (event == "Later")


def test_a_self_loop_is_a_transition_and_no_repetition():
    verdict = judge(MADE, instance_row(), STATES["Open"], "Touch")
    assert (verdict.edge_to_take.from_state_id, verdict.edge_to_take.to_state_id) == (STATES["Open"].state_id, STATES["Open"].state_id)


def test_a_refused_event_has_no_edge_to_take():
    with pytest.raises(ValueError, match="no edge"):
        _ = judge(MADE, None, STATES["Draft"], "Close").edge_to_take


@pytest.mark.parametrize("event", [10, "10", "0010", " 10 ", "Submit", "SUBMIT", "\tsubmit\n"], ids=repr)
def test_an_event_is_meant_by_code_digits_or_name(event: int | str):
    assert judge(MADE, None, STATES["Draft"], event).edge is not None


@pytest.mark.parametrize("event", [11, "11", "-10", "1O", "", "10.0", "\u0661\u0660", "9" * 120], ids=repr)
def test_what_is_neither_is_unknown(event: int | str):
    assert judge(MADE, None, STATES["Draft"], event).reason is RefusalReason.UNKNOWN_EVENT


EDGES = st.dictionaries(st.tuples(st.sampled_from("ABCD"), st.sampled_from(["Go", "Stop", "Turn"])), st.sampled_from("ABCDE"), min_size=1, max_size=8)


@given(EDGES)
def test_every_state_and_event_of_any_definition_is_judged_as_its_edges_say(edges: dict[tuple[str, str], str]):
    made = blueprint(edges, final=())
    for state in made.states.values():
        for event in made.events.values():
            verdict = judge(made, instance_row(current_state_id=state.state_id), state, event.code)
            target = edges.get((state.name, event.name))
            leads_here = any(end == state.name and name == event.name for (_, name), end in edges.items())
            if target is not None:
                assert made.states[verdict.edge_to_take.to_state_id].name == target
            else:
                assert verdict.reason is (RefusalReason.NO_OP_ALREADY_IN_STATE if leads_here else RefusalReason.INVALID_TRANSITION)
