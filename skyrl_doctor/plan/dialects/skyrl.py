"""Reads SkyRL-agent's two files: dev.conf (shell variables) and the task YAML."""

from collections.abc import Iterator, Mapping

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, own_values, renamed
from skyrl_doctor.plan.dialects.verl.sbatch import mebibytes
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import read_script
from skyrl_doctor.plan.syntax.shell_words import Variable
from skyrl_doctor.plan.syntax.yaml import leaves, scalar

NAME = "skyrl-agent"
SOURCE = "default of SkyRL-agent"
NOTE_TOKENS = 3000
"""SkyRL-agent warns the model when fewer tokens than this are left of max_prompt_length."""

CONF = {
    "MODEL": "model.path",
    "GPU_PARTITION": "slurm.gpu_partition",
    "CPU_PARTITION": "slurm.cpu_partition",
    "GPU_NODES": "slurm.nodes",
    "GPUS_PER_NODE": "slurm.gpus_per_node",
    "TRAINING_CPUS": "slurm.trainer_cpus",
    "CPUS_FOR_RUNTIME": "slurm.runtime_cpus",
    "CPUS_PER_WORKER": "sandbox.cpus",
    "MAX_PARALLEL_AGENTS": "agent.max_parallel",
    "TP_SIZE": "rollout.tensor_parallel_size",
    "SP_SIZE": "actor.sequence_parallel_size",
    "TRAIN_BATCH_SIZE": "data.train_batch_size",
    "BATCH_SIZE": "data.train_batch_size",
    "ROLLOUT_N": "rollout.n",
    "MAX_PROMPT_LENGTH": "data.max_prompt_tokens",
    "MAX_RESPONSE_LENGTH": "data.max_response_tokens",
    "MAX_MODEL_LEN": "rollout.max_model_len",
    "TOTAL_EPOCHS": "trainer.epochs",
    "RUNTIME_READY_TIMEOUT": "slurm.ready_timeout_s",
    "CHECKPOINT_DIR": "trainer.checkpoint_dir",
    "ROLLOUT_DIR": "trainer.rollout_dir",
    "GPU_MEMORY_UTILIZATION": "rollout.gpu_memory_utilization",
}
_MEMORY = {
    "TRAINING_MEMORY": "slurm.trainer_memory_mib",
    "RUNTIME_MEMORY": "slurm.runtime_memory_mib",
    "MEMORY_PER_WORKER": "sandbox.memory_mib",
}
_TIMES = {
    "TRAINING_TIME_LIMIT": ("slurm.trainer_time_limit",),
    "RUNTIME_TIME_LIMIT": ("slurm.runtime_time_limit",),
    "TIME_LIMIT": ("slurm.trainer_time_limit", "slurm.runtime_time_limit"),
}
"""The limit of a single job takes precedence over TIME_LIMIT."""
_LISTS = {
    "TRAIN_DATA": "data.train_files",
    "VAL_DATA": "data.val_files",
    "EXCLUDE_NODES": "slurm.exclude",
    "EXCLUDED_NODES": "slurm.exclude",
}
TASK = {
    "generator.num_trajectories": "agent.trajectories",
    "generator.max_iterations": "agent.max_turns",
    "generator.max_prompt_length": "agent.max_response_tokens",
    "generator.sampling_params.max_tokens": "rollout.max_tokens",
    "generator.sampling_params.temperature": "rollout.temperature",
    "generator.sampling_params.top_p": "rollout.top_p",
    "generator.sampling_params.top_k": "rollout.top_k",
    "generator.sampling_params.stop": "rollout.stop",
    "generator.sampling_params.include_stop_str_in_output": "rollout.keep_stop",
    "generator.qwen3_enable_thinking": "agent.enable_thinking",
    "dispatcher.max_parallel_agents": "agent.max_parallel",
}
"""SkyRL-agent uses generator.max_prompt_length as the limit of the RESPONSE of a rollout over all turns."""
_CONF_SIGNS = frozenset({*CONF, *_MEMORY, *_TIMES, *_LISTS})


def is_conf(names: Mapping[str, object] | set[str]) -> bool:
    """Whether these are variables of a dev.conf: two of its keys, or MODEL."""
    return len(_CONF_SIGNS & set(names)) >= 2 or "MODEL" in names


def read_conf(machine: Machine, source: Source) -> Reading:
    """Reads a dev.conf. An unknown value (a command, an unset variable) is a problem."""
    script = read_script(source, machine.environ())
    own = {name: _own(found, source.file) for name, found in script.variables.items()}
    problems = [
        Problem(message=f"{value.shown}: {value.unknown}", location=value.location, fatal=False)
        for value in own.values()
        if value.unknown and value.location is not None
    ]
    return Reading(dialect=NAME, values=by_key(_conf_values(own)), own=own, problems=tuple(problems))


def read_task(source: Source) -> Reading:
    """Reads SkyRL-agent's task YAML with the defaults of its code."""
    own = own_values(leaves(source), source.file)
    defaults = (
        default(
            "rollout.keep_stop", value=False, own="generator.sampling_params.include_stop_str_in_output", source=SOURCE
        ),
        default("agent.budget_note_tokens", NOTE_TOKENS, own="generator.max_prompt_length", source=SOURCE),
    )
    return Reading(dialect=NAME, values=by_key(renamed(own, TASK), defaults), own=own)


def _own(found: Variable, file: str) -> Value:
    texts = [word.text for word in found.words]
    unknown = next((word.unknown for word in found.words if word.unknown), found.unknown)
    span = found.words[0].span if found.words else None
    value: object = texts if found.is_array else (texts[0] if texts else "")
    return Value(found.name, value, Location(file, found.line, found.name), own=found.name, unknown=unknown, span=span)


def _conf_values(own: Mapping[str, Value]) -> Iterator[Value]:
    for name, key in CONF.items():
        if name in own:
            yield _typed(own[name], key)
    for name, key in _MEMORY.items():
        if name in own:
            yield _made(own[name], key, mebibytes(str(own[name].value)))
    for name, keys in _TIMES.items():
        if name in own:
            yield from (_made(own[name], key, own[name].value) for key in keys)
    for name, key in _LISTS.items():
        if name in own:
            yield _made(own[name], key, _listed(own[name].value))


def _typed(value: Value, key: str) -> Value:
    """Turns a number that the shell holds as a string back into a number."""
    try:
        made = scalar(value.value) if isinstance(value.value, str) else value.value
    except ValueError:
        made = value.value
    is_number = isinstance(made, int | float) and not isinstance(made, bool)
    return _made(value, key, made if is_number else value.value)


def _listed(value: object) -> list[str]:
    return (
        [str(item) for item in value] if isinstance(value, list) else [part for part in str(value).split(",") if part]
    )


def _made(value: Value, key: str, made: object) -> Value:
    kept = value.value if value.unknown else made
    return Value(key, kept, value.location, own=value.own, unknown=value.unknown, span=value.span)
