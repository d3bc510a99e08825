"""What looks like an error and is known to nobody; and what further steps have outlived."""

import pytest

from skyrl_doctor.logs.cause.root_cause import FREQUENT, Diagnosis, find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.judge.unmatched import MAX_ERRORS
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

PATTERNS = Patterns(load_signatures())
LOCKED = "Error: beginning container create transaction: database is locked"
ODD = "ValueError: odd"


def steps(first: int, count: int = 3) -> str:
    return "".join(
        f"step:{number} - actor/pg_loss:0.1 - timing_s/step:60.0\n" for number in range(first, first + count)
    )


def diagnosis(**files: str) -> Diagnosis:
    named = {name.replace("_", "."): text.encode() for name, text in files.items()}
    return find_root_cause(
        [scan_chunks(name, [text], PATTERNS, order=order) for order, (name, text) in enumerate(named.items())]
    )


def test_three_steps_outlive_an_error() -> None:
    assert diagnosis(a_log=f"{ODD}\n{steps(1)}").unknown is None
    found = diagnosis(a_log=f"{ODD}\n{steps(1, 2)}").unknown
    assert found is not None


def test_the_one_after_the_steps_is_shown_and_one_of_the_kind_that_was_outlived_is_not() -> None:
    found = diagnosis(a_log=f"{ODD}\n{steps(1)}{ODD}\nKeyError: 'x'\n").unknown
    assert found is not None
    assert (found.number, found.text) == (6, "KeyError: 'x'")


def test_three_steps_outlive_a_known_failure_that_was_rare() -> None:
    found = diagnosis(a_log=f"{LOCKED}\n{steps(1)}")
    assert (found.root, [hit.failure.name for hit in found.survived]) == (None, ["POD009"])
    often = diagnosis(a_log=f"{LOCKED}\n" * FREQUENT + steps(1))
    assert often.root is not None
    again = diagnosis(a_log=f"{LOCKED}\n{steps(1)}{LOCKED}\n")
    assert again.root is not None


def test_steps_of_another_file_tell_by_the_clock() -> None:
    runtime = f"2026-03-02T09:14:03Z {LOCKED}\n"
    later = "".join(f"2026-03-02T1{at}:00:00Z step:{at} - actor/loss:0.1\n" for at in range(3))
    assert diagnosis(runtime_log=runtime, training_out=later).root is None
    earlier = later.replace("2026-03-02", "2026-03-01")
    assert diagnosis(runtime_log=runtime, training_out=earlier).root is not None
    assert diagnosis(runtime_log=f"{LOCKED}\n", training_out=steps(1)).root is not None
    of_some_zone = later.replace("Z", "")
    assert diagnosis(runtime_log=runtime, training_out=of_some_zone).root is not None


def test_a_traceback_too() -> None:
    trace = "Traceback (most recent call last):\n"
    assert diagnosis(a_log=trace).unknown is not None
    assert diagnosis(a_log=trace + steps(1)).unknown is None
    assert diagnosis(a_log=trace + steps(1) + trace).unknown is not None


def noise(lines: int) -> str:
    return "".join(f"ERROR:tools:command {at:x} failed in sandbox\n" for at in range(lines))


def one_by_one(text: str) -> Scan:
    scanner = Scanner("a.log", PATTERNS)
    for line in text.splitlines(keepends=True):
        scanner.feed(line.encode())
        scanner.flush()
    return scanner.finish()


@pytest.mark.parametrize("lines", [MAX_ERRORS - 1, MAX_ERRORS, MAX_ERRORS + 1])
@pytest.mark.parametrize("more", [1, MAX_ERRORS + 1])
def test_after_a_thousand_outlived_errors_a_new_one_is_seen(lines: int, more: int) -> None:
    text = f"{noise(lines)}{steps(1)}{noise(more)}KeyError: 'x'\n{noise(1)}"
    found = diagnosis(a_log=text).unknown
    assert found is not None
    assert (found.number, found.text) == (lines + more + 4, "KeyError: 'x'")
    assert one_by_one(text) == scan_chunks("a.log", [text.encode()], PATTERNS)


