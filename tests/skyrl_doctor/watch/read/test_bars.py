"""Progress bars."""

from skyrl_doctor.watch.observations import Bar
from skyrl_doctor.watch.read.bars import bars


def test_bars_the_last_of_each() -> None:
    text = (
        b"\rGenerating rollouts:   0%|          | 0/8 [00:00<?, ?it/s]\rGenerating rollouts:  12%|#1  | 1/8 [1:02:03<00:07,  1.0s/it]\n"
        b"(pid=1) Training Progress:   2%|\xe2\x96\x8f   | 2/100 [15:23<?, ?it/s]\n 3/4 [00:05<00:01]\nhttp://a/8 [00:01<\n"
    )
    assert bars(text, 7.0) == [
        Bar(at=7.0, label="Generating rollouts", done=1, total=8, elapsed_s=3723.0),
        Bar(at=7.0, label="Training Progress", done=2, total=100, elapsed_s=923.0),
        Bar(at=7.0, label="", done=3, total=4, elapsed_s=5.0),
    ]


def test_the_end_of_a_colour_is_no_part_of_a_label() -> None:
    text = b"\x1b[36m(TaskRunner pid=41)\x1b[0m Training Progress:  17%|#  | 18/105 [42:11<3:23:20, 140.24s/it]\n"
    assert bars(text, 1.0) == [Bar(at=1.0, label="Training Progress", done=18, total=105, elapsed_s=2531.0)]
