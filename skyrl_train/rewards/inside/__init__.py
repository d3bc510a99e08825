"""Programs of the grader that run in sandboxes, with the standard library alone: the changes of the agent, and the tests."""
