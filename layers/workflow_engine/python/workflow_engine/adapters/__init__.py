"""The outside world: SNS, secrets, the real clock."""
