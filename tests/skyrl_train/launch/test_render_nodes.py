"""The scripts of a trainer job with several nodes: the same bytes each time, and clean under shellcheck."""

from pathlib import Path

import pytest

from scripts import complaints_of_bash
from skyrl_train.config.load import parse
from skyrl_train.launch.jobs import jobs
from skyrl_train.launch.render import node_script, script

GOLDEN = Path(__file__).parent / "golden"
TEXT = """
[model]
path = "a/b"
[slurm]
nodes = 4
gpus_per_node = 8
trainer_cpus = 96
[data]
train_batch_size = 64
[actor]
ppo_mini_batch_size = 64
"""


def made(job_dir: str = "/w/jobs/1_launch") -> dict[str, str]:
    _, trainer = jobs(parse(TEXT), job_dir=job_dir, work_dir="/w", python="/opt/py/bin/python3")
    return {"trainer": script(trainer), "node": node_script(trainer)}


def test_the_scripts_are_these() -> None:
    wanted = {"trainer": "several_trainer.sh", "node": "trainer_node.sh"}
    assert made() == {name: (GOLDEN / file).read_text() for name, file in wanted.items()}


@pytest.mark.parametrize("job_dir", ["/w/jobs/1_launch", "/w/my jobs/it's $HOME `id`"])
def test_bash_and_shellcheck_read_them(job_dir: str, tmp_path: Path) -> None:
    for text in made(job_dir).values():
        assert complaints_of_bash(text, tmp_path) == ""
