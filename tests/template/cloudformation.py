"""template.yaml as its tests see it: as written, after SAM's transform, and with the conditions of one parameter set decided."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml


class Loader(yaml.SafeLoader):
    """YAML with the short forms of CloudFormation's functions."""


def _function(loader: Loader, tag: str, node: yaml.Node) -> dict[str, Any]:
    construct = {yaml.ScalarNode: loader.construct_scalar, yaml.SequenceNode: loader.construct_sequence, yaml.MappingNode: loader.construct_mapping}
    value = construct[type(node)](node, *([] if isinstance(node, yaml.ScalarNode) else [True]))
    if tag == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {tag if tag in {"Ref", "Condition"} else f"Fn::{tag}": value}


Loader.add_multi_constructor("!", _function)

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "template.yaml").read_text()
TEMPLATE: dict[str, Any] = yaml.load(TEXT, Loader)  # noqa: S506  # a SafeLoader
FUNCTIONS = {name: resource for name, resource in TEMPLATE["Resources"].items() if resource["Type"] == "AWS::Serverless::Function"}
METHODS = {"get", "put", "post", "delete", "patch", "head", "options", "x-amazon-apigateway-any-method"}
DEFAULT_ROUTE = ("x-amazon-apigateway-any-method", "/$default")
REGION = "eu-central-1"
NOTHING = {"Ref": "AWS::NoValue"}

JWT = {"AuthMode": "jwt", "JwtIssuer": "https://issuer.example", "JwtAudience": "one,two"}
SECRET = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:"
EXISTING = {"DatabaseHost": "db.example", "DatabaseMasterSecretArn": SECRET + "master", "SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1"}
DATABASES = {
    "own": {},
    "existing-iam": EXISTING | {"DatabaseResourceId": "cluster-ABC"},
    "existing-secret": EXISTING | {"DatabaseSecretArn": SECRET + "runtime"},
}
STAGES = {
    "dev": {"Stage": "dev", "MonitorState": "DISABLED", "DatabaseMinCapacity": "0"},
    "prod": {
        "Stage": "prod",
        "DatabaseStandby": "true",
        "AlarmTopicArn": "arn:aws:sns:eu-central-1:111122223333:alarms",
        "TopicKeyArn": "arn:aws:kms:eu-central-1:111122223333:key/1",
    },
    "prod-alarms": {"Stage": "prod", "AlarmEmail": "someone@example.com"},
}
PARAMETER_SETS = {
    f"{auth}-{database}-{stage}": auth_values | database_values | stage_values
    for auth, auth_values in {"iam": {}, "jwt": JWT}.items()
    for database, database_values in DATABASES.items()
    for stage, stage_values in STAGES.items()
}


def parameters_of(given: dict[str, str]) -> dict[str, Any]:
    """Return every parameter's value: given, else its default."""
    return {name: given.get(name, parameter["Default"]) for name, parameter in TEMPLATE["Parameters"].items()}


def sam_program() -> Path:
    found = shutil.which(os.environ.get("SAM", ROOT / ".local" / "sam" / "bin" / "sam"))
    assert found, "SAM is missing: `make setup` installs it"
    # Named from here by make, and used from other folders too.
    return Path(found).absolute()


@cache
def transformed() -> dict[str, dict[str, Any]]:
    """Return the template after SAM's transform, for every parameter set."""
    source = deepcopy(TEMPLATE)
    for resource in source["Resources"].values():
        for key in {"CodeUri", "ContentUri"} & resource["Properties"].keys():
            resource["Properties"][key] = "s3://bucket/key"
    given = {"template": source, "region": REGION, "parameter_sets": {name: parameters_of(values) for name, values in PARAMETER_SETS.items()}}
    script = Path(__file__).with_name("sam_transform.py")
    command = [str(sam_program().with_name("python")), str(script)]
    result = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@cache
def deployed(name: str) -> dict[str, Any]:
    """Return what CloudFormation would get and keep for a parameter set."""
    return Decided(transformed()[name], parameters_of(PARAMETER_SETS[name])).template()


class Decided:
    """Conditions, and the parameters inside them, are replaced by what they come to; references to resources stay."""

    def __init__(self, source: dict[str, Any], values: dict[str, Any]) -> None:
        self._source, self._values = source, values

    def template(self) -> dict[str, Any]:
        decided = {section: self._decide(self._source[section]) for section in ("Globals", "Outputs") if section in self._source}
        resources = {name: self._decide(resource) for name, resource in self._source["Resources"].items() if self._holds(resource.get("Condition"))}
        return decided | {"Resources": resources}

    def _holds(self, condition: str | None) -> bool:
        return condition is None or self._test(self._source["Conditions"][condition])

    def _test(self, test: dict[str, Any]) -> bool:
        ((operator, operand),) = test.items()
        if operator == "Condition":
            return self._holds(operand)
        if operator == "Fn::Equals":
            left, right = (str(self._decide(side)) for side in operand)
            return left == right
        results = [self._test(part) for part in operand]
        return {"Fn::Not": not results[0], "Fn::And": all(results), "Fn::Or": any(results)}[operator]

    def _decide(self, node: Any) -> Any:
        if isinstance(node, list):
            return [value for value in map(self._decide, node) if value != NOTHING]
        if not isinstance(node, dict):
            return node
        if "Fn::If" in node:
            condition, yes, no = node["Fn::If"]
            return self._decide(yes if self._holds(condition) else no)
        if node.keys() == {"Ref"}:
            return self._values.get(node["Ref"], node)
        return self._joined({key: value for key, inner in node.items() if (value := self._decide(inner)) != NOTHING})

    def _joined(self, node: dict[str, Any]) -> Any:
        if "Fn::Split" in node and isinstance(node["Fn::Split"][1], str):
            return node["Fn::Split"][1].split(node["Fn::Split"][0])
        if isinstance(node.get("Fn::Sub"), str):
            text = re.sub(r"\$\{(\w+)\}", lambda found: str(self._values.get(found[1], found[0])), node["Fn::Sub"])
            return {"Fn::Sub": text} if "${" in text else text
        return node


def walk(node: Any) -> Iterator[Any]:
    """Yield the node and everything inside it."""
    yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(inner)


def references(node: Any) -> Iterator[str]:
    """Yield the names that Ref, Fn::GetAtt and Fn::Sub inside the node point at."""
    for part in walk(node):
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("Ref"), str):
            yield part["Ref"]
        if "Fn::GetAtt" in part:
            target = part["Fn::GetAtt"]
            yield (target.split(".") if isinstance(target, str) else target)[0]
        if "Fn::Sub" in part:
            yield from _substituted(part["Fn::Sub"])


def _substituted(operand: Any) -> Iterator[str]:
    text, local = (operand, {}) if isinstance(operand, str) else operand
    yield from (name.split(".")[0] for name in re.findall(r"\$\{([^}]+)\}", text) if name not in local)


def routes(body: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the operations of an OpenAPI document by (method, path)."""
    return {(method, path): operation for path, item in body["paths"].items() for method, operation in item.items() if method in METHODS}


def statements(resources: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every policy statement, with the name of the resource it stands in."""
    for name, resource in resources.items():
        for part in walk(resource):
            if isinstance(part, dict) and "Effect" in part:
                yield name, part


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
