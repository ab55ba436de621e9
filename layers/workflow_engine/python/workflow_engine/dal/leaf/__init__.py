"""Statements of one table each; used by WorkFlowDAL alone."""
