"""The story of `make run`: eight chapters, two consumers, and what to try afterwards."""
