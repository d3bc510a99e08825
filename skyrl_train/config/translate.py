"""Turns the settings that the doctor read from another framework's configuration into those of a RunConfig. Pure."""

import re
from collections.abc import Iterator, Mapping

from skyrl_train.config.load import ConfigError, shaped
from skyrl_train.config.reference import Setting, settings
from skyrl_train.config.sections.data import DataSection
from skyrl_train.config.sections.slurm import SlurmSection
from skyrl_train.config.walltime import walltime_violations
from skyrl_train.contracts.record import record

_LEFT_OUT = ("env", "python.interpreter")
_OF_THE_USER = ("model.path", "critic.path", "data.train_files", "data.val_files")
"""A default of these names files that a framework's own example has."""
_ENV = "env."
_OF_THE_MACHINE = re.compile(
    r"PATH|HOME|USER|PWD|SHELL|TMPDIR|(?:LD_LIBRARY|PYTHON)PATH|VIRTUAL_ENV|(?:CUDA|ROCR|HIP)_VISIBLE_DEVICES"
    r"|(?:SLURM|SBATCH|RAY|CONDA|MASTER)_.*|(?:LOCAL_)?RANK|WORLD_SIZE"
)
"""Variables of the script's own machine or job, which a launch sets itself."""
_DIRECTORY, _PROJECT, _RUN = "trainer.checkpoint_dir", "trainer.project", "trainer.experiment"
_TRAINER_LIMIT, _RUNTIME_LIMIT = "slurm.trainer_time_limit", "slurm.runtime_time_limit"
_ROLLOUTS, _N, _BATCH = "data.train_batch_rollouts", "rollout.n", "data.train_batch_size"
_MINI_BATCH = "actor.ppo_mini_batch_size"
_PROMPT, _RESPONSE, _CONTEXT = "data.max_prompt_tokens", "data.max_response_tokens", "rollout.max_model_len"
_SEQUENCE = "data.max_sequence_tokens"
_PARSER, _PARSES = "rollout.tool_call_parser", "rollout.auto_tool_choice"
_ENGINE = ("rollout.engine", "vllm")
_RESUME, _RESUME_FROM = "trainer.resume", "trainer.resume_from"
_CRITIC = "critic."
_TASKS = "data.train_files"
AGENT = (
    "each rollout is an agent in a sandbox: the rows of data need an image and tests (see `skyrl-train data convert`), and the "
    "reward of the source is not used"
)
"""The change of each run whose framework has other rollouts."""
_SHARED_GPUS = "the trainer and the server of a run.toml share all GPUs"
_NO_SUCH = "not translated"
_REASONS = {
    "actor.strategy": "a run.toml trains with FSDP; memory and speed differ",
    "deployment.trainer_gpus": _SHARED_GPUS,
    "deployment.inference_gpus": _SHARED_GPUS,
    _ROLLOUTS: f"counts rollouts, and the source has no {_N} that divides it; set {_BATCH} in prompts",
}
"""Why a run.toml has no such value."""
_OPTIMIZER = re.compile(r"(?:^|\.)optim\.(?:type|optimizer)$")
_CHANGES = re.compile(
    r"(?:^|\.)(?:lr|learning_rate|strategy|model_engine|engine|megatron|optim\.type|\w*nodes|\w*gpus\w*|\w*gpu_ids|\w*parallel\w*"
    r"|dp|tp|pp|cp|ep|\w*reward\w*(?!\.num_workers$)|loss\w*|adv_estimator|advantage|\w*dataset\w*|taskset\.id|(?<!eval\.)env\[\d+\]|env_class|\w*_files|\w*seq_len|(?:train_)?batch_size"
    r"|\w*kl_\w*|resume\w*|\w*clip\w*|\w*entropy\w*|\w*epochs\w*|(?<!eval_sampling_params\.)(?<!val_kwargs\.)temperature"
    r"|(?<!eval_)n_samples_per_prompt|max_input_length|max_model_len|max_prompt_length|\w*weight_decay|betas\d?|max_norm|\w*grad_norm"
    r"|\w*lora\w*|\w*policy_loss\w*|\w*overlong_(?:buffer|filter)\w*|\w*filter_groups|dynamic_sampling|\w*warmup_steps\w*|\w*scheduler\w*"
    r"|max_off_policy\w*|max_async_level|max_staleness\w*|off_policy\w*|rollout_(?:is|correction)\w*|eval_interval|eval_before_train|test_freq|val_before_train)"
    r"(?:$|[.\[])"
)
"""Names of settings without which the run is another one: engine, GPUs, parallelism, optimiser, adapter, lengths, loss, data,
reward, resume, samples of older policies and validation."""
_DROPOUT = "lora.dropout"
_OF_A_CRITIC = re.compile(r"(?:^|[._])critic(?:[._]|$)")


