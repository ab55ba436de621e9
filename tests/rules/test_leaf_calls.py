"""Guidelines 1.1: every database operation is a named statement, called with exactly its values, by a leaf DAL."""

import ast
import dataclasses
import importlib
import re

import pytest

from tests.rules.constants import Constant, all_constants
from tests.rules.leaf_calls import broken_calls, leaf_calls
from tests.rules.source import PRODUCT, Violation, in_package, modules, obey, planted
from tests.rules.sql_text import columns

CALLS = "a leaf method gives a QRY constant exactly its values, by the runner that its verb asks for (guidelines 1.1)"
SQL_STARTS = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO|REPLACE\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|WITH\s+\w+\s+AS|(CREATE|ALTER|DROP|TRUNCATE)\s+(TABLE|USER|DATABASE|INDEX|VIEW)"
    r"|GRANT\s|SET\s+(SESSION|GLOBAL)|START\s+TRANSACTION|COMMIT$|ROLLBACK$|LOCK\s+TABLES|SHOW\s|EXPLAIN\s)"
)
# The two that are no leaf: Db frames units of work itself.
FRAME = ("dal/db.py",)


def planted_constant(name, sql):
    return {f"QRY_A.{name}": Constant(owner="QRY_A", name=name, sql=sql, path="planted.py", line=1)}


KNOWN = {
    **planted_constant("GET_ONE", "SELECT a FROM t WHERE b = %(B_KEY)s AND c = %(C_KEY)s"),
    **planted_constant("INSERT", "INSERT INTO t (b, c) VALUES (%(B_KEY)s, %(C_KEY)s)"),
}


def test_every_leaf_call_gives_a_constant_exactly_its_values():
    obey(CALLS, (found for module in in_package("dal/leaf") for found in broken_calls(module, all_constants())))


def test_every_constant_has_a_caller():
    used = {call.constant_name for module in in_package("dal/leaf") for call in leaf_calls(module)}
    used |= {ast.unparse(node) for module in in_package(*FRAME) for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}
    unused = (one.says("nobody uses it; delete it") for one in all_constants().values() if one.full_name not in used)
    obey("every constant has a caller in dal (guidelines 1.1)", unused)


def test_every_read_gives_back_the_fields_of_its_row():
    obey("a query's columns are the fields of its row", (found for module in in_package("dal/leaf") for found in drifted(module)))


def test_sql_is_written_in_queries_and_nowhere_else():
    obey(
        "SQL stands in queries/ as a constant, or in sql/ as a migration (guidelines 1.1)",
        (found for module in modules(*PRODUCT) if "/queries/" not in module.path for found in sql_texts(module)),
    )


def drifted(module):
    source = importlib.import_module(module.name)
    for call in leaf_calls(module):
        constant = all_constants().get(call.constant_name or "")
        if call.runner == "query" and constant is not None:
            fields = {field.name for field in dataclasses.fields(getattr(source, ast.unparse(call.node.args[1])))}
            listed = columns(constant.sql)
            if fields != set(listed) or len(listed) != len(set(listed)):
                yield call.says(f"{constant.full_name} and its row differ in {', '.join(sorted(fields ^ set(listed)))}")


def sql_texts(module):
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_STARTS.match(node.value):
            yield Violation(path=module.path, line=node.lineno, message=f"'{node.value[:40]}' looks like SQL")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("query(text, Row, B_KEY=1, C_KEY=2)", "is given a QRY constant"),
        ('query("SELECT 1", Row)', "is given a QRY constant"),
        ("query(QRY_A.GET_OTHER, Row)", "is given a QRY constant"),
        ("query(QRY_A.GET_ONE, Row, B_KEY=1)", "is not given C_KEY"),
        ("query(QRY_A.GET_ONE, Row, B_KEY=1, C_KEY=2, D_KEY=3)", "has no place for D_KEY"),
        ("statement(QRY_A.GET_ONE, B_KEY=1, C_KEY=2)", "goes through query()"),
        ("query(QRY_A.INSERT, Row, B_KEY=1, C_KEY=2)", "goes through bulk or statement()"),
        ("statement(QRY_A.INSERT, 1, B_KEY=1, C_KEY=2)", "positional"),
        ("statement(QRY_A.INSERT, **given)", "write the values"),
        ("bulk(QRY_A.INSERT, rows)", "write the values"),
        ('bulk(QRY_A.INSERT, [{"B_KEY": row} for row in rows])', "is not given C_KEY"),
        ('bulk(QRY_A.INSERT, [{"B_KEY": 1, "C_KEY": 2}, {"B_KEY": 1}])', "the rows differ"),
        ("bulk(QRY_A.INSERT, [helper(row) for row in rows])", "has no place for D_KEY"),
        ("Statement(sql=text, values={})", "instead of Statement"),
        ("run(QRY_A.INSERT)", "nothing else"),
    ],
)
def test_a_call_that_does_not_fit_its_constant_is_found(body, said):
    text = f'def f(given, rows, text):\n    return {body}\n\n\ndef helper(row):\n    return {{"B_KEY": 1, "C_KEY": 2, "D_KEY": row}}\n'
    assert [(found.line, said in found.message) for found in broken_calls(planted(text), KNOWN)] == [(2, True)]


@pytest.mark.parametrize(
    "body",
    [
        "query(QRY_A.GET_ONE, Row, B_KEY=1, C_KEY=2)",
        "query(QRY_A.GET_ONE, Row, C_KEY=2, **values)",
        "statement(QRY_A.INSERT, B_KEY=1, C_KEY=2)",
        'bulk(QRY_A.INSERT, [{**values, "C_KEY": row} for row in rows])',
        "bulk(QRY_A.INSERT, [helper(row) for row in rows])",
    ],
)
def test_calls_that_fit_are_left_alone(body):
    text = f'def f(rows):\n    values = {{"B_KEY": 1}}\n    return {body}\n\n\ndef helper(row):\n    return {{"B_KEY": 1, "C_KEY": row}}\n'
    assert list(broken_calls(planted(text), KNOWN)) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('x = 1\nrun("SELECT a FROM t")\n', [2]),
        ('run(f"UPDATE t SET a = {x}")\n', [1]),
        ('run("""\n  DELETE FROM t""")\n', [1]),
        ('run("COMMIT")\n', [1]),
        ('"""Update the row, with what was read."""\nroute("DELETE", "/v1/x")\n', []),
    ],
)
def test_sql_in_the_wrong_place_is_found(text, lines):
    assert [found.line for found in sql_texts(planted(text))] == lines


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT a.x, b AS y, MAX(c, d) AS z FROM t", ["x", "y", "z"]),
        ("SELECT STRAIGHT_JOIN a.x, (SELECT b, c FROM u) AS y FROM t", ["x", "y"]),
        ("WITH s AS (SELECT q FROM t) SELECT 0 AS part, JSON_OBJECT('a, b', s.q) AS body FROM s UNION ALL SELECT 1, 2", ["part", "body"]),
        ("SELECT EXISTS (SELECT 1 FROM u WHERE u.a = %(A_KEY)s) AS found", ["found"]),
    ],
)
def test_columns_are_read_as_the_server_names_them(sql, names):
    assert columns(sql) == names
