"""Eight faults, one at a time: the gate refuses the launch before anything trains, and says what to do."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanes.e2e.whole import LIMIT_S, NAME, Whole, write_images
from lanes.faults.refusals import refused_at_login, refused_in_job
from lanes.slurm.lab import wait_until
from skyrl_train.launch.directory import runtime_url
from skyrl_train.launch.names import KEY, READY
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.e2e


def test_max_tokens_that_no_context_holds(whole: Whole) -> None:
    whole.launch(whole.config(steps=1, **{"max_tokens = 24": "max_tokens = 4000"}))
    refused_at_login(whole, "CFG001", "4000", "max_model_len", "640", "run.toml:", "max_tokens = ")


def test_a_flag_of_an_earlier_run(whole: Whole) -> None:
    whole.job.mkdir()
    (whole.job / READY).write_text("ready\n")
    whole.launch(whole.config(steps=1))
    refused_at_login(whole, READY, "earlier launch", str(whole.job), "--job-dir", status=2)
    assert [path.name for path in whole.job.iterdir()] == [READY]


def test_two_slices_of_one_gpu(whole: Whole) -> None:
    whole.launch(whole.config(steps=1, **{"trainer_cpus = 2": "trainer_cpus = 2\ngpus_per_node = 2"}))
    refused_in_job(whole, Role.TRAINER, "GPU002", "2 MIG slices", "wanted 1", "gpus_per_node = 1", "config.toml:")


def test_images_without_tests(whole: Whole, tmp_path: Path) -> None:
    whole.images = write_images(tmp_path / "bare", tests=False)
    whole.launch(whole.config(steps=1))
    refused_in_job(whole, Role.RUNTIME, "IMG006", NAME, "no tests", "wanted /r2e_tests", "leave these tasks out")


def test_a_key_that_the_runtime_does_not_have(whole: Whole, tmp_path: Path) -> None:
    """The runtime is a launch of its own; the trainer's launch is given its address, and a key of yesterday's."""
    whole.launch(whole.config(steps=1), "--runtime-only")
    wait_until(lambda: runtime_url(str(whole.job)), "the runtime is ready", LIMIT_S)
    url = str(runtime_url(str(whole.job)))
    second = replace(whole, at=tmp_path / "second")
    second.at.mkdir()
    for name, words in (
        ("ALLHANDS_API_KEY", "refuses $ALLHANDS_API_KEY with 401"),
        ("NO_KEY", "refuses no key with 401"),
    ):
        second.launch(second.config(steps=1), "--skip-runtime", "--runtime-url", url, **{name: "yesterday"})
        refused_at_login(second, "RUN001", url, words, "wanted the key", "export ALLHANDS_API_KEY", KEY)
    assert "yesterday" not in second.said
    assert whole.ended(Role.RUNTIME) is None
