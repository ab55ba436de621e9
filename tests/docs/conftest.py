"""The functions and their sample events, for the pages that show them."""

from tests.functions.conftest import stack  # noqa: F401  # a fixture, found by its name
from tests.functions.test_events import vendors  # noqa: F401
