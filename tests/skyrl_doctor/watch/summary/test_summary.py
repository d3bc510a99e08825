"""summary.md: what happened, and what it cost."""

import json
from pathlib import Path

from skyrl_doctor.watch.sink.events import event
from skyrl_doctor.watch.summary.gather import gather
from skyrl_doctor.watch.summary.write import write
from skyrl_train.contracts.agent.counts_file import line
from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.job_files import COUNTS

VLLM = (
    "INFO 01-05 00:00:30 [launcher.py:28] up\n"
    "ERROR 01-05 00:01:00 [s.py:9] ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000.\n"
)
TRAINING = (
    "2026-01-05 00:00:10 INFO step:3 - actor/loss:0.1\n"
    "2026-01-05 03:01:00,000 ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
)


def job(root: Path, *, gpus: list[str] | None, node: str = "gpu07", vllm: str = VLLM) -> Path:
    root.mkdir(parents=True)
    (root / "vllm.log").write_text(vllm, encoding="utf-8")
    (root / "training_1.out").write_text(TRAINING, encoding="utf-8")
    if gpus is not None:
        (root / "verdict.json").write_text(json.dumps({"gpus": gpus, "node": node}), encoding="utf-8")
    return root


def found(root: Path, id_: str, at: float = 10.0) -> None:
    lines = [
        event("start", 1.0, job_dir="x"),
        event("finding", at, id=id_, slug="s", key="k", root=True, severity="error", message="m"),
        event("action", at + 1, done="sent SIGTERM to process 3", why="w"),
        event("end", at + 7200, why="the process exited"),
    ]
    (root / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")


def test_gpu_hours_by_the_clocks_of_the_logs(tmp_path: Path) -> None:
    story = gather(str(job(tmp_path / "a", gpus=["GPU 0", "GPU 1"])))
    assert (story.gpus, story.wasted_s, story.wasted_from, story.last_step) == (
        2,
        10_800.0,
        "the clocks of the logs",
        3,
    )
    assert story.wasted_gpu_hours == 6.0


def test_what_is_unknown_is_said_to_be_unknown(tmp_path: Path, capsys: object) -> None:
    root = job(tmp_path / "a", gpus=None)
    assert write(str(root), tell=lambda _: None)
    text = (root / "summary.md").read_text(encoding="utf-8")
    assert "| GPUs | unknown |" in text
    assert "| node | unknown |" in text
    assert "| **GPU-hours after the root cause** | unknown |" in text
    assert "No events: the job was not watched." in text


def test_by_the_watch_s_own_clock_where_the_lines_have_none(tmp_path: Path) -> None:
    root = job(
        tmp_path / "a", gpus=["0"], vllm="ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000.\n"
    )
    found(root, "CFG001")
    story = gather(str(root))
    assert (story.wasted_s, story.wasted_from, story.wasted_gpu_hours) == (7200.0, "the watch's own clock", 2.0)


def test_the_whole_page(tmp_path: Path) -> None:
    root = job(tmp_path / "a", gpus=["0"])
    found(root, "CFG001")
    assert write(str(root), tell=lambda _: None)
    text = (root / "summary.md").read_text(encoding="utf-8")
    for part in (
        "**CFG001 max-tokens-exceed-context**: the request asked",
        "| node | `gpu07` |",
        "| last step | 3 |",
        "| GPUs | 1 (from verdict.json) |",
        "| time after the root cause | 3.0 h (by the clocks of the logs) |",
        "| **GPU-hours after the root cause** | **3.00** |",
        "## Root cause",
        f"`{root}/vllm.log:2`",
        "Consequences, not the cause:\n\n- actor-died",
        "## Timeline\n\n- 1970-01-01T00:00:01.000+00:00 start",
        "**root** error CFG001 s: m",
        "- 1970-01-01T00:00:11.000+00:00 action: sent SIGTERM to process 3",
    ):
        assert part in text


def test_nothing_wrong_costs_nothing(tmp_path: Path) -> None:
    root = tmp_path / "a"
    root.mkdir()
    (root / "training_1.out").write_text("fine\n", encoding="utf-8")
    assert not write(str(root), tell=lambda _: None)
    text = (root / "summary.md").read_text(encoding="utf-8")
    assert "**No failure was found.**" in text
    assert "| **GPU-hours after the root cause** | 0 |" in text


def test_outages_that_the_run_survived_are_a_row(tmp_path: Path) -> None:
    root = job(tmp_path / "a", gpus=["0"])
    outage = Counts(rollouts=8, outages=1, outage_s=35.0, outage_causes={"error_runtime: a | b": 1})
    (root / COUNTS).write_text(line(outage) * 2, encoding="utf-8")
    write(str(root), tell=lambda _: None)
    text = (root / "summary.md").read_text(encoding="utf-8")
    row = "| sandbox infrastructure | 2 outages survived, 70 s without new rollouts: 2 x error_runtime: a \\| b |\n"
    assert row in text


def test_an_error_that_nobody_knows_is_shown_and_not_named(tmp_path: Path) -> None:
    root = tmp_path / "a"
    root.mkdir()
    (root / "training_1.out").write_text("ZeroDivisionError: division by `zero`\n", encoding="utf-8")
    assert not write(str(root), tell=lambda _: None)
    text = (root / "summary.md").read_text(encoding="utf-8")
    assert "**No known failure matched.**" in text
    assert "> 1 | ZeroDivisionError: division by `zero`" in text


def test_a_node_that_failed_before_is_to_be_left_out(tmp_path: Path) -> None:
    mig = "ValueError: invalid literal for int() with base 10: 'MIG-aaaaaaaa-0000-0000-0000-000000000001'\n"
    found(job(tmp_path / "20260101_launch", gpus=["0"], vllm=mig), "GPU001")
    found(job(tmp_path / "20260102_launch", gpus=["0"], vllm=mig, node="gpu08"), "GPU001")
    last = job(tmp_path / "20260103_launch", gpus=["0"], vllm=mig)
    write(str(last), tell=lambda _: None)
    text = (last / "summary.md").read_text(encoding="utf-8")
    assert "**SLM002 bad-node-repeats**: `gpu07` failed earlier jobs: `20260101_launch` (GPU001). Exclude it:" in text
    assert "sbatch --exclude=gpu07 …" in text


def test_where_a_stalled_run_waited(tmp_path: Path) -> None:
    root = job(tmp_path / "a", gpus=None)
    where = {"id": "AGT018", "slug": "rollouts-stalled", "key": "AGT018.where", "root": False, "severity": "error"}
    line = "rank 2 (process 7): reward (rewards.py:6)"
    seen = event("finding", 9.0, **where, message="rank 2 waits in reward (rewards.py:6)", evidence=[line])
    (root / "events.jsonl").write_text(json.dumps(seen) + "\n", encoding="utf-8")
    write(str(root), tell=lambda _: None)
    text = (root / "summary.md").read_text(encoding="utf-8")
    section = "## Where it waited\n\nrank 2 waits in reward (rewards.py:6).\n\n````text\n" + line + "\n````\n"
    assert section in text
