"""An evaluation with a real vLLM: the tiny model's tokens, the agent loop of training, sandboxes that are directories."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cpu_stack.loop_sandboxes import demo_sandboxes
from cpu_stack.run import config_text, environment, rows
from skyrl_train.config.load import parse
from skyrl_train.config.run import RunConfig
from skyrl_train.evaluation.completions import CompletionsServer
from skyrl_train.evaluation.evaluate import Evaluation, evaluate, outstanding, report_of
from skyrl_train.evaluation.kept import Kept
from skyrl_train.evaluation.served import served
from skyrl_train.rl.engine import EngineModel
from skyrl_train.rl.seeds import reply_seed
from skyrl_train.rl.tokenizer import load_tokenizer

pytestmark = pytest.mark.vllm
LIMIT_S = 1200.0
TASKS, SAMPLES = 3, 2


def config(model: Path, at: Path) -> RunConfig:
    return parse(config_text(model, at, tasks=at / "none", checkpoints=at / "none"))


async def evaluated(url: str, model: Path, settings: RunConfig, kept: Kept) -> Mapping[str, Any]:
    async with CompletionsServer(url) as server:
        found = await server.model()
        assert Path(found.root) == model
        tokenizer = load_tokenizer(found.root)

        def model_of(name: str, row: int, sample: int) -> EngineModel:
            return EngineModel(
                server,
                tokenizer,
                request_id=name,
                sampling={"temperature": 1.0},
                stop=settings.rollout.stop,
                seed_of=lambda call: reply_seed(1, step=0, row=row, sample=sample, call=call),
            )

        one = Evaluation(
            rows=[{**row, "raw_prompt": row["prompt"]} for row in rows()[:TASKS]],
            samples=SAMPLES,
            config=settings,
            model_of=model_of,
            sandboxes_of=demo_sandboxes,
        )
        await evaluate(one, kept)
        assert outstanding(one, kept.done) == []
        return report_of(one, kept.done, [1, SAMPLES])


def other_model(model: Path, at: Path) -> Path:
    """The same model with one layer's weights a little other."""
    import torch
    from safetensors.torch import load_file, save_file

    made = at / "other"
    shutil.copytree(model, made)
    (path,) = made.glob("*.safetensors")
    tensors = load_file(path)
    name = next(name for name in sorted(tensors) if "mlp" in name)
    tensors[name] = tensors[name] + 0.05 * torch.randn(tensors[name].shape, generator=torch.Generator().manual_seed(1))
    save_file(tensors, path, metadata={"format": "pt"})
    return made


def weights(url: str, *models: Path) -> dict[str, Any]:
    words = [sys.executable, "-m", "skyrl_train", "weights", url, *map(str, models), "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if found["runs_first"] else 1), done.stderr
    return found


def test_pass_rates_of_a_real_model(tmp_path: Path, model: Path) -> None:
    settings = config(model, tmp_path)
    reports = []
    env = environment(tmp_path)
    with served(str(model), settings, tmp_path, limit_s=LIMIT_S, environ={**os.environ, **env}) as url:
        for name in ("a", "b"):
            kept = Kept(tmp_path / name, {})
            reports.append(asyncio.run(evaluated(url, model, settings, kept)))
            for transcript in kept.done.values():
                assert all(step.reply.token_ids for step in transcript.steps)
        another = other_model(model, tmp_path)
        assert weights(url, model, another)["verdict"] == f"the server runs {model}"
        assert weights(url, another, model)["verdict"] == f"the server runs {model} rather than {another}"
    assert (reports[0]["rollouts"], reports[0]["without_result"]) == (TASKS * SAMPLES, 0)
    assert 0.0 < reports[0]["pass"]["1"]["rate"] < 1.0, json.dumps(reports[0])  # it knows both commands, and not which
    assert reports[0]["pass"]["2"]["rate"] >= reports[0]["pass"]["1"]["rate"]


class Stub(BaseHTTPRequestHandler):
    """A model server that writes one token."""

    def do_GET(self) -> None:
        self._answer({"data": [{"id": "tiny", "root": self.server.root}]})  # type: ignore[attr-defined]  # set below

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer({"choices": [{"token_ids": [2], "finish_reason": "stop"}]})

    def _answer(self, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def stub(model: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    server.root = str(model)  # type: ignore[attr-defined]  # read by the handler
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_command_keeps_rollouts_that_a_lost_runtime_failed_and_repeats_them(
    tmp_path: Path, model: Path, stub: str
) -> None:
    tasks, toml, out = tmp_path / "tasks.jsonl", tmp_path / "run.toml", tmp_path / "out"
    tasks.write_text("".join(f"{json.dumps(row)}\n" for row in rows()[:2]))
    text = config_text(model, tmp_path, tasks=tasks, checkpoints=tmp_path)
    toml.write_text(text + "[sandbox]\nready_timeout_s = 1\n")
    words = [
        sys.executable,
        "-m",
        "skyrl_train",
        "evaluate",
        stub,
        str(tasks),
        "--config",
        str(toml),
        "--out",
        str(out),
    ]
    words += ["--runtime-url", "http://127.0.0.1:9"]  # the port of nobody
    first, second = (
        subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False) for _ in range(2)
    )
    assert (first.returncode, second.returncode) == (1, 1), first.stderr
    assert "all: no result · 2 tasks, 2 rollouts\nends: 2 x error_initialization\n" in first.stdout, first.stdout
    assert f"{out}: 2 rollouts kept; 2 to run\n" in second.stderr
    report = json.loads((out / "report.json").read_text())
    assert (report["without_result"], report["missing"], report["pass"]) == (2, 0, {})
    other = subprocess.run([*words, "--seed", "5"], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert other.returncode == 2
    assert "holds an evaluation with another seed (0, now 5); name a new directory with --out" in other.stderr
