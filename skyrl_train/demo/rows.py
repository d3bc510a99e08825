"""The demo tasks as rows of R2E-Gym, for `skyrl-train data` and the oracle."""

import json

from skyrl_train.demo.intervals import INTERVALS
from skyrl_train.demo.settings import SETTINGS
from skyrl_train.demo.slugs import SLUGS
from skyrl_train.demo.task import DemoTask

TASKS: tuple[DemoTask, ...] = (SLUGS, INTERVALS, SETTINGS)
IMAGE = "localhost/skyrl-demo/{name}:1"
_COMMIT = "0" * 40


def r2e_row(task: DemoTask) -> dict[str, str]:
    """A row with the gold patch in R2E-Gym's column."""
    diffs = [
        {"header": {"file": {"path": path}}, "old_file_content": task.files[path], "new_file_content": text}
        for path, text in task.gold.items()
    ]
    return {
        "repo_name": task.name,
        "docker_image": IMAGE.format(name=task.name),
        "commit_hash": _COMMIT,
        "problem_statement": task.problem,
        "expected_output_json": json.dumps(task.expected),
        "parsed_commit_content": json.dumps({"file_diffs": diffs}),
    }
