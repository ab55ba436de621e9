"""One stack for the tests of the examples, in a process of its own as `make serve` runs it, and an environment on it for every test."""

import itertools

import pytest

from tests.examples.place import Place
from tests.support.server import create_database, drop_database
from tests.support.stack import serving

# The first environment is the README's.
_NUMBERS = itertools.count(2)


@pytest.fixture(scope="session")
def served(database_server):
    url = create_database(database_server.url)
    with serving(WFE_PORT="0", WFE_DATABASE_URL=url) as process:
        yield process.ready()
    drop_database(url)


@pytest.fixture(scope="session")
def new_place(served):
    about = served.ok("GET", "/_local")
    return lambda: Place(stack=served, env_code=next(_NUMBERS), about=about).prepare()


@pytest.fixture
def place(new_place):
    return new_place()
