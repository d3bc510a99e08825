"""An evaluation with a real vLLM: the tiny model's tokens, the agent loop of training, sandboxes that are directories."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cpu_stack.loop_sandboxes import demo_sandboxes
from cpu_stack.run import CONFIG, environment, rows
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
    places = {"model": model, "tasks": at / "none", "checkpoints": at / "none", "job": at}
    return parse(CONFIG.format(**places, steps=1, advantage="grpo", lr=1e-3, phase_s=900))


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


def test_rates_of_a_real_model_are_repeatable(tmp_path: Path, model: Path) -> None:
    settings = config(model, tmp_path)
    reports = []
    env = environment(tmp_path)
    with served(str(model), settings, tmp_path, limit_s=LIMIT_S, environ={**os.environ, **env}) as url:
        for name in ("a", "b"):
            kept = Kept(tmp_path / name, {})
            reports.append(asyncio.run(evaluated(url, model, settings, kept)))
            for transcript in kept.done.values():
                assert all(step.reply.token_ids for step in transcript.steps)
    assert (reports[0]["rollouts"], reports[0]["without_result"]) == (TASKS * SAMPLES, 0)
    assert 0.0 < reports[0]["pass"]["1"]["rate"] < 1.0, json.dumps(reports[0])  # it knows both commands, and not which
    assert reports[0]["pass"]["2"]["rate"] >= reports[0]["pass"]["1"]["rate"]
