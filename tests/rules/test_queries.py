"""Guidelines 1.1, 1.2, 1.4 and 1.5: what a named statement looks like."""

import pytest

from tests.rules.constants import Constant, all_constants, constants_of, misshapen
from tests.rules.query_rules import BOUNDED_OTHERWISE, OTHER_STATEMENTS, SESSION_SETTINGS, broken
from tests.rules.source import in_package, obey, planted

SHAPE = "every member of a QRY_ class is one plain text on one line (guidelines 1.1, 1.2)"
CONTENT = "a statement is portable, readable and has its values from outside (guidelines 1.1, 1.4, 1.5)"


def constant(sql, name="GET_ONE", owner="QRY_PLANTED"):
    return Constant(owner=owner, name=name, sql=sql, path="planted.py", line=1)


def test_every_member_of_a_query_class_is_a_plain_text_on_one_line():
    obey(SHAPE, (found for module in in_package("queries") for found in misshapen(module)))


def test_every_statement_keeps_the_rules_of_its_text():
    obey(CONTENT, (found for one in all_constants().values() for found in broken(one)))


def test_no_two_constants_have_the_same_text():
    """The same text under two names drifts apart, and a failed statement could not be told by its name."""
    names: dict[str, str] = {}
    doubled = [one for one in all_constants().values() if names.setdefault(one.sql, one.full_name) != one.full_name]
    obey("a statement has one name", (one.says(f"is also {names[one.sql]}") for one in doubled))


def test_what_is_exempt_exists():
    gone = (OTHER_STATEMENTS - {one.owner for one in all_constants().values()}) | ((SESSION_SETTINGS | BOUNDED_OTHERWISE) - all_constants().keys())
    assert not gone, f"take them off the lists in query_rules.py: {sorted(gone)}"


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ('A = f"SELECT {x}"', "f-string"),
        ('A = "SELECT 1" "FROM x"', "put together"),
        ('A = "SELECT " + "1"', "not a plain text"),
        ('A = "SELECT {}".format(1)', "not a plain text"),
        ('A = (\n        "SELECT 1"\n    )', "not on one line"),
        ('A = """SELECT\n1"""', "not on one line"),
        ('A: str = "SELECT 1"', "a member is NAME"),
        ("def get(self): ...", "a member is NAME"),
    ],
)
def test_a_member_that_is_no_plain_text_is_found(member, said):
    (found,) = misshapen(planted(f'"""SQL."""\n\n\nclass QRY_PLANTED:\n    """Why."""\n\n    {member}\n'))
    assert said in found.message
    assert found.line == 7


def test_what_lies_beside_the_classes_is_found():
    assert [found.line for found in misshapen(planted('"""SQL."""\nimport re\nclass QRY_A:\n    GET = "SELECT 1"\nclass Other: ...\n'))] == [2, 5]


def test_constants_are_read_with_their_place():
    (found,) = constants_of(planted('"""SQL."""\nclass QRY_A:\n    # why\n    GET_X = "SELECT 1 AS x"\n'))
    assert (found.full_name, found.sql, found.line) == ("QRY_A.GET_X", "SELECT 1 AS x", 4)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT a FROM t;", "semicolon"),
        ("SELECT * FROM t", "columns"),
        ("SELECT t.* FROM t", "columns"),
        ("SELECT DISTINCT * FROM t", "columns"),
        ("SELECT a FROM t WHERE b LIKE 'x%'", "%%"),
        ("SELECT a FROM t WHERE b = %(lower)s", "upper case"),
        ("SELECT a FROM t WHERE b = %(ID)s", "upper case: ID"),
        ("SELECT a FROM t WHERE b = %(NAME)s", "upper case: NAME"),
        ("SELECT LAST_INSERT_ID() AS a", "known before"),
        ("SELECT ROW_COUNT() AS a", "how many"),
        ("SELECT a FROM t FOR SHARE", "FOR SHARE"),
        ("SELECT GET_LOCK('a', 1) AS a", "rows"),
        ("SELECT @a AS a", "variables"),
        ("SELECT a FROM t WHERE flags = 4", "parameters"),
        ("SELECT a FROM t WHERE t.flags & 4", "parameters"),
        ("SELECT a FROM t WHERE 4 & t.flags", "parameters"),
        ("SELECT a FROM t WHERE status IN (1, 2)", "parameters"),
        ("SELECT a FROM t WHERE x.status <> 3", "parameters"),
        ("SELECT NOW() AS a", "parameter (NOW)"),
        ("SELECT a FROM t WHERE b < CURRENT_TIMESTAMP", "parameter (NOW)"),
        ("SELECT UTC_TIMESTAMP(6) AS a", "parameter (NOW)"),
        ("SELECT SYSDATE() AS a", "parameter (NOW)"),
        ("SELECT UUID() AS a", "made in Python"),
        ("SELECT a  FROM t", "single spaces"),
        ("SELECT a FROM t ", "single spaces"),
        ("SELECT a from t", "upper case: from"),
        ("SELECT max(a) AS a FROM t", "upper case: max"),
        ("SELECT a FROM ack_consumer WHERE a = %(ACK_ID)s FOR UPDATE", "only rows of instance"),
        ("SELECT i.a FROM instance i JOIN t ON t.a = i.a FOR UPDATE", "only rows of instance"),
    ],
)
def test_what_a_statement_may_not_say_is_found(sql, said):
    assert [said for found in broken(constant(sql)) if said in found.message] == [said]


