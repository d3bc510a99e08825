"""The format of a target, by its name and its text."""

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.detect import detect_format
from skyrl_doctor.plan.source import Source

RUN = "+ python3 -m verl.trainer.main_ppo data.train_batch_size=8\n"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("slurm-7.out", RUN),
        ("train.log", "step: 1\n"),
        ("output", f"{RUN}(TaskRunner pid=12) step:1 - critic/rewards/mean:0.1\n"),
        ("output.txt", "\x1b[36m(WorkerDict pid=12)\x1b[0m loaded\n"),
        ("err.txt", "Traceback (most recent call last):\n"),
    ],
)
def test_a_log_is_refused_with_the_command_that_reads_it(file: str, text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        detect_format(Source(file, text))
    assert str(refusal.value) == (
        f"target {file}: a log, not a configuration; `skyrl-doctor diagnose {file}` finds its cause"
    )


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("run.sh", "(TaskRunner pid=12)\n", "shell"),
        ("run", "#!/bin/bash\npython3 train.py\n", "shell"),
        ("dev", "MODEL=x\n", "shell"),
        ("a.toml", "[model]\n", "toml"),
    ],
)
def test_a_configuration_is_none(file: str, text: str, expected: str) -> None:
    assert detect_format(Source(file, text)) == expected
