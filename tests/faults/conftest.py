"""Fixtures of the tests that kill and lock."""

from collections.abc import Generator

import pytest

from tests.support.killed import Nursery
from tests.support.sessions import Session
from tests.support.wire import Wire


@pytest.fixture(scope="session")
def nursery() -> Generator[Nursery]:
    with Nursery() as made:
        yield made


@pytest.fixture
def session(wire: Wire) -> Generator[Session]:
    made = Session(wire)
    yield made
    made.close()
