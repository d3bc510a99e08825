"""The post-mortem of a job: summary.md in its directory."""
