"""The cost page shows what the script computes, and the script counts what the template has."""

import re

import pytest

from local.pages.cost import DEV, Case, Load, changed, tables
from tests.docs.pages import page
from tests.docs.test_docs import ALARMS, METRICS, TEMPLATE


@pytest.mark.parametrize("name", tables(Case()))
def test_the_page_shows_what_the_script_computes(name):
    assert tables(Case())[name] in page("docs/cost.md"), "run: python -m local.pages.cost"


def test_the_counts_are_those_of_the_template():
    formulas = {line.name: line.formula for line in Case().fixed()}
    assert formulas["Alarms"] == f"{len(ALARMS)} * alarm"
    assert formulas["Metrics"] == f"{len(METRICS)} * metric"
    assert formulas["VPC endpoints"].startswith(f"{len(re.findall('VpcEndpointType: Interface', TEMPLATE))} * ")
    # The signing secret, and the master's, which RDS makes.
    assert formulas["Secrets"] == "2 * secret"
    assert re.search(r"MemorySize:\n.*\n.*\n.*\n    Default: (\d+)", TEMPLATE)[1] == f"{Load().memory_mb:g}"


def test_a_table_adds_up():
    for text in tables(Case()).values():
        amounts = [float(found.replace(",", "")) for found in re.findall(r"\| ([\d.,]+) \|$", text, re.MULTILINE)]
        total = re.search(r"\*\*([\d.,]+)\*\* \|$", text)
        assert total is None or sum(amounts) == pytest.approx(float(total[1].replace(",", "")))


def test_twice_the_transitions_cost_twice_and_change_nothing_that_is_fixed():
    one, two = Case(), changed(Case(), {"transitions": 2e6})
    assert [line.dollars for line in two.with_use()] == pytest.approx([2 * line.dollars for line in one.with_use()])
    assert two.fixed() == one.fixed()


def test_a_stack_that_sleeps_pays_for_no_capacity_and_no_monitor():
    fixed = {line.name: line.dollars for line in changed(Case(), DEV).fixed()}
    assert [name for name in fixed if name.startswith(("Aurora", "Monitor", "Beats")) and fixed[name]] == []


def test_an_unknown_value_is_refused():
    with pytest.raises(ValueError, match="acu_day"):
        changed(Case(), {"acu_day": 1})


def test_the_sentence_about_the_idle_stack_is_true():
    use, fixed = (sum(line.dollars for line in lines) for lines in (Case().with_use(), Case().fixed()))
    assert 2 < use / (fixed / 30) < 4, "about three days"
