"""Batch scripts: the same bytes each time, and clean under shellcheck where there is one."""

from pathlib import Path

import pytest

from scripts import complaints_of_bash
from skyrl_train.config.load import parse
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch.jobs import jobs
from skyrl_train.launch.render import node_script, script

GOLDEN = Path(__file__).parent / "golden"
PLAIN = '[model]\npath = "a/b"\n'
FULL = """
[model]
path = "a/b"
[trainer]
experiment = "third try (A)"
[slurm]
gpu_partition = "gpu"
cpu_partition = "cpu"
account = "lab"
qos = "high"
gpus_per_node = 2
gpu_type = "a100"
exclude = ["n1", "n2"]
requeue = true
extra = ["--constraint=a100&nvlink", "--comment=two words"]
[data]
train_batch_size = 2
[actor]
ppo_mini_batch_size = 2
"""


def scripts(text: str, *, job_dir: str = "/w/jobs/1_launch", work_dir: str = "/w") -> list[str]:
    made = jobs(parse(text), job_dir=job_dir, work_dir=work_dir, python="/opt/py/bin/python3")
    return [text for job in made for text in (script(job), node_script(job))]


@pytest.mark.parametrize(("name", "text"), [("plain", PLAIN), ("full", FULL)])
def test_the_scripts_are_these(name: str, text: str) -> None:
    kinds = (f"{name}_runtime", "runtime_node", f"{name}_trainer", "trainer_node")
    for kind, made in zip(kinds, scripts(text), strict=True):
        assert made == (GOLDEN / f"{kind}.sh").read_text()


def test_a_job_makes_nothing_on_its_node_before_it_listens() -> None:
    jobs_alone = scripts(FULL)[::2]
    assert not any("skyrl_doctor env" in made or "mkdir" in made for made in jobs_alone)


def test_paths_with_spaces_and_quotes_are_one_word_each() -> None:
    for made in scripts(PLAIN, job_dir="/w/my jobs/it's", work_dir="/w/a b"):
        assert """cd '/w/a b'\n""" in made
        assert """export SKYRL_JOB_DIR='/w/my jobs/it'"'"'s'\n""" in made
    for made in scripts(PLAIN, job_dir="/w/my jobs/it's")[::2]:
        assert "#SBATCH \"--output=/w/my jobs/it's/" in made


def test_what_slurm_would_read_in_a_path_is_escaped() -> None:
    for made in scripts(PLAIN, job_dir="/w/it's/50%j")[::2]:
        assert "#SBATCH \"--output=/w/it's/50%%j/" in made
        assert '_%j.out"\n' in made
    for made in scripts(PLAIN, job_dir='/w/a"b\\c')[::2]:
        assert '#SBATCH "--comment=/w/a\\"b\\\\c"\n' in made


@pytest.mark.parametrize("text", [PLAIN, FULL])
@pytest.mark.parametrize("job_dir", ["/w/jobs/1_launch", "/w/my jobs/it's $HOME `id`"])
def test_bash_reads_them(text: str, job_dir: str, tmp_path: Path) -> None:
    for made in scripts(text, job_dir=job_dir):
        assert complaints_of_bash(made, tmp_path) == ""


def test_an_option_over_two_lines_is_refused() -> None:
    config = parse(PLAIN)
    broken = RunConfig.model_validate(
        {**config.model_dump(), "slurm": {**config.slurm.model_dump(), "extra": ("--comment=a\nrm -rf /",)}}
    )
    with pytest.raises(UsageError, match="line break"):
        [script(job) for job in jobs(broken, job_dir="/w", work_dir="/w", python="/p")]
