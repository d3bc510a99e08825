"""What vLLM takes: its own log lines and the device's free memory, around start, sleep and waking.

Each case is a process of its own, since vLLM keeps its pools until it ends. Started as verl's rollout server starts it
(sleep mode, dummy weights, verl's defaults), but alone on the GPU.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.calibration import models, record
from benchmarks.calibration.cases import A, Case
from benchmarks.calibration.shapes import SHAPES

LIMIT_S = 240
NUMBER = r"([0-9][0-9.,]*)"
LINES = {
    "weights_gib": rf"Model loading took {NUMBER} GiB",
    "requested_gib": rf"Requested memory: [0-9.]+ \(util\), {NUMBER} GiB",
    "kv_gib": rf"Available KV cache memory: {NUMBER} GiB",
    "kv_tokens": rf"GPU KV cache size: {NUMBER} tokens",
    "graphs_estimated_gib": rf"Estimated CUDA graph memory: {NUMBER} GiB",
    "graphs_gib": rf"Graph capturing finished in [0-9]+ secs, took {NUMBER} GiB",
    "profile_peak_gib": rf"[Tt]orch peak memory increase: {NUMBER} ?GiB",
    "profile_non_torch_gib": rf"[Nn]on-torch forward increase memory: {NUMBER} ?GiB",
    "sleep_freed_gib": rf"Sleep mode freed {NUMBER} GiB",
    "sleep_left_gib": rf"Sleep mode freed [0-9.]+ GiB memory, {NUMBER} GiB memory is still in use",
}
"""Figure -> the line of vLLM 0.24 that holds it (v1/worker/gpu_worker.py, gpu_model_runner.py, utils/mem_utils.py)."""

VERL: dict[str, Any] = {
    "dtype": "bfloat16",
    "load_format": "dummy",
    "max_num_batched_tokens": 8192,
    "max_num_seqs": 256,
    "enable_chunked_prefill": True,
    "enable_prefix_caching": True,
    "enable_sleep_mode": True,
    "logprobs_mode": "processed_logprobs",
    "seed": 42,
}
"""verl 0.9.1's rollout defaults."""


def started(shape: str, **settings: Any) -> Case:
    """A case of the rollout; the settings are vLLM's names, recorded under verl's."""
    name = "-".join([f"vllm-{shape}", *(f"{key.split('_')[-1]}{value}" for key, value in settings.items())])
    job = {f"{A}.rollout.{key}": value for key, value in (VERL | settings).items()}
    return Case(id=name, shape=shape, job=job | EMPTY)


EMPTY: dict[str, Any] = {
    "data.max_prompt_length": 2048,
    "data.max_response_length": 1024,
    "data.train_batch_size": 0,
    f"{A}.rollout.n": 1,
}
CASES = (
    started("qwen2.5-0.5b", gpu_memory_utilization=0.5, max_model_len=4096, enforce_eager=True),
    started("qwen2.5-0.5b", gpu_memory_utilization=0.3, max_model_len=4096, enforce_eager=False),
    started("qwen2.5-1.5b", gpu_memory_utilization=0.3, max_model_len=8192, enforce_eager=False),
    started("qwen2.5-7b", gpu_memory_utilization=0.4, max_model_len=4096, enforce_eager=True),
    started("qwen2.5-7b", tensor_parallel_size=2, gpu_memory_utilization=0.4, max_model_len=4096, enforce_eager=True),
    started("qwen2.5-3b", tensor_parallel_size=2, gpu_memory_utilization=0.4, max_model_len=4096, enforce_eager=False),
)
"""vllm_lines.run leaves out those with more tensor parallel ranks than GPUs."""


def gpus_of(case: Case) -> int:
    """The GPUs that the case's engine takes."""
    return int(case.job.get(f"{A}.rollout.tensor_parallel_size", 1))


def parse(text: str) -> dict[str, float]:
    """The figures of the log; of a line that comes twice, the first (level 1 sleeps before level 2)."""
    found = {name: re.search(pattern, text) for name, pattern in LINES.items()}
    return {name: float(match[1].replace(",", "").rstrip(".")) for name, match in found.items() if match}


def child(arguments: Mapping[str, Any]) -> None:
    """Starts vLLM here, lets it generate, sleep and wake; free memory after each goes to the given file."""
    import torch
    from vllm import LLM, SamplingParams

    free: dict[str, float] = {}

    def note(name: str) -> None:
        free[name] = round(torch.cuda.mem_get_info()[0] / 2**30, 4)
        Path(arguments["free"]).write_text(json.dumps(free))

    note("before")
    llm = LLM(**arguments["engine"])
    note("started")
    prompts = [{"prompt_token_ids": [index % 200 + 1] * 1024} for index in range(32)]
    llm.generate(prompts, SamplingParams(max_tokens=64, ignore_eos=True, logprobs=0), use_tqdm=False)
    note("generated")
    for level in (1, 2):
        llm.sleep(level=level)
        note(f"asleep_{level}")
        llm.wake_up()
        note(f"awake_{level}")


def run_case(case: Case, folder: Path) -> dict[str, Any]:
    """One vLLM, from its start to its end. Free memory is that of the first GPU."""
    line = record.head(case, SHAPES[case.shape], "vllm") | {"gpus": gpus_of(case)}
    model = models.write(folder / case.shape, SHAPES[case.shape])
    prefix = f"{A}.rollout."
    engine = {
        key.removeprefix(prefix): value
        for key, value in case.job.items()
        if key not in EMPTY and key.startswith(prefix)
    }
    log, free = folder / f"{case.id}.log", folder / f"{case.id}.free.json"
    free.write_text("{}")
    arguments = json.dumps({"engine": {"model": str(model), **engine}, "free": str(free)})
    environ = os.environ | {
        "VLLM_LOGGING_LEVEL": "DEBUG",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_NO_USAGE_STATS": "1",
    }
    command = [sys.executable, "-m", "benchmarks.calibration.vllm_lines", arguments]
    with log.open("w") as file:
        try:
            code = subprocess.run(
                command, stdout=file, stderr=file, env=environ, timeout=LIMIT_S, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
    text = log.read_text(errors="replace")
    kept = [row[-300:] for row in text.splitlines() if "GiB" in row or "KV cache size" in row]
    figures = parse(text) | {"free_gib": json.loads(free.read_text()), "lines": kept, **engine}
    outcome = {"outcome": "ok" if code == 0 else "error", "error": None if code == 0 else text[-1500:]}
    return line | {"phases": {}, "vllm": figures, "main_ppo": None, "oom": None} | outcome


def run(cases: Sequence[Case], out: Path, folder: Path) -> int:
    """All cases for which there are GPUs; how many failed."""
    import torch

    failed = 0
    for case in cases:
        if gpus_of(case) > torch.cuda.device_count():
            print(f"{case.id:<60} left out: it takes {gpus_of(case)} GPUs", flush=True)
            continue
        line = run_case(case, folder)
        record.append(out, line)
        shown = {key: value for key, value in line["vllm"].items() if key != "lines"}
        print(f"{case.id:<60} {line['outcome']} {json.dumps(shown)}", flush=True)
        failed += line["outcome"] != "ok"
    return failed


if __name__ == "__main__":
    child(json.loads(sys.argv[1]))
