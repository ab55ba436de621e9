"""Functions on this machine: called in process, built as SAM deploys them, run in Lambda's emulator."""
