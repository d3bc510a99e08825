"""Threads that Ray starts, and the CPUs that it may be told of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.limits import ray_num_cpus, threads_at_start, threads_at_work


@pytest.mark.parametrize(
    ("environ", "usable", "cpus"),
    [
        ({}, 16, 16),
        ({"SLURM_CPUS_PER_TASK": "8"}, 128, 8),
        ({"SLURM_CPUS_ON_NODE": "32", "SLURM_CPUS_PER_TASK": "8"}, 128, 8),
        ({"SLURM_CPUS_PER_TASK": "64"}, 16, 16),
        ({"SLURM_CPUS_PER_TASK": "0"}, 16, 16),
        ({"SLURM_CPUS_PER_TASK": ""}, 16, 16),
        ({"SLURM_CPUS_PER_TASK": " 4 "}, 16, 4),
        ({"SLURM_CPUS_PER_TASK": "eight"}, 16, 16),
        ({"SLURM_CPUS_PER_TASK": "²"}, 16, 16),
    ],
)
def test_ray_is_told_the_cpus_of_the_job(environ: dict[str, str], usable: int, cpus: int) -> None:
    assert ray_num_cpus(environ, usable=usable) == cpus


@given(st.text(), st.integers(min_value=1, max_value=4096))
def test_never_more_than_the_process_may_use(text: str, usable: int) -> None:
    assert 1 <= ray_num_cpus({"SLURM_CPUS_PER_TASK": text}, usable=usable) <= usable


def test_more_workers_need_more_threads() -> None:
    assert (threads_at_start(16), threads_at_work(16)) == (502, 2174)
    assert (threads_at_start(128), threads_at_work(128)) == (2966, 9342)
