"""The engine on one machine: database server, tools and stack for development and tests."""
