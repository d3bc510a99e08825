"""prime-rl's own schema, of a checkout, as the judge of what we refuse in its files.

It is on no package index. The checkout's `.venv` needs the dependencies of packages/prime-rl-configs.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.field.doctor import _dispatched
from benchmarks.suites.cases import ROOT, Case

LIMIT_S = 900
PROGRAMS = {
    "rl": "rl", "sft": "sft", "infer": "inference", "inference": "inference", "orch": "orchestrator",
    "orchestrator": "orchestrator", "train": "trainer", "trainer": "trainer", "evals": "evals", "eval": "evals",
}  # fmt: skip
_KEY = re.compile(r"^([a-z_]+)( *= *)", re.MULTILINE)


_SFT = """max_steps = 20
[model]
name = "Qwen/Qwen3-0.6B"
impl = "custom"
[model.ac]
mode = "full"
[model.lora]
rank = 16
[data]
type = "sft"
name = "org/data"
batch_size = 8
seq_len = 4096
[optim]
lr = 1e-5
[ckpt]
interval = 200
"""
_TRAINER = """max_steps = 20
[model]
name = "org/model"
seq_len = 2048
[optim]
lr = 1e-6
[ckpt]
interval = 10
"""
_SERVER = """use_deep_gemm = false
backend_port = 8100
[server]
port = 8000
[log]
level = "info"
"""
_RL = """max_steps = 20
[model]
name = "org/model"
[orchestrator]
batch_size = 64
group_size = 8
[orchestrator.renderer]
name = "qwen3"
[trainer.optim]
lr = 1e-6
[inference.vllm]
tensor_parallel_size = 2
[deployment]
gpus_per_node = 8
num_train_gpus = 4
num_infer_gpus = 4
[resume]
step = 3
"""
OWN: tuple[tuple[str, str, bool], ...] = (
    ("sft", _SFT, False), ("sft", _SFT.replace("max_steps", "max_step"), True), ("sft", _SFT.replace("rank =", "r ="), True),
    ("sft", _SFT.replace("seq_len", "sequence_len"), True), ("sft", _SFT.replace("[ckpt]", "[checkpoint]"), True),
    ("sft", _SFT.replace("lr =", "learning_rate ="), True), ("sft", _SFT.replace("interval", "intervall"), True),
    ("sft", _SFT.replace("[model.ac]", "[model.activation]"), True), ("sft", _SFT.replace("20", '"twenty"', 1), True),
    ("trainer", _TRAINER, False), ("trainer", _TRAINER.replace("[optim]", "[optimizer]"), True),
    ("trainer", _TRAINER.replace("seq_len", "max_len"), True), ("trainer", _TRAINER.replace("interval", "every"), True),
    ("trainer", _TRAINER.replace("max_steps", "steps"), True), ("trainer", _TRAINER.replace("name =", "path ="), True),
    ("inference", _SERVER, False), ("inference", _SERVER.replace("[server]", "[http]"), True),
    ("inference", _SERVER.replace("port = 8000", "prt = 8000"), True), ("inference", _SERVER.replace("level", "verbosity"), True),
    ("inference", _SERVER.replace("backend_port", "engine_port"), True),
    ("rl", _RL, False), ("rl", _RL.replace("num_train_gpus = 4", "num_train_gpus = 6"), True),
    ("rl", _RL.replace("tensor_parallel_size = 2", "tensor_parallel_size = 3"), True),
    ("rl", _RL.replace("tensor_parallel_size = 2", "tensor_parallel_size = 4"), False),
    ("rl", _RL.replace("step = 3", "step = 3\ndir = 'c/step_3'"), True),
    ("rl", _RL.replace("batch_size = 64", "batch_size = 60"), True),
    ("rl", _RL.replace("tensor_parallel_size = 2", "enable_prefix_caching = false\n[inference.kv_cache_offload]\ntype = 'native'\n[inference.kv_cache_offload.cpu]\nnum_bytes = 1"), True),
    ("rl", _RL.replace("[resume]", "[weight_broadcast]\ntype = 'nccl'\n[trainer.model.lora]\nrank = 8\n[resume]"), True),
)  # fmt: skip
"""Files of our own in today's keys: the program, the text, and whether its schema refuses it."""


