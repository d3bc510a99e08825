import pytest

from skyrl_doctor.facts.checkpoints import Checkpoints, Found

GOOD, CUT, NAMED = (
    Found(step=1, path="/c/global_step_1"),
    Found(step=2, path="/c/global_step_2", faults=("cut",)),
    Found(step=9, path="/d/global_step_9"),
)
THERE = Checkpoints(root="/c", tracker="2", found=(GOOD, CUT), named=NAMED, free=0)


@pytest.mark.parametrize(
    ("mode", "ours", "taken"),
    [
        ("auto", True, GOOD),
        ("auto", False, CUT),
        ("path", True, NAMED),
        ("path", False, NAMED),
        ("disable", True, None),
        ("disable", False, None),
    ],
)
def test_verl_believes_its_tracker_and_we_look(mode: str, ours: bool, taken: Found | None) -> None:
    assert THERE.taken(mode, ours=ours) == taken
