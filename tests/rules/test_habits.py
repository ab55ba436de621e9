"""Habits: nothing is left for later, no test waits or looks away, every module says what it is for."""

import ast
import io
import re
import tokenize

import pytest

from tests.rules.source import EVERYTHING, Violation, called, modules, obey, planted

LATER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK|for now|temporar\w+)\b", re.IGNORECASE)
LOOKS_AWAY = frozenset({"skip", "skipif", "xfail", "importorskip"})
# A machine's own folders; what a test needs it makes below tmp_path.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/")


def left_for_later(module):
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT and LATER.search(token.string):
            yield Violation(path=module.path, line=token.start[0], message=f"'{token.string[:60]}': do it, or open an issue and leave no trace here")


def looked_away(module):
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr in LOOKS_AWAY and "pytest" in ast.unparse(node.value):
            yield Violation(path=module.path, line=node.lineno, message=f"{ast.unparse(node)}: a test runs everywhere, or it is no test")


def waiting(module):
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and called(node) == "sleep" and ast.unparse(node.func) in {"sleep", "time.sleep"}:
            yield Violation(path=module.path, line=node.lineno, message="move the clock, or wait for what happens (an event, a barrier, a lock)")


def undocumented(module):
    text = ast.get_docstring(module.tree)
    if not text or "." not in text.splitlines()[0]:
        yield Violation(path=module.path, line=1, message="begin with one line that says what the module is for, and end it with a full stop")


def machine_paths(module):
    for number, line in enumerate(module.text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            yield Violation(path=module.path, line=number, message="a path of one machine; take it from the repository's root or from the environment")


@pytest.mark.parametrize(
    ("rule", "check", "folders"),
    [
        ("nothing is left for later", left_for_later, EVERYTHING),
        ("no test is skipped or expected to fail", looked_away, ("tests",)),
        ("no test sleeps", waiting, ("tests",)),
        ("every module says in one line what it is for", undocumented, EVERYTHING),
        ("no path of one machine", machine_paths, EVERYTHING),
    ],
)
def test_habits_are_kept(rule, check, folders):
    obey(rule, (found for module in modules(*folders) if module.text.strip() for found in check(module)))


@pytest.mark.parametrize(
    ("check", "text", "lines"),
    [
        (left_for_later, "x = 1  # to" + "do: more\ny = 'todo'\n", [1]),
        (left_for_later, "# good enough for " + "now\n", [1]),
        (looked_away, "@pytest.mark.xfail\ndef test_x(): ...\n", [1]),
        (looked_away, "def test_x():\n    pytest.skip('no')\n", [2]),
        (waiting, "time.sleep(1)\nclock.sleep(1)\n", [1]),
        (undocumented, "x = 1\n", [1]),
        (undocumented, '"""What it is for."""\n', []),
        (machine_paths, "x = '/ho" + "me/me/x'\ny = 'a/work/b'\n", [1]),
    ],
)
def test_a_bad_habit_is_found(check, text, lines):
    assert [found.line for found in check(planted(text))] == lines
