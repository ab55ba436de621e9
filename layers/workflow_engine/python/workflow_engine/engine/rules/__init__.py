"""Decisions as pure functions: no database, no clock, no ids made inside."""
