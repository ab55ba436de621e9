"""Fixtures that every test may ask for."""

from hypothesis import settings

pytest_plugins = [
    "tests.support.artifacts",
    "tests.support.server",
    "tests.support.engine",
    "tests.support.importing",
    "tests.support.consumers",
    "tests.support.wire",
    "tests.support.stack",
    "tests.support.full_run",
]

# On two busy cores the time of one example says nothing; the rest stays as hypothesis chooses it, here and in CI.
settings.register_profile("patient", parent=settings(), deadline=None)
settings.load_profile("patient")