@record
class Read:
    """A setting as it was read. `place` is where it is written, empty for a default of the framework.

    `is_default`: it is written with the value that the framework has for it anyway.
    """

    setting: str
    name: str
    value: object
    unknown: str = ""
    place: str = ""
    is_default: bool = False


@record
class Translated:
    """The values of a new configuration, and a sentence for each setting that it does not have.

    `changes` are those that make it another run; `left` the rest.
    """

    values: Mapping[str, object]
    changes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@record
class _Left:
    """A setting that is not carried over, and why."""

    one: Read
    why: str

    def changes_the_run(self, *, has_critic: bool) -> bool:
        names = (self.one.setting, self.one.name)
        if not has_critic and any(_OF_A_CRITIC.search(name) for name in names):
            return False
        return not self.one.is_default and any(_CHANGES.search(name) for name in names)

    def __str__(self) -> str:
        place = self.one.place or "default of the source"
        return f"{place}: {self.one.name} = {self.one.value}: {self.why}"


def translate(read: tuple[Read, ...], others: tuple[Read, ...]) -> Translated:
    """The values that RunConfig accepts. Defaults of the framework are kept where they differ from ours, but for models and
    data."""
    ours = {one.key: one for one in settings() if one.key not in _LEFT_OUT}
    read = tuple(one for one in read if one.place or one.setting not in _OF_THE_USER)
    has_critic = any(one.setting == "algorithm.advantage" and one.value == "gae" for one in read)
    found = {one.setting for one in read}
    named = tuple(one for one in others if one.setting in ours and one.setting not in found)
    values: dict[str, object] = {}
    left: list[_Left] = []
    derived = tuple(_derived(read))
    for one in (*read, *named, *derived):
        known = one.setting in ours or one.setting.startswith(_ENV)
        problem = _problem(one, known=known)
        if (one.setting, one.value) == _ENGINE:
            continue
        if problem and one.place:
            left.append(_Left(one, problem))
        elif not problem and (has_critic or one.place or not one.setting.startswith(_CRITIC)):
            values[one.setting] = one.value
    said_otherwise = {_ROLLOUTS: _BATCH, _SEQUENCE: _RESPONSE}
    left = [one for one in left if said_otherwise.get(one.one.setting) not in values]
    left += [_Left(one, why) for one in others if (why := _beside(one, values))]
    if values.get(_RESUME_FROM) is not None and values.get(_RESUME, "auto") != "path":
        del values[_RESUME_FROM]  # verl and SkyRL read it only then
        left += [
            _Left(one, "the source does not resume from a named checkpoint")
            for one in read
            if one.setting == _RESUME_FROM
        ]
    values, refused = _accepted(_with_own_places(values))
    left = [_Left(one.one, _like(one.one, values) if one.why == _NO_SUCH else one.why) for one in left]
    sources = {one.setting: one for one in (*derived, *read)}
    refusals = [
        _Left(sources[key], _REASONS.get(key) or (_instead(ours[key], why) if key in ours else why))
        for key, why in refused.items()
        if key in sources
    ]
    left += [one for one in refusals if one.one.place or one.changes_the_run(has_critic=has_critic)]
    kept = {key: values[key] for key in ours if key in values and not _is_ours(key, values[key])}
    variables = {key.removeprefix(_ENV): value for key, value in values.items() if key.startswith(_ENV)}
    changes = [
        str(one)
        for one in sorted(left, key=lambda one: one.why not in _REASONS.values())
        if one.changes_the_run(has_critic=has_critic)
    ]
    if not values.get(_TASKS):
        changes.append(f"{_TASKS} is not set: the source names no file of tasks; pass --tasks FILE")
    rest = tuple(str(one) for one in left if not one.changes_the_run(has_critic=has_critic))
    return Translated({**kept, **({"env": variables} if variables else {})}, tuple(changes), rest)


def _beside(one: Read, values: Mapping[str, object]) -> str:
    """Why a setting that the source has beside those of a run.toml is left out; empty if its value is there."""
    if _OPTIMIZER.search(one.name) and str(one.value).lower() == "adamw":
        return ""  # ours too
    if one.name.endswith(_DROPOUT) and not one.value:
        return ""  # so is an adapter without dropout
    if one.setting not in values:
        return _NO_SUCH
    return "" if values[one.setting] == one.value else f"{one.setting} is {values[one.setting]}"


