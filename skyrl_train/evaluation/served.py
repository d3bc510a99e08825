"""Serves a model directory, or a checkpoint of a run, with vLLM for the time of an evaluation."""

import hashlib
import os
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from skyrl_train.checkpoints.merge import merge
from skyrl_train.checkpoints.saved import examine
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.checkpoints import layout
from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.process import started

HOST = "127.0.0.1"
PROBE_S = 2.0
POLL_S = 0.5
GRACE_S = 20.0
LOG = "model_server.log"
_SHOWN_BYTES = 3000


class ServerError(TrainError):
    """The model server does not start."""


def model_directory(path: str, out: Path, *, limit_s: float, python: str = sys.executable) -> str:
    """The path itself if it is a model. A checkpoint (…/global_step_N) is merged into `out` once."""
    path = os.path.abspath(path)
    if layout.step_of(os.path.basename(path)) is None:
        if os.path.isfile(os.path.join(path, "config.json")):
            return path
        raise UsageError(
            f"{path} is neither a model (no config.json) nor a checkpoint ({layout.STEP}N); give one of them, or the URL of "
            "a model server"
        )
    made = out / f"model-{os.path.basename(path)}-{hashlib.sha256(path.encode()).hexdigest()[:8]}"
    if not made.exists():
        out.mkdir(parents=True, exist_ok=True)
        merge(examine(path), str(made), python=python, limit_s=limit_s)
    return str(made)


def words(python: str, directory: str, config: RunConfig, port: int) -> list[str]:
    """The command line of vLLM with the run's settings for its model servers."""
    rollout = config.rollout
    made = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", directory, "--host", HOST]
    made += ["--port", str(port), "--max-model-len", str(rollout.max_model_len)]
    made += ["--gpu-memory-utilization", str(rollout.gpu_memory_utilization)]
    made += ["--tensor-parallel-size", str(rollout.tensor_parallel_size)]
    made += ["--max-num-seqs", str(rollout.max_sequences)]
    made += ["--max-num-batched-tokens", str(rollout.max_batched_tokens)]
    return [*made, *(["--enforce-eager"] if rollout.enforce_eager else [])]


@contextmanager
def served(
    directory: str, config: RunConfig, out: Path, *, limit_s: float, environ: Mapping[str, str]
) -> Iterator[str]:
    """Runs the server; its URL once it answers. ServerError with the end of its log if it never does."""
    port = _free_port()
    log = out / LOG
    argv, env = words(sys.executable, directory, config, port), {**environ, **config.env}
    with log.open("wb") as file, started(argv, grace_s=GRACE_S, stdout=file, stderr=file, env=env) as child:
        url = f"http://{HOST}:{port}"
        end = time.monotonic() + limit_s
        while not _answers(url):
            if child.poll() is not None:
                raise ServerError(f"the model server exited with status {child.status}: {_end_of(log)}")
            if time.monotonic() > end:
                raise ServerError(f"the model server did not answer within {limit_s:g} s: {_end_of(log)}")
            time.sleep(POLL_S)
        yield url


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=PROBE_S) as response:  # noqa: S310 -- this machine's own server
            return int(response.status) == 200
    except (OSError, ValueError):
        return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def _end_of(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _SHOWN_BYTES))
        lines = file.read(_SHOWN_BYTES).decode("utf-8", "replace").strip().splitlines()
    return " ".join(" ".join(lines[-5:]).split()) or f"no output; see {log}"
