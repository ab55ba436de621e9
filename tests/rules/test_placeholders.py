"""Guidelines 1.5: a placeholder says what its value is, and means the same in every statement."""

import pytest

from tests.rules.constants import Constant, all_constants
from tests.rules.meanings import MEANINGS, misspelt
from tests.rules.source import obey
from tests.rules.sql_text import meetings, placeholders


def constant(sql, name="GET_ONE"):
    return Constant(owner="QRY_PLANTED", name=name, sql=sql, path="planted.py", line=1)


def test_a_placeholder_means_one_thing_and_a_value_has_one_spelling():
    obey("a value has one spelling in every statement (guidelines 1.5)", misspelt(list(all_constants().values())))


def test_no_spelling_has_two_meanings_and_none_is_forgotten_in_the_table():
    names = [name for meaning in MEANINGS for name in meaning.spellings]
    used = set().union(*(placeholders(one.sql) for one in all_constants().values()))
    assert sorted(names) == sorted(set(names))
    assert set(names) <= used, "take what no statement uses out of tests/rules/meanings.py"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT a FROM instance WHERE id = %(PARENT_ID)s", "instance.id is called INSTANCE_ID, not PARENT_ID"),
        ("SELECT i.a FROM ack k JOIN instance i ON i.id = k.a WHERE i.id = %(CONSUMER_ID)s", "instance.id is called INSTANCE_ID"),
        ("UPDATE ack_consumer SET seq = %(SEQ)s WHERE ack_id = %(ACK_ID)s AND consumer_id = %(CONSUMER_NO)s", "ack_consumer.consumer_id is called CONSUMER_ID"),
        ("INSERT INTO hook (id, lifecycle_id) VALUES (%(HOOK_ID)s, %(LC_ID)s)", "hook.lifecycle_id is called LIFECYCLE_ID"),
        ("INSERT INTO lifecycle (id, seq) SELECT %(LIFECYCLE_ID)s, %(POSITION)s FROM instance i", "lifecycle.seq is called SEQ"),
        ("SELECT a FROM hook WHERE position = %(SEQ)s", "SEQ means SEQ, which hook.position does not hold"),
        ("SELECT s.a FROM subscription s WHERE s.definition_key IN (%(DEF_NAME)s, %(ANY_KEY)s)", "subscription.definition_key is called DEF_KEY"),
    ],
)
def test_a_second_spelling_is_found(sql, said):
    assert [said in found.message for found in misspelt([constant(sql)])] == [True]


def test_two_spellings_of_a_column_outside_the_table_are_found():
    found = list(misspelt([constant("SELECT a FROM hook WHERE label = %(LABEL)s"), constant("SELECT a FROM hook h WHERE h.label = %(HOOK_LABEL)s", "GET_TWO")]))
    assert [one.message for one in found] == [
        "QRY_PLANTED.GET_TWO: hook.label is called LABEL in QRY_PLANTED.GET_ONE; one spelling, or an entry in tests/rules/meanings.py"
    ]


def test_columns_and_their_values_are_read_through_aliases_lists_and_inserts():
    sql = "SELECT a FROM t WHERE t.x IN %(XS)s AND y <=> %(Y_KEY)s AND EXISTS (SELECT 1 FROM u v WHERE v.z IN (%(A_KEY)s, v.b))"
    assert set(meetings(sql)) == {("t.x", "XS"), ("t.y", "Y_KEY"), ("u.z", "A_KEY")}
    assert list(meetings("INSERT INTO t (a, b) SELECT %(A_KEY)s, u.b FROM u")) == [("t.a", "A_KEY")]
