"""What Slurm says of a job, and whose a directory is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.podman.leftovers import has_ended, job_id_of


@pytest.mark.parametrize(
    ("rc", "out", "err", "over"),
    [
        (0, "RUNNING\n", "", False),
        (0, "PENDING\n", "", False),
        (0, "COMPLETING\n", "", False),
        (0, "", "", True),
        (0, "COMPLETED\n", "", True),
        (0, "COMPLETED\nRUNNING\n", "", False),
        (0, "SPECIAL_EXIT\n", "", False),
        (0, "EXPEDITING\n", "", False),
        (0, "A_STATE_OF_LATER_RELEASES\n", "", None),
        (1, "", "slurm_load_jobs error: Invalid job id specified\n", True),
        (1, "", "slurm_load_jobs error: Unable to contact slurm controller\n", None),
        (None, "", "", None),
    ],
)
def test_whether_a_job_is_over(rc: int | None, out: str, err: str, over: bool | None) -> None:
    assert has_ended(rc, out, err) is over


def test_whose_a_directory_is() -> None:
    names = ("skyrl-1000-4711", "skyrl-1000-4711_3", "skyrl-1000-local", "skyrl-100-4711", "skyrl-1000-", "x")
    assert [job_id_of(name, 1000) for name in names] == ["4711", "4711_3", None, None, None, None]


@given(st.text(), st.integers() | st.none(), st.text())
def test_no_input_is_taken_for_a_job_that_ended_well(out: str, rc: int | None, err: str) -> None:
    assert has_ended(rc, out, err) in (True, False, None)
    if rc not in (0, None) and "invalid job id" not in err.lower():
        assert has_ended(rc, out, err) is None
