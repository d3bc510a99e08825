"""Makes a job directory with steps, rollouts, events, a configuration and a failure, as a launch and a watch leave it."""

import json
import math
from pathlib import Path
from typing import Any

from skyrl_train.agent.journal import append
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind, Ended, Span
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Step, Transcript
from skyrl_train.contracts.rewards.score import Scored, Unscorable, UnscorableReason

ATTACK = (
    "<script>window.owned = 1</script></script><img src=x onerror='window.owned = 1'> "
    "\x1b[31mred\x1b]0;title\x07 \u202eesrever\u202c <!-- ]]> &lt; \" ' `${1}` \x00 \x9b2J"
)
"""Text that must show as text everywhere."""
BEGUN = 1795000000.0
SECRET = "sk-proj-4f9Ck2mXq7LrT8vBn3WdPz6Ya1Hs5Ej0"
CONFIG = """\
# A run on one slice.
[model]
path = "/models/Qwen3-0.6B"

[data]
train_batch_size = 2
max_prompt_tokens = 2048

[rollout]
n = 4
max_tokens = 2048
"""


def transcript(
    name: str = "r0",
    *,
    task: str = "repo__fix-1",
    reward: float | None = 1.0,
    finish: Finish = Finish.FINISH_TOOL,
    detail: str = "",
    text: str = "I read the file first.",
    output: str = "1 passed",
    turns: int = 2,
    unscorable: bool = False,
) -> Transcript:
    """A rollout of some turns: a command each, the last one finishes."""
    steps = [_turn(number, text, output, last=number == turns - 1) for number in range(turns)]
    score = None if reward is None else Scored(reward, "3 of 3 tests pass" if reward else "test_fix fails")
    return Transcript(
        task_id=task,
        rollout_id=name,
        prompt=(Message(role="system", content="You fix bugs."), Message(role="user", content=f"Fix {task}.")),
        prompt_ids=tuple(range(24)),
        steps=tuple(steps),
        finish=finish,
        detail=detail,
        score=Unscorable(UnscorableReason.SANDBOX_FAILED, detail) if unscorable else score,
        duration_s=3.5 * turns,
    )


def _turn(number: int, text: str, output: str, *, last: bool) -> Step:
    tool = "finish" if last else "execute_bash"
    said = f"{text}\n<function={tool}>\n<parameter=command>pytest -q # {number}</parameter>\n</function>"
    start = len(text) + 1
    return Step(
        reply=Reply(token_ids=tuple(range(40 + number)), text=said, ended=Ended.STOP),
        call=Call(tool, (("command", f"pytest -q # {number}"),), Span(start, len(said))),
        action=Action(tool, {"command": f"pytest -q # {number}"}),
        result=None if last else Result(text=output, exit_code=0),
        shown="" if last else f"EXECUTION RESULT of [{tool}]:\n{output}",
        shown_ids=() if last else tuple(range(12)),
        reply_s=1.5,
        command_s=0.0 if last else 0.75,
    )


def refused_call(text: str = "no call here") -> Step:
    """A turn whose reply has no call."""
    return Step(
        reply=Reply(token_ids=(1, 2, 3), text=text, ended=Ended.LENGTH),
        call=CallError(CallErrorKind.NO_CALL, Span(0, len(text)), "Your reply has no function call."),
        shown="Your reply has no function call.",
        shown_ids=(7, 8),
        reply_s=0.5,
    )


