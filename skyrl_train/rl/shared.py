"""What the rollouts of one process share: configuration, sandbox client and the limit of parallel rollouts."""

import asyncio
import functools
import os
from dataclasses import dataclass
from pathlib import Path

from skyrl_train.agent.breaker import Breaker, Rule
from skyrl_train.config.load import from_resolved
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts import bounded
from skyrl_train.contracts.agent.limits import REPLY_S, Limits
from skyrl_train.contracts.agent.ports import OpenSandbox
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import KEY, READY
from skyrl_train.contracts.run_log import say
from skyrl_train.launch import commands, directory
from skyrl_train.node.ray_env import runtime_key_variable
from skyrl_train.rewards.fresh import Controls
from skyrl_train.sandbox.client import runtime
from skyrl_train.sandbox.client.runtime import RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.tools import opener
from skyrl_train.sandbox.runtime.keys import read_key

SCORE_S = 900.0


@dataclass(frozen=True, slots=True)
class Shared:
    """Shared objects of one process, whose rollouts run in one event loop."""

    config: RunConfig
    limits: Limits
    slots: asyncio.Semaphore
    journals: Path
    controls: Controls
    breaker: Breaker


@functools.cache
def shared(job_dir: str) -> Shared:
    config = from_resolved(bounded.read_text(os.path.join(job_dir, directory.RESOLVED)))
    slots = max(1, config.agent.max_parallel // config.rollout.agent_workers)
    sandbox = config.sandbox
    rule = Rule(window=sandbox.outage_window, rate=sandbox.outage_rate, limit_s=sandbox.outage_limit_s)
    return Shared(
        config,
        limits_of(config),
        asyncio.Semaphore(slots),
        journal_dir(config, job_dir),
        Controls(),
        Breaker(rule, say),
    )


def limits_of(config: RunConfig) -> Limits:
    agent = config.agent
    interrupted = config.trainer.mode != "sync"  # a reply waits while the trainer updates, saves and sends weights
    return Limits(
        reply_s=agent.rollout_timeout_s if interrupted else REPLY_S,
        model_len=config.rollout.max_model_len,
        prompt_tokens=config.data.max_prompt_tokens,
        response_tokens=config.data.max_response_tokens,
        reply_tokens=config.rollout.max_tokens,
        turns=agent.max_turns,
        command_s=agent.command_timeout_s,
        rollout_s=agent.rollout_timeout_s,
        start_s=config.sandbox.ready_timeout_s,
        score_s=SCORE_S,
        repeats=agent.stuck_after_repeats,
        result_chars=agent.observation_max_chars,
    )


def journal_dir(config: RunConfig, job_dir: str) -> Path:
    """The directory of transcripts."""
    return Path(config.trainer.rollout_dir or os.path.join(job_dir, "rollouts"))


@functools.cache
def client(job_dir: str) -> RuntimeClient:
    """The client of this launch's runtime. It stays open until the process ends."""
    launch = commands.read(job_dir)
    url = launch.runtime_url or directory.runtime_url(job_dir) or launch.config.sandbox.runtime_url
    if not url:
        raise TrainError(f"no address of the sandbox runtime in {job_dir}: {READY} is missing")
    path = os.path.join(job_dir, KEY)
    key = read_key(path) if os.path.exists(path) else os.environ.get(runtime_key_variable(os.environ), "").strip()
    return RuntimeClient(url, key, limits=runtime.Limits(start_s=launch.config.sandbox.ready_timeout_s))


def runtime_sandboxes(job_dir: str, image: str) -> OpenSandbox:
    """Opens sandboxes of the launch's runtime. Each rollout names its session, so that a retry makes no second one."""
    return opener(client(job_dir), lambda task: SandboxRequest(image=image, session_id=f"skyrl-{task.rollout_id}"))