@pytest.mark.parametrize(
    ("name", "sql", "said"),
    [
        ("FIND_ONE", "SELECT a FROM t", "begins with one of"),
        ("get_one", "SELECT a FROM t", "upper case"),
        ("GET_ONE", "UPDATE t SET a = %(A)s", "begins with SELECT"),
        ("INSERT", "INSERT IGNORE INTO t (a) VALUES (%(A)s)", "restarts"),
        ("INSERT", "INSERT INTO t (a) VALUES (%(A)s) ON DUPLICATE KEY UPDATE a = 1", "restarts"),
        ("INSERT", "INSERT INTO t (a) VALUES (%(A)s) AS new", "row alias"),
        ("INSERT", "INSERT INTO t (a) VALUES (%(A)s) RETURNING a", "RETURNING"),
        ("LIST_ALL", "SELECT a FROM t LIMIT %(TAKE)s", "ORDER BY"),
        ("LIST_ALL", "SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 5) x WHERE a IN %(ALL_A)s", "ORDER BY"),
        ("LIST_ALL", "SELECT a FROM t ORDER BY a", "bound"),
        ("LIST_ALL", "SELECT a FROM t WHERE a = (SELECT b FROM u LIMIT 1) ORDER BY a", "bound"),
        ("UPDATE_ALL", "UPDATE instance SET seq = %(SEQ)s WHERE guid = %(INSTANCE_GUID)s", "primary key"),
        ("UPDATE_ALL", "UPDATE instance SET seq = %(SEQ)s WHERE definition_id = %(DEFINITION_ID)s", "primary key"),
        ("UPDATE_ALL", "UPDATE ack_consumer SET seq = %(SEQ)s WHERE ack_id = %(ACK_ID)s", "primary key"),
        ("DELETE_ALL", "DELETE FROM ack_consumer WHERE consumer_id = %(CONSUMER_ID)s", "primary key"),
    ],
)
def test_a_statement_that_does_not_keep_the_promise_of_its_name_is_found(name, sql, said):
    assert [said for found in broken(constant(sql, name)) if said in found.message] == [said]


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("COUNT_ALL", "SELECT COUNT(*) AS count FROM t WHERE b LIKE 'from %%'"),
        ("LIST_BY_IDS", "SELECT a.flags, a.status FROM t a WHERE a.id IN %(T_IDS)s AND a.status = %(ACK_STATUS)s ORDER BY a.id"),
        ("UPDATE_SEQ", "UPDATE instance SET seq = %(SEQ)s WHERE id = %(INSTANCE_ID)s"),
        ("LIST_LOCKED", "SELECT id FROM instance WHERE id IN %(INSTANCE_IDS)s ORDER BY id FOR UPDATE SKIP LOCKED"),
    ],
)
def test_ordinary_statements_are_left_alone(name, sql):
    assert list(broken(constant(sql, name))) == []
