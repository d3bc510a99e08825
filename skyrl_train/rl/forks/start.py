"""Starts the fork server of a run, and names what Ray is to start instead of Python."""

import os
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skyrl_train import process
from skyrl_train.contracts import files
from skyrl_train.rl.forks import launcher

SERVER = "skyrl_train.rl.forks.server"
FIRST = (
    "torch",
    "transformers",
    "torch.distributed.fsdp",
    "torch._dynamo",
    "pandas",
    "datasets",
    "fastapi",
    "uvicorn",
    "openai",
    "vllm.config",
    "vllm.engine.arg_utils",
    "vllm.distributed",
    "vllm.multimodal",
    "vllm.model_executor.model_loader",
    "vllm.model_executor.models",
    "vllm.model_executor.layers.linear",
    "vllm.model_executor.layers.fused_moe",
    "vllm.model_executor.layers.quantization",
    "vllm.lora.worker_manager",
    "vllm.compilation.backends",
    "vllm.v1.core.sched.scheduler",
    "vllm.v1.sample.sampler",
    "vllm.v1.attention.backends.flash_attn",
    "vllm.v1.worker.gpu_worker",
)
"""Imported while the driver imports and Ray starts. None of them imports Ray, which has to know its job before."""
THEN = (
    "ray",
    "verl.workers.engine_workers",
    "vllm.v1.engine.core_client",
    "vllm.v1.executor.uniproc_executor",
    "vllm.entrypoints.openai.cli_args",
    "vllm.v1.engine.core",
    "vllm.v1.engine.async_llm",
    "vllm.entrypoints.openai.api_server",
    "verl.workers.rollout.vllm_rollout.vllm_rollout",
    "verl.workers.rollout.vllm_rollout.vllm_async_server",
    "skyrl_train.rl.value_model",
    "skyrl_train.rl.vllm_worker",
)
"""From the bottom upwards, as in FIRST: what stands above a module that starts CUDA is left to the copies, and what stands below is not."""


@dataclass(frozen=True, slots=True)
class Forks:
    """The server lives as long as this process has the pipe open."""

    socket: str
    program: str
    """A script that Ray and multiprocessing start as their Python."""
    pipe: int
    server: process.Child

    def end(self, limit_s: float) -> None:
        """Ends the server, and the copies that are left."""
        os.close(self.pipe)
        self.server.wait(limit_s)
        self.server.end(limit_s)
        shutil.rmtree(os.path.dirname(self.program), ignore_errors=True)


def start(environ: Mapping[str, str], first: Sequence[str] = FIRST, then: Sequence[str] = THEN) -> Forks:
    """Begins with the imports that need no variables. OSError if it cannot be started."""
    folder = Path(tempfile.mkdtemp(prefix="skyrl-forks-"))
    program = folder / "python"
    python = shlex.join([sys.executable, "-IS", launcher.__file__])
    files.write_whole(str(program), f'#!/bin/sh\nexec {python} "$@"\n', mode=0o700, durable=False)
    if not os.access(program, os.X_OK):
        raise PermissionError(f"{program} cannot be run: nothing in {folder.parent} can, or its mount is noexec")
    reader, writer = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:  # from now on a launcher is not refused
        listening.bind(str(folder / "socket"))
        listening.listen(128)
        words = [sys.executable, "-u", "-m", SERVER, str(program), str(listening.fileno()), str(reader)]
        try:
            server = process.start(
                [*words, ",".join(first), ",".join(then)], pass_fds=(listening.fileno(), reader), env=environ
            )
        finally:
            os.close(reader)
    return Forks(str(folder / "socket"), str(program), writer, server)
