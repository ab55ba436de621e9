"""Every SQL statement of the engine, one class a table."""
