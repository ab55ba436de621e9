"""The engine: read, decide, write; commit first, then publish."""