def own_files(_: Path) -> Iterator[Case]:
    """Our texts, whose labels the schema of a checkout confirms (`files`)."""
    with tempfile.TemporaryDirectory() as folder:
        for path, refused in _own(Path(folder)):
            yield Case(
                f"{path.name}: {path.read_text(encoding='utf-8')!r}", bool(_severity(path, Path(folder))), refused
            )


def _own(folder: Path) -> Iterator[tuple[Path, bool]]:
    for number, (program, text, refused) in enumerate(OWN):
        place = folder / str(number)
        place.mkdir()
        yield _write(place / f"{program}.toml", text), refused


def files(checkout: Path) -> Iterator[Case]:
    """Each official file; and each with one key misspelled. Ours: whether a finding names a key."""
    with tempfile.TemporaryDirectory() as folder:
        labels = dict(_own(Path(folder)))
        paths = [*labels, *_written(checkout, Path(folder))]
        answers = _answers(checkout, paths)
        for path, answer in zip(paths, answers, strict=True):
            if answer["broken"] or not answer["program"]:
                continue
            ours = _severity(path, Path(folder))
            refused = answer["refused"]
            if path in labels and labels[path] != bool(refused):
                raise RuntimeError(f"the label of {path.name} is wrong: {refused}")
            yield Case(f"{path.name}: {refused}", bool(ours), bool(refused), _difference(refused, ours))


def _difference(refused: Mapping[str, str], ours: str) -> str:
    if not refused and ours == "warning":
        return "docs/suites.md: A key that our newest table lacks is a WARNING, since a newer version may have it"
    if refused and all(".taskset." in key for key in refused):
        return "docs/suites.md: The keys of a taskset are those of its environment, and are not judged"
    if refused and not any("Extra inputs" in message for message in refused.values()):
        return "docs/suites.md: Most rules in the code of the package are not judged"
    return ""


def _severity(path: Path, root: Path) -> str:
    """Of the worst finding about a key or a value: an error, or a warning where a newer version may have the key."""
    _, out, _ = _dispatched(["preflight", str(path), "--structure-only", "--format", "json"], root)
    checks = json.loads(out)["outcomes"]
    about_keys = [check for check in checks if check["id"].startswith(("CFG002", "CFG004", "CFG009", "CFG012", "PRM"))]
    found = {finding["severity"] for check in about_keys for finding in check["findings"]}
    return next((severity for severity in ("error", "warning") if severity in found), "")


def _written(checkout: Path, folder: Path) -> Iterator[Path]:
    for source in sorted([*checkout.glob("configs/**/*.toml"), *checkout.glob("examples/**/*.toml")]):
        name = str(source.relative_to(checkout)).replace("/", "__")
        if not program_of(Path(name)) or "debug" in source.parts:  # those of other programs
            continue
        text = source.read_text(encoding="utf-8")
        yield _write(folder / name, text)
        keys = [*_KEY.finditer(text)]
        for number, key in enumerate(keys[:: max(1, len(keys) // 4)]):
            at = key.end(1)
            yield _write(folder / f"{number}-{name}", f"{text[:at]}_x{text[at:]}")


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _answers(checkout: Path, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The schema's answer to each file. A file that names an environment without its package gets none."""
    own = checkout / ".venv/bin/python"
    python = str(own) if own.exists() else sys.executable
    lines = "".join(
        json.dumps({"root": str(checkout), "file": str(path), "program": program_of(path)}) + "\n" for path in paths
    )
    words = [python, str(ROOT / "benchmarks/field/children/prime.py")]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def program_of(path: Path) -> str:
    """The program of a file, by its name, or nothing."""
    return next(
        (program for word, program in PROGRAMS.items() if word in path.name.partition(".toml")[0].split("__")), ""
    )
