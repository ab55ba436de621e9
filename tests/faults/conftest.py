"""Fixtures of the tests that kill."""

from collections.abc import Generator

import pytest

from tests.support.killed import Nursery


@pytest.fixture(scope="session")
def nursery() -> Generator[Nursery]:
    with Nursery() as made:
        yield made
