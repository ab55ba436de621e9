"""Guidelines 1.2: a signature stands on one line."""

import pytest

from tests.rules.headers import wrapped_headers
from tests.rules.source import EVERYTHING, modules, obey, planted

RULE = "headers of functions and classes stand on one line (guidelines 1.2); shorten names or make the parameters a model"


def test_headers_stand_on_one_line_in_product_tools_and_tests_alike():
    obey(RULE, (found for module in modules(*EVERYTHING) for found in wrapped_headers(module)))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f(\n    a,\n):\n    pass\n", [1]),
        ("class A(\n    B,\n): ...\n", [1]),
        ("class A:\n    async def f(self,\n            a): ...\n", [2]),
        ("x = 1\n\n@decorated(\n    1,\n)\ndef f(a) -> dict[\n    str, int\n]:\n    return {}\n", [6]),
        ("def f(a=lambda: {1: 2}) -> dict[str, int]:\n    return {\n        1: 2,\n    }\n", []),
        ("class A[T: int](B): x = (\n    1\n)\n", []),
        ("pattern = (\n    'def f('\n)\nprint(\n    defined\n)\n", []),
    ],
)
def test_a_wrapped_header_is_found_and_nothing_else_is(text, lines):
    assert [found.line for found in wrapped_headers(planted(text))] == lines
