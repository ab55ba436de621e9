"""Settings: the environment as a model."""

from dataclasses import asdict

import pytest
from pydantic import ValidationError

from workflow_engine.entry.settings import Settings
from workflow_engine.options import WorkFlowEngineOptions


def test_an_empty_environment_gives_the_engines_own_defaults():
    assert Settings.from_environment({}).options() == WorkFlowEngineOptions()
    assert Settings.from_environment({"WFE_DB_PORT": "", "WFE_MAX_RETRY_COUNT": " "}).options() == WorkFlowEngineOptions()


def test_every_option_has_a_variable():
    given = {f"WFE_{name.upper()}": "7" for name, value in asdict(WorkFlowEngineOptions()).items() if isinstance(value, (int, float))}
    options = Settings.from_environment(
        {**given, "WFE_ENDPOINT_ACCOUNTS": "1, 2,", "WFE_ENDPOINT_HOSTS": "a.example", "WFE_MONITOR_STATE": "DISABLED"}
    ).options()
    assert {value for value in asdict(options).values() if isinstance(value, (int, float))} == {7}
    assert (options.endpoint_accounts, options.endpoint_hosts, options.monitor_state) == (("1", "2"), ("a.example",), "DISABLED")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PORT", "0"),
        ("DB_PORT", "many"),
        ("DB_AUTH", "password"),
        ("DB_NAME", "x; DROP"),
        ("MONITOR_STATE", "maybe"),
        ("BACKOFF_FACTOR", "0.5"),
        ("BACKOFF_FACTOR", "nan"),
        ("MONITOR_INTERVAL_SECONDS", "0"),
        ("MAX_RETRY_COUNT", "-1"),
    ],
)
def test_a_wrong_value_is_refused_at_the_first_use_without_repeating_it(name, value):
    with pytest.raises(ValidationError) as caught:
        Settings.from_environment({f"WFE_{name}": value})
    assert name.lower() in str(caught.value)
    assert "input_value" not in str(caught.value)
