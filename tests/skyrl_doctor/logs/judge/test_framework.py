"""The framework is read from the first blocks of a log."""

import pytest

from skyrl_doctor.logs.judge.framework import SEARCHED, FrameworkMarks, choose_dialect
from skyrl_doctor.logs.read.blocks import Block


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'  File "/app/verl/trainer/main_ppo.py", line 131, in main', "verl"),
        (b'  File "/app/src/prime_rl/trainer/rl/train.py", line 9, in train', "prime-rl"),
        (b"skyrl-train job: trainer: done\nverl.trainer.main_ppo", "run-config"),
        (b"INFO vllm is ready", ""),
    ],
)
def test_a_framework_names_itself(line: bytes, expected: str) -> None:
    marks = FrameworkMarks()
    marks.add_block(Block(0, line))
    assert choose_dialect(marks.found) == expected


def test_later_parts_of_a_file_are_not_searched() -> None:
    marks = FrameworkMarks()
    marks.add_block(Block(SEARCHED, b"verl.trainer"))
    assert marks.found == set()
