"""Which numbers in the names of logs and directories look like ids of Slurm jobs."""

import pytest

from skyrl_doctor.logs.read.job_names import certain_id, likely_id, stem


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("slurm-81230.out", "81230"),
        ("slurm-81230_4.out", "81230_4"),
        ("slurm-12-n01.out", "12"),
        ("slurm_12.log.gz", "12"),
        ("grpo-81230.out", ""),
        ("slurmctld.log", ""),
        ("test-slurm24.log", ""),
        ("slurm_20261123.log", ""),
    ],
)
def test_names_that_only_slurm_gives(name: str, id_: str) -> None:
    assert certain_id(f"/jobs/{name}") == id_


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("grpo-81230.err", "81230"),
        ("grpo_81230_4.out", "81230_4"),
        ("81230.out", "81230"),
        ("o81230.out", "81230"),
        ("train_81230.log", "81230"),
        ("train.81230.txt", "81230"),
        ("train_81230.log.gz", "81230"),
        ("81230_train.log", "81230"),
        ("81230.0.out", "81230"),
        ("81230_0_log.out", "81230"),
        ("81230_4_0_log.err", "81230_4"),
        ("job_812.out", "812"),
        ("grpo-multinode-81230.out", "81230"),
        ("multi_gpu_81230.out", "81230"),
        ("export_81230.out", "81230"),
        ("score_81230.out", "81230"),
        ("stepwise_81230.out", "81230"),
        ("grpo_20261123_81230.out", "81230"),
        ("job-81230", "81230"),
        ("grpo_20261123_812345.out", "812345"),
    ],
)
def test_names_with_the_id_of_a_job(name: str, id_: str) -> None:
    assert likely_id(name) == id_


@pytest.mark.parametrize(
    "name",
    [
        "worker-0c1f-01000000-99123.out",
        "python-core-worker-0c1f2a_99123.log",
        "ray_client_server_23000.out",
        "node-1234.out",
        "run_ctx_4096.out",
        "len_16384.out",
        "seed_1234.out",
        "seed-12345.out",
        "2048.out",
        "global_step_10000",
        "10000-samples.log",
        "train-20261123.out",
        "train-20261123_153012.out",
        "train-2026-11-23_153012.out",
        "reward_1123_101112.log",
        "slurm_20261123.log",
        "train.log",
        "none.out",
    ],
)
def test_names_whose_number_is_something_else(name: str) -> None:
    assert likely_id(name) == ""


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.out", "a"), ("a.err", "a"), ("a.log.1.gz", "a"), ("a.b.txt", "a.b"), ("a", "a"), ("a.81230.out", "a.81230")],
)
def test_the_stem_of_a_log(name: str, expected: str) -> None:
    assert stem(name) == expected
