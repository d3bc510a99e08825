"""A file that holds several runs: each is judged by itself."""

from skyrl_doctor.logs.cause.root_cause import Diagnosis, find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.hits import COUNT_LIMIT
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.unmatched import MAX_ERRORS
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

PATTERNS = Patterns(load_signatures())
SERVER = "(APIServer pid=7) INFO 09-30 18:28:54 [api_server.py:1896] vLLM API server version 0.10.2\n"
NO_MEMORY = (
    "(EngineCore_DP0 pid=8) ValueError: Free memory on device (13.58/15.99 GiB) on startup is less than desired GPU memory"
    " utilization (0.85, 13.59 GiB).\n"
)
FAILED = "(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause above.\n"
HEALTHY = "(APIServer pid=7) INFO:     Application startup complete.\n"
RAY = "2026-03-02 09:14:03,120 INFO worker.py:1942 -- Started a local Ray instance.\n"
PREEMPTED = "slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2026-03-02T01:22:18 DUE TO PREEMPTION ***\n"
CANCELLED = "slurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2026-03-02T04:00:00 ***\n"
FULL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n"
UNKNOWN = "ZeroDivisionError: division by zero\n"
STEPS = "".join(f"step:{at} - actor/loss:0.1\n" for at in range(4))


def judge(*texts: str) -> Diagnosis:
    return find_root_cause([scan_chunks("job.out", ["".join(texts).encode()], PATTERNS)])


def earlier(diagnosis: Diagnosis) -> list[tuple[int, int, str]]:
    return [(run.first, run.last, run.root.failure.name if run.root else "") for run in diagnosis.earlier]


def test_a_server_that_starts_after_one_that_failed_is_healthy() -> None:
    diagnosis = judge(SERVER, NO_MEMORY, FAILED, SERVER, HEALTHY)
    assert (diagnosis.root, diagnosis.unknown, earlier(diagnosis)) == (None, None, [(1, 3, "MEM003")])


def test_the_traceback_of_an_earlier_run_is_not_the_last_ones() -> None:
    traceback = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n'
    diagnosis = judge(RAY, traceback, "app.Broken\n", CANCELLED, RAY, HEALTHY)
    assert (diagnosis.root, diagnosis.unknown) == (None, None)


def test_the_unknown_error_of_an_earlier_run_is_not_the_last_ones() -> None:
    diagnosis = judge(RAY, UNKNOWN, CANCELLED, RAY, HEALTHY)
    assert (diagnosis.root, diagnosis.unknown) == (None, None)


def test_many_errors_of_an_earlier_run_hide_none_of_the_last() -> None:
    diagnosis = judge(RAY, UNKNOWN * (MAX_ERRORS + 10), CANCELLED, RAY, UNKNOWN)
    assert diagnosis.unknown is not None
    assert diagnosis.unknown.number == MAX_ERRORS + 14


def test_of_a_requeued_job_the_last_run_counts() -> None:
    diagnosis = judge(RAY, PREEMPTED, RAY, STEPS, FULL)
    assert diagnosis.root is not None
    assert (diagnosis.root.failure.id, diagnosis.root.line.number) == ("MEM002", 8)
    assert earlier(diagnosis) == [(1, 2, "SLM012")]


def test_each_of_three_runs_has_its_own_cause() -> None:
    diagnosis = judge(RAY, FULL, CANCELLED, RAY, PREEMPTED, RAY, CANCELLED)
    assert diagnosis.root is not None
    assert diagnosis.root.failure.id == "SLM011"
    assert [(first, last) for first, last, _ in earlier(diagnosis)] == [(1, 3), (4, 5)]
    assert earlier(diagnosis)[1][2] == "SLM012"


def test_programs_of_one_run_start_beside_each_other() -> None:
    diagnosis = judge(RAY, SERVER, NO_MEMORY, SERVER, FAILED)
    assert diagnosis.root is not None
    assert (diagnosis.root.failure.id, diagnosis.earlier) == ("MEM003", ())


def test_a_start_in_the_output_of_an_agents_command_is_none() -> None:
    diagnosis = judge(RAY, CANCELLED, "EXECUTION RESULT of [execute_bash]:\n", "vLLM API server version 0.10.2\n")
    assert diagnosis.root is not None
    assert (diagnosis.root.failure.id, diagnosis.earlier) == ("SLM011", ())


def test_the_steps_of_an_earlier_run_prove_nothing_of_the_last() -> None:
    before_a_step, after_steps = judge(RAY, FULL), judge(RAY, STEPS, CANCELLED, RAY, FULL)
    assert before_a_step.root is not None
    assert after_steps.root is not None
    assert after_steps.root.failure == before_a_step.root.failure


def test_what_an_earlier_run_repeated_is_evidence_again() -> None:
    diagnosis = judge(RAY, FULL * (COUNT_LIMIT + 10), CANCELLED, RAY, STEPS, FULL)
    assert diagnosis.root is not None
    assert (diagnosis.root.failure.id, diagnosis.root.line.number) == ("MEM002", COUNT_LIMIT + 18)


def test_one_who_follows_a_log_gets_the_hits_of_the_new_run() -> None:
    scanner = Scanner("job.out", PATTERNS)
    scanner.feed(f"{RAY}{FULL}{CANCELLED}".encode())
    assert [hit.failure.name for hit in scanner.flush()] != []
    scanner.feed(f"{RAY}{FULL}".encode())
    assert [hit.line.number for hit in scanner.flush()] == [5]
