"""The watch as a whole: a scripted job directory, a clock that the test turns, real files."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch import setup
from skyrl_doctor.watch.loop import Watch, run
from skyrl_doctor.watch.observations import Hang
from skyrl_doctor.watch.policy import Limits, Policy
from skyrl_doctor.watch.sample.base import Look
from skyrl_doctor.watch.settings import Settings

REFUSED = (
    "ERROR 01-05 00:01:00 [serving_chat.py:203] ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000. "
    "This model's maximum context length is 4096 tokens and your request has 1297 input tokens (4000 > 4096 - 1297).\n"
)


class Job:
    """A job directory and a watch of it."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root, self.now, self.told = root, 1_000_000.0, []
        self._settings = settings
        self.watch = self.started()

    def started(self) -> Watch:
        settings = Settings(job_dir=str(self.root), samplers=False, **self._settings)
        watch = setup.build(settings, LocalMachine(), self.told.append)
        watch._clock = lambda: self.now
        return watch

    def write(self, name: str, text: str) -> None:
        with (self.root / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def turns(self, seconds: float, every: float = 1.0) -> None:
        for _ in range(int(seconds / every)):
            self.now += every
            self.watch.turn()

    def events(self, kind: str = "finding") -> list[tuple[float, str]]:
        lines = (self.root / "events.jsonl").read_text(encoding="utf-8").splitlines()
        every = [json.loads(line) for line in lines]
        return [(one["at"] - 1_000_000, one.get("key") or one.get("done")) for one in every if one["event"] == kind]


def test_the_run_that_waits_at_0_of_8_is_named_while_it_waits(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.write("orchestrator.log", "INFO started\n\rGenerating rollouts:   0%|          | 0/8 [00:00<?, ?it/s]")
    job.write("vllm.log", "INFO 01-05 00:00:30 [launcher.py:28] Available routes are:\n")
    job.turns(20)
    assert job.events("start") == [(1.0, None)]
    job.write("vllm.log", REFUSED)
    job.turns(2)
    assert job.events() == [(21.0, "CFG001.log.root")]
    job.turns(60)
    assert [key for _, key in job.events()] == ["CFG001.log.root", "AGT018.stall"]
    assert job.told == [
        (
            f"skyrl-doctor watch: CFG001 max-tokens-exceed-context (root cause) at {tmp_path}/vllm.log:2: prompt 1297 + max_tokens 4000 exceeds the context of 4096 tokens"
        ),
        (
            "skyrl-doctor watch: AGT018 rollouts-stalled (error): no rollout, token, step or checkpoint for 60 s (last "
            "activity: the start of the watch); expected one within 60 s. Cause: CFG001 max-tokens-exceed-context (see the evidence)"
        ),
    ]
    assert (tmp_path / "watch.log").read_text(encoding="utf-8").splitlines() == job.told
    stall = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()][-1]
    assert stall["evidence"][1] == "Generating rollouts is at 0/8"


def test_a_healthy_run_is_left_in_peace(tmp_path: Path) -> None:
    job = Job(tmp_path, policy=Policy.STOP, job="7", dry_run=True)
    for step in range(1, 30):
        job.write("training_1.out", f"step:{step} - actor/grad_norm:0.4 - critic/score/mean:0.{step:02d}\n")
        job.turns(30, every=5.0)
    job.write("training_1.out", "Final validation metrics: {'x': 1}\n")
    (tmp_path / "training_complete.flag").touch()
    job.turns(10)
    assert (job.events(), job.watch.over) == ([], "training_complete.flag exists")
    assert job.told == [
        f"skyrl-doctor watch: step {step}: reward {step / 100:.4g}, gradient 0.4" for step in range(1, 30)
    ]


def test_of_a_backlog_only_the_last_step_is_printed(tmp_path: Path) -> None:
    job = Job(tmp_path)
    for step in range(1, 5):
        job.write("training_1.out", f"step:{step} - actor/entropy:0.{step} - timing_s/step:28.1\n")
    job.turns(2)
    for step in (5, 6):
        job.write("training_1.out", f"step:{step} - actor/entropy:0.{step} - timing_s/step:28.1\n")
    job.turns(2)
    assert job.told == [
        "skyrl-doctor watch: read 3 earlier steps",
        "skyrl-doctor watch: step 4, took 28 s: entropy 0.4",
        "skyrl-doctor watch: step 5, took 28 s: entropy 0.5",
        "skyrl-doctor watch: step 6, took 28 s: entropy 0.6",
    ]


def test_the_policy_asks_and_then_ends(tmp_path: Path) -> None:
    limits = Limits(settle_s=30.0, grace_s=20.0)
    job = Job(tmp_path, policy=Policy.STOP, job="7", dry_run=True, limits=limits)
    job.write("vllm.log", REFUSED)
    job.turns(100)
    assert job.events("action") == [(31.0, "would run scancel --signal=TERM 7"), (51.0, "would run scancel 7")]


def test_a_watch_that_takes_over_goes_on_where_the_killed_one_stood(tmp_path: Path) -> None:
    job = Job(tmp_path, policy=Policy.STOP, job="7", dry_run=True, limits=Limits(settle_s=30.0, grace_s=20.0))
    job.write("vllm.log", REFUSED)
    job.turns(40)
    job.write("training_1.out", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB.\n")
    os.rename(tmp_path / "vllm.log", tmp_path / "vllm.log.1")
    job.watch = job.started()
    job.turns(40)
    found = [key for _, key in job.events()]
    assert (found[0], len(found), len(set(found))) == ("CFG001.log.root", len(set(found)), len(found))
    assert any(key.startswith("MEM") for key in found)
    assert job.events("action") == [(31.0, "would run scancel --signal=TERM 7"), (51.0, "would run scancel 7")]
    assert len(job.events("start")) == 1


def test_without_its_state_nothing_is_said_twice(tmp_path: Path) -> None:
    for damage in ("", "{", '{"schema": 9}', "[]"):
        job = Job(tmp_path)
        job.write("vllm.log", REFUSED)
        job.turns(3)
        (tmp_path / "watch.state.json").write_text(damage, encoding="utf-8")
        assert len(job.events()) == 1
    assert "damaged" in job.told[-1] or "beginning" in job.told[-1]


def test_a_full_disk_is_said_once_and_what_was_found_is_written_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(tmp_path)
    job.watch._journal._events.path = "/dev/full"
    job.write("vllm.log", REFUSED)
    job.turns(30)
    assert [text for text in job.told if "No space" in text] == [
        "skyrl-doctor watch: /dev/full: No space left on device"
    ]
    assert not (tmp_path / "watch.state.json").exists()
    job.watch._journal._events.path = str(tmp_path / "events.jsonl")
    job.turns(20)
    assert job.events() == [(1.0, "CFG001.log.root")]
    assert (tmp_path / "watch.state.json").exists()


def test_logs_that_go_and_come_are_said_and_read(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.write("vllm.log", "fine\n")
    job.turns(3)
    (tmp_path / "vllm.log").unlink()
    job.turns(20)
    job.write("vllm.log", REFUSED)
    job.turns(3)
    assert job.told[0] == f"skyrl-doctor watch: {tmp_path}/vllm.log was deleted"
    assert [key for _, key in job.events()] == ["CFG001.log.root"]
    assert job.events("notice") == [(job.events("notice")[0][0], None)]


def test_secrets_reach_neither_events_nor_the_job_s_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef0123")
    job = Job(tmp_path)
    job.write("vllm.log", REFUSED.replace("ValueError", "key 0123456789abcdef0123 ValueError"))
    job.turns(3)
    assert "0123456789abcdef0123" not in (tmp_path / "events.jsonl").read_text(encoding="utf-8")
    assert len(job.events()) == 1


def test_a_viewer_writes_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path, writes=False)
    job.write("vllm.log", REFUSED)
    job.turns(20)
    assert (sorted(os.listdir(tmp_path)), [one.id for one in job.watch.roots]) == (["vllm.log"], ["CFG001"])


def test_it_sleeps_what_is_left_of_a_turn_and_never_beside_a_backlog(tmp_path: Path) -> None:
    job = Job(tmp_path)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        job.now += 1.0
        if len(slept) == 3:
            (tmp_path / "training_complete.flag").touch()

    assert run(job.watch, sleep=sleep, goes_on=lambda: True) == "training_complete.flag exists"
    assert all(0.05 <= seconds <= 1.0 for seconds in slept)


def test_a_remedy_names_settings_of_the_job_s_own_configuration(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('[model]\npath = "m"\n[actor]\nlr = 3e-6\n', encoding="utf-8")
    job = Job(tmp_path)
    for step in range(1, 5):
        job.write("training_1.out", f"step:{step} - actor/grad_norm:{0.4 if step == 1 else 'nan'}\n")
        job.turns(2)
    (found,) = job.watch.open.values()
    assert found.finding.remedy is not None
    assert (found.key, found.finding.remedy.settings) == ("TRN005.metrics", {"actor.lr": "1e-06"})


def test_a_stall_takes_the_stacks_of_the_processes_that_write_its_logs(tmp_path: Path) -> None:
    job = Job(tmp_path)
    asked: list[Sequence[str]] = []

    def stacks(logs: Sequence[str]) -> Look:
        asked.append(logs)
        return lambda _machine, now: (Hang(at=now, message="rank 2 waits in reward (r.py:6)", evidence=("a",)),)

    job.watch._stacks = stacks
    job.write("training_1.out", "up\n")
    job.turns(1190, every=10.0)
    assert (job.events(), asked) == ([], [])
    job.turns(30, every=10.0)
    while job.watch.asking:
        job.turns(1)
    assert [key for _, key in job.events()] == ["AGT018.stall", "AGT018.where"]
    assert asked == [[f"{tmp_path}/training_1.out"]]
