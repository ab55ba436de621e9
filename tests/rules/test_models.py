"""Guidelines 1.2 and 1.5: models are built by keyword and never change; flag enums carry the prefix."""

import ast
import re

import pytest

from tests.rules.source import PRODUCT, Violation, classes_of, in_package, modules, obey, planted, word

INITS = "a model has no __init__: it is built by keyword, our form of the object initializer (guidelines 1.2)"
SHAPES = "a model is an enum, a WorkFlowModel, or a dataclass with frozen=True, slots=True, kw_only=True (guidelines 1.2)"
FLAGS = "flag enums are named LifeCycle…Flag (guidelines 1.5)"
ENUMS = frozenset({"IntEnum", "StrEnum", "Enum", "IntFlag", "Flag"})
MODELS = frozenset({"WorkFlowModel", "BaseModel"})
# The rest of the engine may count while it works; models may not, except the report that passes add to.
CHANGING_MODELS = frozenset({"MonitorReport"})


def inits(module):
    for kind in classes_of(module.tree):
        yield from (
            Violation(path=module.path, line=member.lineno, message=f"{kind.name} has an __init__; give it fields")
            for member in kind.body
            if isinstance(member, ast.FunctionDef) and member.name in {"__init__", "__new__"}
        )


def dataclass_settings(kind):
    """What @dataclass(…) is told to be, or None where the class is none."""
    for decorator in kind.decorator_list:
        if word(decorator.func if isinstance(decorator, ast.Call) else decorator) == "dataclass":
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            return {keyword.arg for keyword in keywords if isinstance(keyword.value, ast.Constant) and keyword.value.value is True}
    return None


def misshapen_models(module, models):
    for kind in classes_of(module.tree):
        settings = dataclass_settings(kind)
        if {word(base) for base in kind.bases} & (ENUMS | models):
            continue
        if settings is None:
            yield Violation(path=module.path, line=kind.lineno, message=f"{kind.name} is neither enum nor model nor dataclass")
        elif not {"slots", "kw_only"} <= settings or ("frozen" not in settings and kind.name not in CHANGING_MODELS):
            yield Violation(path=module.path, line=kind.lineno, message=f"{kind.name} needs @dataclass(frozen=True, slots=True, kw_only=True)")


def misnamed_flags(module):
    for kind in classes_of(module.tree):
        is_flag = bool({word(base) for base in kind.bases} & {"Flag", "IntFlag"})
        if is_flag != bool(re.fullmatch(r"LifeCycle[A-Z]\w*Flag", kind.name)):
            yield Violation(path=module.path, line=kind.lineno, message=f"{kind.name}: a Flag or IntFlag, and nothing else, is named LifeCycle…Flag")


def model_names():
    """WorkFlowModel and what is derived from it, also by way of another model."""
    names = set(MODELS)
    for _ in range(3):
        names |= {kind.name for module in in_package("models") for kind in classes_of(module.tree) if {word(base) for base in kind.bases} & names}
    return names


def test_no_model_has_an_init():
    obey(INITS, (found for module in in_package("models") for found in inits(module)))


def test_models_are_frozen_and_built_by_keyword():
    names = model_names()
    obey(SHAPES, (found for module in in_package("models") for found in misshapen_models(module, names)))


def test_the_base_of_the_models_is_frozen_and_refuses_unknown_fields():
    (module,) = in_package("models/base.py")
    base = next(kind for kind in classes_of(module.tree) if kind.name == "WorkFlowModel")
    settings = {ast.unparse(node) for node in ast.walk(base) if isinstance(node, ast.keyword)}
    assert {"frozen=True", "extra='forbid'"} <= settings, f"{module.path}: WorkFlowModel is frozen and forbids unknown fields"


def test_no_model_thaws_what_the_base_froze():
    thawed = (
        Violation(path=module.path, line=node.value.lineno, message=f"{ast.unparse(node)}: models do not change")
        for module in in_package("models")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.keyword) and node.arg == "frozen" and not (isinstance(node.value, ast.Constant) and node.value.value is True)
    )
    obey(SHAPES, thawed)


def test_flag_enums_carry_the_prefix():
    obey(FLAGS, (found for module in modules(*PRODUCT) for found in misnamed_flags(module)))


def test_an_init_in_a_model_is_found():
    (found,) = inits(planted("class A:\n    x: int\n\n    def __init__(self, x): ...\n"))
    assert (found.line, found.message) == (4, "A has an __init__; give it fields")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("@dataclass\nclass A: ...\n", [2]),
        ("@dataclass(frozen=True, slots=True)\nclass A: ...\n", [2]),
        ("@dataclass(slots=True, kw_only=True)\nclass A: ...\n", [2]),
        ("class A: ...\n", [1]),
        ("@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)\nclass A: ...\n", []),
        ("class A(WorkFlowModel): ...\nclass B(StrEnum): ...\n", []),
    ],
)
def test_a_model_of_another_shape_is_found(text, lines):
    assert [found.line for found in misshapen_models(planted(text), MODELS)] == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("class StateFlag(IntFlag): ...\n", [1]),
        ("class LifeCycleState(enum.Flag): ...\n", [1]),
        ("class LifeCycleAFlag(StrEnum): ...\n", [1]),
        ("class LifeCycleAFlag(IntFlag): ...\n", []),
    ],
)
def test_a_flag_without_the_prefix_is_found(text, lines):
    assert [found.line for found in misnamed_flags(planted(text))] == lines
