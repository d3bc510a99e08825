"""All logs of a job as they grow."""
