"""Where a job that makes no progress waits: the stacks of its processes on this node."""
