"""The images that a dataset names."""

import json

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.images.needed import BadName, needed_images
from skyrl_doctor.facts.training_rows import TrainingRows, parse_rows
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.tasks.images import TaskImage
from support import plan_of

ANSWER = {
    "files": [
        {
            "file": "/d.jsonl",
            "rows": 4,
            "without": 1,
            "found": [{"docker_image": "a/bc:1"}, {"image": "docker.io/a/bc:1"}, {"docker_image": "d"}],
        }
    ]
}


def test_names_once_and_bad_ones_apart() -> None:
    needed = needed_images(plan_of(), Environ({}), parse_rows(f"noise\n{json.dumps(ANSWER)}\n"))
    assert (needed.files, needed.rows, needed.without) == (("/d.jsonl",), 4, 1)
    assert list(needed.references) == ["docker.io/a/bc:1"]
    assert needed.bad == (BadName("d", "'d' is one letter; a string was probably split where a list was expected"),)
    assert needed.sources("docker.io/a/bc:1") == frozenset({"r2e-gym"})
    assert needed.named[0] == TaskImage("a/bc:1", "r2e-gym")


def test_a_run_without_sandboxes_needs_no_images() -> None:
    plain = Plan(("run.sh",), "verl")
    for rows in (TrainingRows(count=1, without=1), TrainingRows(unread="pyarrow is not installed")):
        with pytest.raises(NotApplicable, match=r"^the configuration has no agent with tasks in sandboxes$"):
            needed_images(plain, Environ({}), rows)


def test_images_of_rows_that_were_not_read_are_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"^pyarrow is not installed$"):
        needed_images(plan_of(), Environ({}), TrainingRows(unread="pyarrow is not installed"))