def test_an_error_that_was_not_outlived_itself_is_not_old() -> None:
    odd = "ERROR:tools:odd"
    text = f"{noise(1)}{odd}\n{noise(MAX_ERRORS)}{steps(1)}{odd}\n"
    found = diagnosis(a_log=text).unknown
    assert found is not None
    assert found.text == odd
    assert one_by_one(text) == scan_chunks("a.log", [text.encode()], PATTERNS)


TIMED_OUT = "[rank1]:[E302 09:30:00.5 ProcessGroupNCCL.cpp:616] Watchdog caught collective operation timeout"
ABORTED = "*** SIGABRT received at time=1772424000 on cpu 0 ***"


def test_an_abort_says_less_than_the_line_above_for_which_it_aborted() -> None:
    for text, number in ((f"{TIMED_OUT}\n{ABORTED}\n", 1), (f"{ABORTED}\n{TIMED_OUT}\n", 1), (f"x\n{ABORTED}\n", 2)):
        found = diagnosis(a_log=text).unknown
        assert found is not None
        assert found.number == number


ANSWERED = "2026-03-02 09:14:03,120 - own.reward - ERROR - could not score"
CHAIN = (
    "Traceback (most recent call last):",
    '  File "/work/own/reward.py", line 12, in score',
    "    parse(text)",
    "own.parse.NoNumber: 'x'",
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    "Traceback (most recent call last):",
    '  File "/work/own/reward.py", line 14, in score',
    "own.reward.ScoreError: could not score",
)


def shown(*lines: str) -> tuple[int, str] | None:
    found = diagnosis(a_log="".join(f"{line}\n" for line in lines)).unknown
    return found and (found.number, found.text)


def test_the_first_exception_says_more_than_the_error_line_above_it_and_those_raised_from_it() -> None:
    assert shown(ANSWERED, *CHAIN) == (5, "own.parse.NoNumber: 'x'")
    assert shown(ANSWERED) == (1, ANSWERED)


def test_a_note_is_shown_only_if_nothing_else_is_there() -> None:
    note = "run.sh: line 4: own-tool: command not found"
    assert shown(note) == (1, note)
    assert shown(note, ODD) == (2, ODD)
    assert shown(note, ANSWERED) == (2, ANSWERED)
    assert shown("slurmstepd: error: child 3 failed with error code: 1", "slurmstepd: error: no image") == (
        2,
        "slurmstepd: error: no image",
    )


def test_an_error_that_says_that_the_run_goes_on_is_no_alarm_and_is_kept() -> None:
    text = "ERROR 03-02 09:14:31 [fa_utils.py:57] Cannot use FA version 2"
    found = diagnosis(a_log=f"{text}\n")
    assert found.unknown is None
    assert found.tolerated is not None
    assert found.tolerated.text == text


def test_a_survived_error_is_kept_as_tolerated() -> None:
    found = diagnosis(a_log=f"{ODD}\n{steps(1)}")
    assert found.tolerated is not None
    assert found.tolerated.text == ODD


def test_other_groups_of_errors_are_counted() -> None:
    text = f"{ODD}\n" + "".join(f"KeyError: 'row {at}'\n" for at in range(4)) + f"{noise(3)}"
    found = diagnosis(a_log=text)
    assert [(group.cluster.template, group.cluster.count) for group in found.groups] == [
        ("KeyError: *", 4),
        ("ERROR:tools:command * failed in sandbox", 3),
    ]


ENDED = "Training Progress: 100%|##########| 20/20 [10:00<00:00, 30.00s/it]"


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: DataLoader worker (pid 82456) is killed by signal: Killed.",
        "ERROR 03-02 09:15:02 [multiproc_executor.py:230] Worker proc VllmWorker-0 died unexpectedly, shutting down executor.",
        "E0302 09:14:03.320000 139 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -15) local_rank: 0",
        "*** SIGABRT received at time=1772424000 on cpu 0 ***",
        "BrokenPipeError: [Errno 32] Broken pipe",
    ],
)
def test_signals_after_the_end_of_a_run_are_no_alarm(line: str) -> None:
    after = diagnosis(a_log=f"{ENDED}\n{line}\n")
    assert (after.root, after.unknown) == (None, None)
    before = diagnosis(a_log=f"{line}\n")
    assert before.root or before.unknown


def test_another_error_after_the_end_of_a_run_is_one() -> None:
    assert shown(ENDED, ODD) == (2, ODD)
