"""What template.yaml says about the functions: handler, time, memory, layers and environment, with the parameters' defaults put in."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import yaml

from local.machine import ROOT, LocalSetupError

FUNCTION = "AWS::Serverless::Function"
STACK_NAME = "workflow-engine-local"


class _TemplateLoader(yaml.SafeLoader):
    """YAML with the short forms of CloudFormation's functions: `!Ref X` becomes {"Ref": "X"}, `!If …` {"Fn::If": …}."""


def _long_form(loader: _TemplateLoader, tag: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else None
    return {tag if tag in {"Ref", "Condition"} else f"Fn::{tag}": value}


_TemplateLoader.add_multi_constructor("!", _long_form)  # pyright: ignore[reportUnknownMemberType]


def read_template() -> dict[str, Any]:
    """Return template.yaml as written, with CloudFormation's functions in their long form."""
    template: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text("utf-8"), _TemplateLoader)  # noqa: S506  # a SafeLoader
    return template


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaFunction:
    """`name` is the folder below functions/ and events/, `logical_id` the name in the template and the folder in a build."""

    name: str
    logical_id: str
    handler: str
    timeout_seconds: int
    memory_mb: int
    layers: tuple[str, ...]
    environment: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaTemplate:
    """`architecture` as AWS spells it, x86_64 or arm64."""

    runtime: str
    architecture: str
    functions: tuple[LambdaFunction, ...]

    def function(self, wanted: str) -> LambdaFunction:
        """Find a function by its folder or its logical id."""
        for function in self.functions:
            if wanted in {function.name, function.logical_id}:
                return function
        known = ", ".join(function.name for function in self.functions)
        said = f"there is no function '{wanted}'" if wanted else "no function was named"
        raise LocalSetupError(f"{said}: take FN= one of {known}")


@cache
def lambda_template() -> LambdaTemplate:
    source = read_template()
    values = _Values(source)
    shared: dict[str, Any] = source["Globals"]["Function"]
    functions = [_function(name, resource["Properties"], shared, values) for name, resource in source["Resources"].items() if resource["Type"] == FUNCTION]
    return LambdaTemplate(
        runtime=values.text({"Ref": "Runtime"}),
        architecture=values.text({"Ref": "Architecture"}),
        functions=tuple(sorted(functions, key=lambda function: function.name)),
    )


def _function(logical_id: str, own: Mapping[str, Any], shared: Mapping[str, Any], values: "_Values") -> LambdaFunction:
    both = {**shared, **own}
    variables = {**shared["Environment"]["Variables"], **own.get("Environment", {}).get("Variables", {})}
    return LambdaFunction(
        name=str(own["CodeUri"]).removeprefix("functions/"),
        logical_id=logical_id,
        handler=str(both["Handler"]),
        timeout_seconds=int(both["Timeout"]),
        memory_mb=int(values.text(both["MemorySize"])),
        layers=tuple(str(layer["Ref"]) for layer in both["Layers"]),
        environment={name: values.text(value) for name, value in variables.items()},
    )


class _Values:
    """Values with the defaults of the parameters; what only AWS knows (an ARN, a host name) is empty."""

    def __init__(self, source: Mapping[str, Any]) -> None:
        defaults = {name: str(parameter.get("Default", "")) for name, parameter in source["Parameters"].items()}
        self._defaults = {"AWS::StackName": STACK_NAME, **defaults}
        self._conditions: Mapping[str, Any] = source["Conditions"]

    def text(self, value: Any) -> str:
        if not isinstance(value, dict):
            return str(value)
        function = cast("dict[str, Any]", value)
        if "Fn::If" in function:
            condition, yes, no = function["Fn::If"]
            return self.text(yes if self._holds({"Condition": condition}) else no)
        return self._defaults.get(str(function.get("Ref")), "")

    def _holds(self, test: Mapping[str, Any]) -> bool:
        ((operator, operand),) = test.items()
        if operator == "Condition":
            return self._holds(self._conditions[operand])
        if operator == "Fn::Equals":
            left, right = (self.text(side) for side in operand)
            return left == right
        results = [self._holds(part) for part in operand]
        return not results[0] if operator == "Fn::Not" else all(results) if operator == "Fn::And" else any(results)
