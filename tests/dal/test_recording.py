"""What runs on the database is noted, so that a whole test run can name the statements that never ran."""

from tests.support import full_run
from workflow_engine.dal import Deadline


def test_a_statement_that_ran_is_noted(bench):
    query = bench.dal.environment.get_by_code(1)
    full_run._ran.discard(query.sql)
    bench.dal.first(bench.dal.reading(Deadline.after(5)), query)
    assert query.sql in full_run._ran
