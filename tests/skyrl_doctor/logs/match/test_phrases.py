"""Which lines give advice, announce another try, or are written when processes are ended."""

import pytest

from skyrl_doctor.logs.match.phrases import count_repeats, is_advice, is_retried, is_teardown


def test_what_could_not_be_done_was_not_done() -> None:
    assert not is_advice("", " could not be started")
    assert not is_advice("", " may not be used here")
    assert is_advice("", " can be avoided by")
    assert is_advice("to avoid ", "")


def test_further_tries() -> None:
    assert is_retried(b"Failed, retrying in 1s")
    assert not is_retried(b"Max retries exceeded")
    assert count_repeats(b"x [repeated 6x across cluster]") == 6
    assert count_repeats(b"x") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RuntimeError: DataLoader worker (pid 8) is killed by signal: Killed.", True),
        ("slurmstepd: error: *** STEP 4711.0 ON gpu07 CANCELLED AT 2026-03-02T10:14:05 ***", True),
        ("BrokenPipeError: [Errno 32] Broken pipe", True),
        ("OSError: [Errno 28] No space left on device: '/ckpt/final'", False),
        ("ValueError: odd", False),
    ],
)
def test_lines_of_processes_that_are_ended(text: str, expected: bool) -> None:
    assert is_teardown(text) is expected
