"""What a log is: lines that only a program prints, or what a diagnosis finds in them."""

import gzip
import json
from pathlib import Path

import pytest

from skyrl_doctor.html.log_form import LIMIT_BYTES, is_log
from skyrl_doctor.logs.diagnose import diagnose

LOGS = Path(__file__).parents[2] / "logs"
ROLLOUT = json.dumps({"task_id": "a", "steps": [{"reply": "Traceback (most recent call last)\nRuntimeError: x"}]})


def is_one(path: Path) -> bool:
    return is_log(str(path), diagnose([str(path)]).diagnosis)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-27 03:51:22,104 INFO worker.py - started\n",
        "INFO: the server listens\n",
        "(TaskRunner pid=4411) loading the model\n",
        "Loading checkpoint shards:  50%|█████     | 1/2\r",
        "+ python3 train.py\n",
        "wandb: Run data is saved locally\n",
        "{'loss': 0.8812, 'epoch': 0.31}\n",
        "step:1 - actor/grad_norm:0.5\n",
        '{"event": "started", "component": "judge"}\n',
        '{"level": "info", "msg": "ready"}\n',
        "Killed\n",
    ],
)
def test_a_log_without_an_error_is_a_log(text: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    assert is_one(path)
    path.write_bytes(gzip.compress(text.encode()))
    assert is_one(path)


@pytest.mark.parametrize(
    "text",
    [
        "hello\nworld\n",
        "Buy milk, and 3 eggs: brown ones.\n",
        "task,reward\na,1\nb,0\n",
        f"{ROLLOUT}\n{ROLLOUT}\n",
        ROLLOUT.replace("Traceback", "x" * LIMIT_BYTES),
        "# HELP skyrl_steps Steps\nskyrl_steps 3\n",
    ],
)
def test_another_text_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    assert not is_one(path)


def test_each_healthy_log_is_one() -> None:
    others = [path.name for path in sorted((LOGS / "healthy").glob("*.log")) if not is_one(path)]
    assert others == ["benchmark_of_answers.log", "vllm_help.log"]  # a table, and the text of --help
