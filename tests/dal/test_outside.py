"""The bench sees it when somebody is told inside a transaction."""

import pytest

from tests.support.outside import OutsideTransactions


def test_telling_inside_a_transaction_fails_the_test(bench):
    outlet = OutsideTransactions(bench.publisher, bench.db)
    with bench.dal.begin(bench.deadline()) as load:
        bench.dal.read(load, bench.dal.environment.get_by_code(1))
        for tell in (lambda: outlet.publish_notices([], bench.deadline()), lambda: outlet.publish([], bench.deadline())):
            with pytest.raises(pytest.fail.Exception, match="commit first, then publish"):
                tell()


def test_telling_after_the_commit_the_rollback_and_without_a_connection_is_fine(bench):
    outlet = OutsideTransactions(bench.publisher, bench.db)
    with bench.dal.begin(bench.deadline()) as load:
        bench.dal.read(load, bench.dal.environment.get_by_code(1))
    outlet.publish_notices([], bench.deadline())
    with bench.dal.begin(bench.deadline()) as load:
        bench.dal.write(load, [bench.dal.environment.get_by_code(1)])
        assert outlet.publish([], bench.deadline()) == []
    bench.db.close()
    outlet.publish_notices([], bench.deadline())
