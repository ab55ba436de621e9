"""Sizes: what is read in one go, and the one handler a function has."""

import re
import tomllib

import pytest

from tests.rules.source import PRODUCT, ROOT, Violation, functions_of, modules, obey, planted

MODULE_LINES = 250
FUNCTION_LINES = 40
HANDLER_LINES = 40


def long_modules(module, most=MODULE_LINES):
    lines = len(module.text.splitlines())
    if lines > most:
        yield Violation(path=module.path, line=lines, message=f"{lines} lines; split it where it speaks of two things")


def long_functions(module):
    for function in functions_of(module.tree):
        lines = (function.end_lineno or 0) - function.lineno + 1
        if lines > FUNCTION_LINES:
            yield Violation(path=module.path, line=function.lineno, message=f"{function.name} has {lines} lines; make its steps functions")


def test_no_module_is_longer_than_can_be_overlooked():
    obey(f"a module has at most {MODULE_LINES} lines", (found for module in modules(*PRODUCT, "local") for found in long_modules(module)))


def test_no_function_is_longer_than_a_screen():
    obey(f"a function has at most {FUNCTION_LINES} lines", (found for module in modules(*PRODUCT, "local") for found in long_functions(module)))


def test_a_handler_holds_no_logic():
    handlers = [module for module in modules("functions") if module.path.endswith("/handler.py")]
    obey(f"a handler has at most {HANDLER_LINES} lines: parse, engine, answer", (found for module in handlers for found in long_modules(module, HANDLER_LINES)))


def test_a_function_is_one_handler_and_nothing_else():
    others = [module for module in modules("functions") if not re.fullmatch(r"functions/\w+/handler\.py", module.path)]
    obey(
        "a function's folder holds handler.py alone; code is shared through the layer",
        (Violation(path=module.path, line=1, message="move it to the layer") for module in others),
    )


def test_every_handler_is_in_the_template_and_the_reverse():
    named = set(re.findall(r"CodeUri: (functions/\w+)", (ROOT / "template.yaml").read_text("utf-8")))
    folders = {f"functions/{path.parent.name}" for path in ROOT.glob("functions/*/handler.py")}
    differ = (
        Violation(path=f"{name}/handler.py", line=1, message="is missing here" if name in named else "is not in template.yaml") for name in named ^ folders
    )
    obey("every handler is a function of template.yaml and the reverse", differ)


def test_ruff_keeps_complexity_and_the_number_of_parameters():
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert (lint["select"], lint["mccabe"]["max-complexity"], lint["pylint"]["max-args"]) == (["ALL"], 8, 6)
    assert not {"C901", "PLR0913", "PLR0917"} & set(lint["ignore"])


@pytest.mark.parametrize(("lines", "found"), [(MODULE_LINES, []), (MODULE_LINES + 1, [MODULE_LINES + 1])])
def test_a_module_that_is_too_long_is_found(lines, found):
    assert [one.line for one in long_modules(planted("x = 1\n" * lines))] == found


@pytest.mark.parametrize(("lines", "found"), [(FUNCTION_LINES, []), (FUNCTION_LINES + 1, [2])])
def test_a_function_that_is_too_long_is_found(lines, found):
    text = "class A:\n    def f():\n" + "        x = 1\n" * (lines - 1)
    assert [one.line for one in long_functions(planted(text))] == found