def _with_own_places(values: dict[str, object]) -> dict[str, object]:
    """With what our launch adds by itself: the run's directory below the checkpoints, and a runtime beside the trainer."""
    made = dict(values)
    directory = made.get(_DIRECTORY)
    if isinstance(directory, str):
        own = f"/{made.get(_PROJECT)}/{made.get(_RUN)}"
        if directory.rstrip("/").endswith(own) and directory.rstrip("/") != own:
            made[_DIRECTORY] = directory.rstrip("/").removesuffix(own)
    trainer = made.get(_TRAINER_LIMIT)
    if isinstance(trainer, str) and _RUNTIME_LIMIT not in made:
        usual = SlurmSection().runtime_time_limit
        made.update(
            {
                key: value
                for one in walltime_violations(trainer=trainer, runtime=usual)
                for key, value in one.settings.items()
            }
        )
    return made


def _problem(one: Read, *, known: bool) -> str:
    if one.unknown:
        return one.unknown
    if one.setting == _ENGINE[0] and one.value != _ENGINE[1]:
        return "a run uses vLLM"
    if _OF_THE_MACHINE.fullmatch(one.setting.removeprefix(_ENV)):
        return "each job has its own"
    if known:
        return ""
    return _REASONS.get(one.setting, _NO_SUCH)


def _like(one: Read, values: Mapping[str, object]) -> str:
    """A setting that the doctor does not know under this name may still have its like in a run.toml."""
    last = one.name.rpartition(".")[2]
    like = [ours for ours in settings() if ours.key.rpartition(".")[2] == last]
    if len(like) != 1:
        return _NO_SUCH
    key, default = like[0].key, like[0].default
    if key in values:
        return f"{_NO_SUCH}; {key} is {values[key]}"
    return f"{_NO_SUCH}; {key} is now {default} (the default)" if default else f"{_NO_SUCH}; {key} is not set"


def _instead(setting: Setting, why: str) -> str:
    """What the run uses in place of a value that is none of the setting's words; else why it is refused."""
    if " or " not in setting.kind or '"' not in setting.kind:
        return why
    return f"{setting.key} takes {setting.kind}, and is now {setting.default or 'not set'}"


def _derived(read: tuple[Read, ...]) -> Iterator[Read]:
    """What other frameworks say in another way."""
    found = {one.setting: one for one in read}
    sizes = {key: one.value for key, one in found.items() if isinstance(one.value, int)}
    if _CONTEXT not in found and {_PROMPT, _RESPONSE} <= set(sizes):  # verl's server then has room for both
        yield Read(_CONTEXT, _CONTEXT, sizes[_PROMPT] + sizes[_RESPONSE])
    longest = sizes.get(_SEQUENCE, 0)
    room = longest - sizes.get(_PROMPT, DataSection().max_prompt_tokens)
    if room > 0 and not {_RESPONSE, _CONTEXT} & set(found):  # prime-rl counts a rollout with its prompt
        yield Read(_RESPONSE, found[_SEQUENCE].name, room, place=found[_SEQUENCE].place)
        yield Read(_CONTEXT, found[_SEQUENCE].name, longest, place=found[_SEQUENCE].place)
    if (parser := found.get(_PARSER)) and parser.place and _PARSES not in found:  # prime-rl has no switch for it
        yield Read(_PARSES, parser.name, True, place=parser.place)  # noqa: FBT003 -- the value of the setting
    n = sizes.get(_N, 0)
    if _ROLLOUTS in sizes and n > 0 and not sizes[_ROLLOUTS] % n:  # prime-rl counts rollouts, we count prompts
        for key in (_BATCH, _MINI_BATCH):  # and trains on all of them in one update
            yield Read(key, found[_ROLLOUTS].name, sizes[_ROLLOUTS] // n, place=found[_ROLLOUTS].place)


def _accepted(values: Mapping[str, object]) -> tuple[dict[str, object], dict[str, str]]:
    """The values whose type RunConfig takes, and why the others are refused."""
    kept, refused = {key: _as_ours(value) for key, value in values.items()}, dict[str, str]()
    try:
        shaped(nested({"model.path": "x", **kept}))
    except ConfigError as error:
        for reason in error.reasons:
            key = next((key for key in kept if reason.key == key or reason.key.startswith(f"{key}.")), None)
            if key is not None:
                refused[key] = reason.message
                del kept[key]
    return kept, refused


def _as_ours(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) > 1 else value


def nested(values: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Dotted keys as tables."""
    tables: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        table, _, name = key.partition(".")
        tables.setdefault(table, {})[name] = value
    return tables


def _is_ours(key: str, value: object) -> bool:
    """Whether the value is our default, so that a file need not say it."""
    made = shaped({"model": {"path": "x"}}).model_dump(mode="json")
    table, _, name = key.partition(".")
    return key != "model.path" and made[table][name] == value
