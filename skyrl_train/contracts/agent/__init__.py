"""The agent as others see it: calls, tools, limits, transcripts, counts and alarms."""
