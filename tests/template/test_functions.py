"""The functions: their code, settings, logs, and the schedule of the monitor."""

import json
import re

import pytest

from tests.template.cloudformation import FUNCTIONS, PARAMETER_SETS, ROOT, TEMPLATE, deployed
from workflow_engine.entry.settings import Settings
from workflow_engine.options import WorkFlowEngineOptions

GLOBALS = TEMPLATE["Globals"]["Function"]
SHARED = GLOBALS["Environment"]["Variables"]
MIGRATE_ONLY = {"WFE_DB_MASTER_SECRET_ARN", "WFE_DB_RUNTIME_USER"}
# Read where clients are made, empty in AWS.
ADAPTERS = {"WFE_AWS_ENDPOINT_URL"}
POWERTOOLS = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_LOG_LEVEL"}
OPTIONS = {name: field.default for name, field in WorkFlowEngineOptions.__dataclass_fields__.items()}


def parameter_of(option):
    return "".join(word.capitalize() for word in option.split("_"))


def lambdas(parameter_set):
    return {name: resource for name, resource in deployed(parameter_set)["Resources"].items() if resource["Type"] == "AWS::Lambda::Function"}


def test_every_function_has_its_folder_and_every_folder_its_function():
    folders = {f"functions/{path.parent.name}" for path in (ROOT / "functions").glob("*/handler.py")}
    assert {function["Properties"]["CodeUri"] for function in FUNCTIONS.values()} == folders


def test_every_handler_module_has_the_handler_that_the_template_names():
    assert GLOBALS["Handler"] == "handler.lambda_handler"
    assert not [name for name, function in FUNCTIONS.items() if "Handler" in function["Properties"]]
    for function in FUNCTIONS.values():
        module = ROOT / function["Properties"]["CodeUri"] / "handler.py"
        assert re.search(r"^(def lambda_handler\(|lambda_handler\b.*=|from .* import .*\blambda_handler\b)", module.read_text(), re.MULTILINE), module


def test_a_function_carries_the_name_of_its_folder():
    assert {name: f"functions/{name.removesuffix('Function').lower()}" for name in FUNCTIONS} == {
        name: function["Properties"]["CodeUri"] for name, function in FUNCTIONS.items()
    }


def test_runtime_architecture_and_memory_are_said_in_one_place():
    assert (GLOBALS["Runtime"], GLOBALS["Architectures"], GLOBALS["MemorySize"]) == ({"Ref": "Runtime"}, [{"Ref": "Architecture"}], {"Ref": "MemorySize"})
    said_again = {"Runtime", "Architectures", "MemorySize", "Layers", "Tracing", "VpcConfig"}
    assert not [name for name, function in FUNCTIONS.items() if said_again & function["Properties"].keys()]
    for layer in ("DependenciesLayer", "WorkFlowEngineLayer"):
        properties = TEMPLATE["Resources"][layer]["Properties"]
        assert (properties["CompatibleRuntimes"], properties["CompatibleArchitectures"]) == ([{"Ref": "Runtime"}], [{"Ref": "Architecture"}])


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_every_function_is_built_the_same_way(parameter_set):
    for name, function in lambdas(parameter_set).items():
        properties = function["Properties"]
        assert (properties["Runtime"], properties["Architectures"], properties["Handler"]) == ("python3.13", ["x86_64"], "handler.lambda_handler"), name
        assert properties["TracingConfig"] == {"Mode": "Active"}, name
        assert [next(iter(layer.values())).rstrip("0123456789abcdef") for layer in properties["Layers"]] == ["DependenciesLayer", "WorkFlowEngineLayer"], name
        assert len(properties["VpcConfig"]["SubnetIds"]) == 2, name
        assert len(properties["VpcConfig"]["SecurityGroupIds"]) == 1, name


def test_timeouts_fit_what_waits_for_the_function():
    timeouts = {name: function["Properties"]["Timeout"] for name, function in lambdas("iam-own-dev").items()}
    assert timeouts.pop("MonitorFunction") == 58
    assert timeouts.pop("MigrateFunction") < TEMPLATE["Resources"]["SchemaMigration"]["Properties"]["ServiceTimeout"] == 300
    assert set(timeouts.values()) == {28}


def test_the_environment_is_what_the_settings_read():
    read = {f"WFE_{field.upper()}" for field in Settings.model_fields}
    own = {name: set(function["Properties"].get("Environment", {}).get("Variables", {})) for name, function in FUNCTIONS.items()}
    assert set(SHARED) == (read - MIGRATE_ONLY) | ADAPTERS | POWERTOOLS
    assert {name: variables for name, variables in own.items() if variables} == {"MigrateFunction": MIGRATE_ONLY}


def test_every_option_of_the_engine_is_a_parameter_with_the_engines_default():
    for option, default in OPTIONS.items():
        assert SHARED[f"WFE_{option.upper()}"] == {"Ref": parameter_of(option)}
        written = ",".join(default) if isinstance(default, tuple) else default
        assert TEMPLATE["Parameters"][parameter_of(option)]["Default"] == written, option


def test_a_number_may_be_what_the_settings_accept():
    properties = Settings.model_json_schema()["properties"]
    for option in (name for name, default in OPTIONS.items() if isinstance(default, int | float)):
        parameter = TEMPLATE["Parameters"][parameter_of(option)]
        assert (parameter["MinValue"], parameter["MaxValue"]) == (properties[option]["minimum"], properties[option]["maximum"]), option


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_the_settings_accept_what_the_template_gives(parameter_set):
    for function in lambdas(parameter_set).values():
        variables = function["Properties"]["Environment"]["Variables"]
        given = {name: json.dumps(value) if isinstance(value, dict) else str(value) for name, value in variables.items()}
        settings = Settings.from_environment(given | {"WFE_DB_PORT": "3306"})
        assert settings.db_auth == ("secret" if "existing-secret" in parameter_set else "iam")
        assert (settings.db_secret_arn is not None) == (settings.db_auth == "secret")
        assert settings.database_url is None


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_every_function_writes_into_a_log_group_of_its_own_that_forgets(parameter_set):
    resources = deployed(parameter_set)["Resources"]
    groups = {name: function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for name, function in lambdas(parameter_set).items()}
    assert len(set(groups.values())) == len(FUNCTIONS)
    assert all(resource["Properties"]["RetentionInDays"] for resource in resources.values() if resource["Type"] == "AWS::Logs::LogGroup")


def test_all_functions_wait_for_the_schema():
    assert {name for name, function in FUNCTIONS.items() if function.get("DependsOn") != "SchemaMigration"} == {"MigrateFunction"}


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_the_monitor_runs_once_a_minute_and_is_never_retried(parameter_set):
    resources = deployed(parameter_set)["Resources"]
    (schedule,) = (resource["Properties"] for resource in resources.values() if resource["Type"] == "AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["State"] == ("DISABLED" if parameter_set.endswith("dev") else "ENABLED")
    assert "Name" not in schedule
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    assert "Input" not in schedule["Target"], "the monitor expects the event that the scheduler makes by itself"
    (invoke,) = (resource["Properties"] for resource in resources.values() if resource["Type"] == "AWS::Lambda::EventInvokeConfig")
    assert invoke["FunctionName"] == {"Ref": "MonitorFunction"}
    assert invoke["MaximumRetryAttempts"] == 0
    assert invoke["DestinationConfig"]["OnFailure"]["Destination"] == {"Fn::GetAtt": ["MonitorFailures", "Arn"]}
