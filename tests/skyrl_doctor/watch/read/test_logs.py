"""Lines of several logs into observations."""

from pathlib import Path

from checks.mem.backward_out_of_memory import LATER
from skyrl_doctor.watch.follow.tail import Lines
from skyrl_doctor.watch.observations import Bar, Hit, Step
from skyrl_doctor.watch.read.logs import Logs

REFUSED = b"ERROR 01-05 00:01:00 [serving.py:9] ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000."


def hits(
    logs: Logs, path: str, number: int, text: bytes, *, open_: bool = False
) -> list[tuple[str | None, str, int, bool]]:
    found = logs.take(Lines(path, number, text, open_), 1.0)
    return [(one.id, one.file, one.line, one.root) for one in found if isinstance(one, Hit)]


def test_a_refusal_in_another_component_s_log() -> None:
    logs = Logs()
    (bar,) = logs.take(Lines("orchestrator.log", 1, b"\rGenerating:  0%|  | 0/8 [00:01<?, ?it/s]\r"), 5.0)
    assert bar == Bar(at=5.0, label="Generating", done=0, total=8, elapsed_s=1.0)
    assert hits(logs, "vllm.log", 1, b"INFO fine\n" * 3) == []
    assert hits(logs, "vllm.log", 4, REFUSED + b"\n") == [("CFG001", "vllm.log", 4, True)]


def test_line_numbers_after_a_restart_and_after_a_rotation() -> None:
    logs = Logs()
    assert hits(logs, "vllm.log", 901, b"fine\n" + REFUSED + b"\n") == [("CFG001", "vllm.log", 902, True)]
    assert hits(logs, "vllm.log", 1, REFUSED + b"\n") == [("CFG001", "vllm.log", 1, True)]


def test_a_line_without_end_counts_at_once_and_again_when_it_is_whole() -> None:
    logs = Logs()
    assert hits(logs, "vllm.log", 1, b"fine\n") == []
    assert hits(logs, "vllm.log", 2, REFUSED, open_=True) == [("CFG001", "vllm.log", 2, True)]
    assert hits(logs, "vllm.log", 2, REFUSED + b"\n") == [("CFG001", "vllm.log", 2, True)]


def test_a_step_without_end_may_still_grow() -> None:
    logs = Logs()
    assert list(logs.take(Lines("t.out", 1, b"step:1 - a/b:0.1", open=True), 1.0)) == []
    assert list(logs.take(Lines("t.out", 1, b"step:1 - a/b:0.12\n"), 1.0)) == [
        Step(at=1.0, step=1, metrics={"a/b": 0.12})
    ]


def test_what_the_watch_wrote_into_the_job_s_log_is_no_evidence() -> None:
    line = b"skyrl-doctor watch: CFG001 at vllm.log:3: " + REFUSED + b"\n"
    assert hits(Logs(), "training_1.out", 1, line + line) == []


def test_a_cause_that_must_be_seen_often() -> None:
    logs, line = Logs(), b"WARNING: No function call detected. Please use a tool to continue.\n"
    assert hits(logs, "t.out", 1, line * 4) == []
    assert hits(logs, "t.out", 5, line) == [("AGT001", "t.out", 5, False)]


def test_what_another_signature_shows_more_exactly(tmp_path: Path) -> None:
    exact = b"  Field required [type=missing, input_value={'thought': 'CONTEXT_WINDOW_EXCEEDED'}, input_type=dict]\n"
    vague = b"pydantic_core._pydantic_core.ValidationError: 2 validation errors for FinishAction\n"
    assert hits(Logs(), "t.out", 1, vague + exact) == [("AGT004", "t.out", 2, True)]


def test_healthy_logs_give_no_root() -> None:
    healthy = Path(__file__).parents[3] / "logs" / "healthy"
    files = sorted(path for path in healthy.rglob("*") if path.suffix in (".log", ".out", ".err"))
    assert len(files) >= 10
    for path in files:
        logs = Logs()
        found = hits(logs, str(path), 1, path.read_bytes() + b"\n")
        roots = [one for one in found if one[3]]
        assert roots == [] or logs.done() is not None, path


NESTED_OOM = (
    *(f"(TaskRunner pid=7) step:{step} - actor/grad_norm:0.4" for step in (16, 17, 18)),
    "Traceback (most recent call last):",
    '  File "/venv/verl/trainer/main_ppo.py", line 96, in run_ppo',
    "ray.exceptions.RayTaskError(OutOfMemoryError): ray::TaskRunner.run() (pid=41, ip=10.0.3.14)",
    '  File "/venv/verl/trainer/ppo/ray_trainer.py", line 1141, in fit',
    "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_update_actor() (pid=43, ip=10.0.3.14)",
    '  File "/venv/verl/workers/actor/dp_actor.py", line 563, in update_policy',
    "    loss.backward()",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.55 GiB. GPU 0 has a total capacity of 79.11 GiB",
)


def test_a_memory_error_below_the_lines_with_which_ray_repeats_it() -> None:
    text = "\n".join(NESTED_OOM).encode() + b"\n"
    found = [one for one in Logs().take(Lines("t.out", 1, text), 1.0) if isinstance(one, Hit) and one.root]
    assert [(one.id, one.line, one.explain) for one in found] == [("MEM002", 11, LATER)]


def test_a_memory_error_after_steps_whose_line_names_no_backward_pass() -> None:
    assert hits(Logs(), "t.out", 1, "\n".join((*NESTED_OOM[:3], NESTED_OOM[-1], "")).encode()) == [
        ("MEM002", "t.out", 4, True)
    ]
