"""Other projects' packages, tests and fixtures as judges of ours."""
