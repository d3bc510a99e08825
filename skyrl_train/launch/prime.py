"""Launches a prime-rl run: prime-rl's engine and command line with our gates, job directory and watch. Pure.

With a [slurm] table, prime-rl's own launcher submits a batch job and calls itself there without the table. This does the
same: [slurm] becomes the options of the job, and `rl` gets the rest.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skyrl_train.config.dialect import SEED, prime_gpus, prime_schema
from skyrl_train.config.load import ConfigError, shaped
from skyrl_train.config.run import RunConfig
from skyrl_train.config.walltime import minutes
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import PRIME_CONFIG, PRIME_SCRIPT

NOT_FOR_RL = ("slurm", "waivers")
"""Tables that `rl` does not get: one is ours, one is the doctor's."""
SLURM_KEYS = {"partition": "gpu_partition", "account": "account", "qos": "qos", "time": "trainer_time_limit"}
"""prime-rl's keys of [slurm], and the keys of our slurm section."""
OTHER_KEYS = ("job_name", "nodelist", "exclude", "project_dir", "pre_run_command")
UV_RUN = ("uv", "run", "rl", "@")
NO_LIMIT = "0"
CPUS_OF_A_GPU = 4
_HEADER = re.compile(r"^\s*\[{1,2}\s*([^\[\]#]+?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[.=]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimeRun:
    """A prime-rl run. `rl` reads `text` and runs in `project_dir`; our own parts use `config`."""

    config: RunConfig
    text: str
    project_dir: str
    before: str
    logs: str
    options: tuple[str, ...]
    """sbatch options. With a [slurm] table the job gets a whole node, as prime-rl's own job does; else a share of one."""

    def command(self, job_dir: str) -> tuple[str, ...]:
        """The command as a user of prime-rl types it."""
        return (*UV_RUN, os.path.join(job_dir, PRIME_CONFIG))

    def payload(self, job_dir: str) -> tuple[str, ...]:
        return ("/bin/bash", os.path.join(job_dir, PRIME_SCRIPT))


def prime_run(text: str, *, cwd: str) -> PrimeRun | None:
    """The run that a prime-rl TOML describes; None for another TOML. UsageError if it cannot run as one job."""
    table = tomllib.loads(text)
    schema = prime_schema(table)
    if schema is None:
        return None
    slurm = _table(table, "slurm")
    unknown = sorted(set(slurm) - set(SLURM_KEYS) - set(OTHER_KEYS))
    if unknown:
        raise UsageError(
            f"`launch` does not support slurm.{unknown[0]}; use only "
            f"{', '.join(sorted((*SLURM_KEYS, *OTHER_KEYS)))}, or submit the run with `uv run rl @ FILE`"
        )
    wrong = next((name for name, value in slurm.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise UsageError(f"slurm.{wrong} is {slurm[wrong]!r}; expected a string")
    if minutes(slurm.get("time", NO_LIMIT)) is None:
        raise UsageError(f"slurm.time is {slurm['time']!r}; expected a time limit of sbatch, such as 6:00:00")
    _refuse(table)
    gpus = _seed_gpus(table) if schema == SEED else _gpus(table)
    project = os.path.normpath(os.path.join(cwd, os.path.expanduser(slurm.get("project_dir", "."))))
    output = str(table.get("output_dir", "outputs"))
    return PrimeRun(
        config=_config(table, slurm, gpus, output),
        text=without(text, NOT_FOR_RL),
        project_dir=project,
        before=slurm.get("pre_run_command", ""),
        logs=os.path.join(project, os.path.expanduser(output), "logs"),
        options=_options(slurm, gpus, exclusive="slurm" in table),
    )


def _refuse(table: Mapping[str, Any]) -> None:
    """UsageError for settings that cannot run as one job on one node."""
    kind = _table(table, "deployment").get("type", "single_node")
    if kind != "single_node":
        raise UsageError(
            f'deployment.type is "{kind}", but `launch` runs prime-rl on one node; set "single_node", '
            "or submit the run with `uv run rl @ FILE`"
        )
    if table.get("dry_run"):
        raise UsageError(
            "dry_run = true would train nothing; set it to false, and use `skyrl-train launch --dry-run` to see the job"
        )
    if "toml_files" in table:
        raise UsageError(
            "toml_files is not supported, because the job gets a copy of this file only; merge the files into one"
        )


def _options(slurm: Mapping[str, str], gpus: int, *, exclusive: bool) -> tuple[str, ...]:
    named = {"time": slurm.get("time"), "nodelist": slurm.get("nodelist")}
    extra = (f"--{option}={value}" for option, value in named.items() if value)
    share = "--exclusive" if exclusive else f"--cpus-per-task={CPUS_OF_A_GPU * gpus}"
    return ("--nodes=1", "--ntasks-per-node=1", f"--gres=gpu:{gpus}", share, "--no-requeue", *extra)


def _config(table: Mapping[str, Any], slurm: Mapping[str, str], gpus: int, output: str) -> RunConfig:
    own = {SLURM_KEYS[name]: value for name, value in slurm.items() if name in SLURM_KEYS}
    exclude = [name for name in slurm.get("exclude", "").split(",") if name]
    fixed = {"gpus_per_node": gpus, "exclude": exclude, "signal_before_end_s": 0}
    model = _table(table, "model").get("name") or _table(_table(table, "trainer"), "model").get("name")
    trainer = {"experiment": slurm.get("job_name", "prime-rl"), "checkpoint_dir": output}
    try:
        return shaped(
            {
                "model": {"path": model or "prime-rl"},
                "slurm": {"trainer_time_limit": NO_LIMIT, **own, **fixed},
                "trainer": trainer,
            }
        )
    except ConfigError as error:
        raise UsageError(str(error).replace("\n", "; ")) from None


def _gpus(table: Mapping[str, Any]) -> int:
    deployment = _table(table, "deployment")
    return prime_gpus(
        written=_count(deployment, "gpus_per_node", 0) if "gpus_per_node" in deployment else None,
        in_slurm="slurm" in table,
        inference=_count(deployment, "num_infer_gpus", 1) if "inference" in table else 0,
        trainer=_count(deployment, "num_train_gpus", 1),
    )


def _seed_gpus(table: Mapping[str, Any]) -> int:
    ids = [one for key in ("inference_gpu_ids", "trainer_gpu_ids") for one in _ids(table.get(key, [0]), key)]
    return len(set(ids))


def _ids(value: object, key: str) -> Sequence[int]:
    if isinstance(value, list) and value and all(isinstance(one, int) for one in value):
        return value
    raise UsageError(f"{key} is {value!r}; expected a list of whole numbers")


def _count(table: Mapping[str, Any], key: str, default: int) -> int:
    value = table.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise UsageError(f"deployment.{key} is {value!r}; expected a whole number above 0")


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    if isinstance(value, Mapping):
        return value
    raise UsageError(f"{key} is {value!r}; expected a table")


def without(text: str, tables: Sequence[str]) -> str:
    """The TOML without these tables. Comments and order are kept. UsageError if the other tables would change."""
    original = tomllib.loads(text)
    expected = {name: value for name, value in original.items() if name not in tables}
    if expected == original:
        return text
    kept, inside, at_top = [], False, True
    for line in text.splitlines(keepends=True):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            inside, at_top = header[1].split(".")[0].strip("\"' ") in tables, False
        if not inside and not (at_top and key is not None and key[1] in tables):
            kept.append(line)
    left = "".join(kept)
    try:
        if tomllib.loads(left) == expected:
            return left
    except tomllib.TOMLDecodeError:
        pass
    raise UsageError(
        f"[{'], ['.join(tables)}] cannot be separated from the rest of the TOML; write each as a table of its own"
    )
