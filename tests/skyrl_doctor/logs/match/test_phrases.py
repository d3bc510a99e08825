"""Which lines are errors, and which speak of some."""

import pytest

from skyrl_doctor.logs.match.phrases import count_repeats, is_advice, is_error, is_retried


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: Expected 3D tensor but got 4D",
        "[rank1]: ValueError: rows were skipped",
        "ERROR 03-02 09:14:03 [core.py:843] KeyError: 'x'",
        "Error: could not get runtime",
    ],
)
def test_an_error(text: str) -> None:
    assert is_error(text)


@pytest.mark.parametrize(
    "text",
    [
        'ERROR 03-02 09:14:03 [core.py:843]   File "a.py", line 3, in b',
        "ERROR 03-02 09:14:03 [core.py:843]     return KeyError",
        "ERROR handling: trap set",
        "+ echo ERROR",
        "worker: KeyError: 'x' (expected while reproducing)",
        "WARNING: 503, retrying: ConnectionError: refused",
        "0 errors",
    ],
)
def test_no_error(text: str) -> None:
    assert not is_error(text)


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
