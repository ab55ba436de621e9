"""What the engine talks about: requests, answers, rows, events, notices."""