def make_job(directory: Path, *, steps: int = 6, prompts: int = 2, samples: int = 4, attack: str = ATTACK) -> Path:
    """A job whose run broke at its last step."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.toml").write_text(CONFIG, encoding="utf-8")
    (directory / "jobs.json").write_text('{"runtime": "41", "trainer": "42"}', encoding="utf-8")
    (directory / "training_42.out").write_text(_log(steps, attack), encoding="utf-8")
    (directory / "events.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in _events(steps, attack)), "utf-8")
    (directory / "verdict.json").write_text(json.dumps(_verdict()), encoding="utf-8")
    (directory / "gate_trainer.json").write_text(json.dumps(gate_report(attack)), encoding="utf-8")
    write_rollouts(directory / "rollouts", steps=steps, prompts=prompts, samples=samples, attack=attack)
    return directory


def write_rollouts(directory: Path, *, steps: int, prompts: int, samples: int, attack: str = ATTACK) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for step in range(1, steps + 1):
        for prompt in range(prompts):
            for sample in range(samples):
                append(directory / f"step_{step}.jsonl", _rollout(step, prompt, sample, attack))


def _rollout(step: int, prompt: int, sample: int, attack: str) -> Transcript:
    name, task = f"s{step}p{prompt}-{sample}", f"repo__task-{(step + prompt) % 7}"
    number = step * 7 + prompt * 3 + sample
    if number % 11 == 0:
        finish = Finish.ERROR_RUNTIME
        return transcript(name, task=task, reward=None, finish=finish, detail=f"sandbox lost {attack}", unscorable=True)
    if number % 13 == 0:
        return transcript(name, task=task, reward=None, finish=Finish.MAX_ITERATIONS_REACHED, turns=6)
    reward = 1.0 if number % 3 == 0 else 0.5 if number % 5 == 0 else 0.0
    return transcript(
        name, task=task, reward=reward, text=f"Look. {attack}", output=f"{attack}\n", turns=2 + number % 4
    )


def _log(steps: int, attack: str) -> str:
    lines = [f"2026-11-18 16:26:40 INFO start {attack}", f"export OPENAI_API_KEY={SECRET}"]
    for step in range(1, steps + 1):
        wave = math.sin(step / 9)
        figures = {
            "critic/score/mean": 0.3 + 0.2 * wave + step / (4 * steps),
            "response_length/mean": 900 + 60 * wave,
            "actor/entropy": "nan" if step == steps - 1 else 0.9 - 0.5 * step / steps,
            "actor/grad_norm": 0.4 + 0.1 * wave,
            "rollout_corr/kl": 0.002 + 0.001 * wave,
            "timing_s/step": 60 + 5 * wave,
            "timing_s/gen": 35 + 4 * wave,
            "timing_s/update_actor": 15.0,
            "timing_s/old_log_prob": 5.0,
            "timing_s/update_weights": 3.0 + wave,
            "perf/max_memory_allocated_gb": 15.1 + 0.3 * wave,
            "perf/cpu_memory_used_gb": 60 + step / 10,
        }
        lines.append(f"step:{step} - " + " - ".join(f"{name}:{value}" for name, value in figures.items()))
    lines += [
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/torch/nn/functional.py", line 3462, in cross_entropy',
        "    return torch._C._nn.cross_entropy_loss(input, target)",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has 1.10 GiB free of 19.62 GiB.",
        "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_update_actor()",
    ]
    return "\n".join(lines) + "\n"


def _events(steps: int, attack: str) -> list[dict[str, Any]]:
    ended = BEGUN + 62 * steps
    finding = {"id": "TRN006", "slug": "hang-at-weight-sync", "key": "TRN006", "evidence": [attack], "location": None}
    alert = {**finding, "root": True, "severity": "error", "message": f"no progress {attack}", "remedy": None}
    return [
        {"schema": 1, "event": "start", "at": BEGUN, "time": "", "job_dir": "/jobs/1", "policy": "report"},
        {"schema": 1, "event": "finding", "at": BEGUN + 31 * steps, "time": "", **alert},
        {"schema": 1, "event": "end", "at": ended, "time": "", "why": "the process exited"},
    ]


def _verdict() -> dict[str, Any]:
    return {
        "schema": 1,
        "node": "gpu-node-17",
        "role": "gpu",
        "gpus": ["MIG-1"],
        "versions": {"torch": "2.11.0", "vllm": "0.24.0"},
    }


def gate_report(attack: str = ATTACK) -> dict[str, Any]:
    """The JSON report of a preflight with a finding that has a place in the configuration."""
    finding = {
        "message": f"prompt 2048 + max_tokens 2048 = 4096 tokens {attack}",
        "severity": "error",
        "evidence": [attack],
        "location": {"file": "/jobs/1/config.toml", "line": 11, "key": "rollout.max_tokens"},
        "remedy": {
            "kind": "FIX_CONFIG",
            "summary": "lower max_tokens",
            "commands": ["echo " + attack],
            "settings": {"rollout.max_tokens": "1024"},
            "safe": False,
        },
    }
    base = {"severity": None, "duration_s": 0.1, "findings": []}
    return {
        "schema": 1,
        "verdict": "fail",
        "role": "gpu",
        "target": {"files": ["/jobs/1/config.toml"], "dialect": "run-config"},
        "host": "gpu-node-17",
        "version": "0.1.0",
        "duration_s": 0.4,
        "summary": {"pass": 1, "fail": 1, "skip": 0, "unknown": 1},
        "notes": [attack],
        "nodes": None,
        "outcomes": [
            {**base, "id": "BAT002", "slug": "context-exceeded", "status": "fail", "reason": "", "findings": [finding]},
            {**base, "id": "ENV001", "slug": "triton-python-h", "status": "pass", "reason": ""},
            {**base, "id": "SLM001", "slug": "walltime-mismatch", "status": "unknown", "reason": f"squeue {attack}"},
        ],
    }
