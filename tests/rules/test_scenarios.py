"""Every scenario of the acceptance list has a test."""

import ast

import pytest

from tests.rules.source import Violation, modules, obey, planted
from tests.support import full_run

MARKS = "a scenario is marked with its number, written out: @pytest.mark.scenario(14)"


def marked(module):
    """(number, line) of every scenario mark; None for a number that is not written out."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.scenario":
            numbers = [argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, int) else None for argument in node.args]
            yield from ((number, node.lineno) for number in numbers or [None])


def bad_marks(module):
    for number, line in marked(module):
        if number not in full_run.SCENARIOS | full_run.LATER:
            yield Violation(path=module.path, line=line, message=f"{number} is no number of the acceptance list")


def test_every_scenario_has_a_test():
    shown = {number for module in modules("tests") for number, _ in marked(module)}
    left = sorted(full_run.SCENARIOS - shown)
    if left:
        pytest.fail(f"rule broken: every scenario has a test; write one with @pytest.mark.scenario(n) for {', '.join(map(str, left))}", pytrace=False)


def test_scenarios_are_marked_with_numbers_of_the_list():
    obey(MARKS, (found for module in modules("tests") for found in bad_marks(module)))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("@pytest.mark.scenario(999)\ndef test_x(): ...\n", [1]),
        ("@pytest.mark.scenario\ndef test_x(): ...\n", []),
        ("@pytest.mark.scenario()\ndef test_x(): ...\n", [1]),
        ("x = 1\n@pytest.mark.scenario(1, NUMBER)\ndef test_x(): ...\n", [2]),
        ("@pytest.mark.scenario(1, 54)\ndef test_x(): ...\n", []),
    ],
)
def test_a_mark_without_a_number_of_the_list_is_found(text, lines):
    assert [found.line for found in bad_marks(planted(text))] == lines
