"""A database-backed workflow engine for serverless teams."""
