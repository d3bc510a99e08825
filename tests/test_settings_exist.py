"""Every setting that a remedy, a watch rule or a page names exists in the dialect in which it is printed."""

import ast
import contextlib
import importlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plans import example
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.plan.dialects import schema
from skyrl_doctor.plan.dialects.verl.defaults import ENGINES, shipped
from skyrl_doctor.plan.keys import EXTRA, key_in
from skyrl_doctor.plan.names import prime_rl, skyrl_agent
from skyrl_doctor.plan.schemas.dated import history
from skyrl_train.config.dialect import _ONLY_SEED, _ONLY_TODAY
from skyrl_train.contracts.verl_keys import ADDED, KEYS, hydra_key

ROOT = Path(__file__).parent.parent
PRINTED = ("checks", "skyrl_doctor", "skyrl_train/config", "skyrl_train/memory")
PAGES = (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
FREE = ("env",)
"""Tables of ours whose keys are the user's own."""
OF_SKYRL_AGENT = ("generator", "dispatcher", "skyrl_agent")
KEY = re.compile(
    r"(?<![\w./{}$<>…-])(?P<plus>\+{0,2})(?P<key>[a-z_]\w*(?:\.[A-Za-z_]\w*)+)(?P<rest>[\w./{}(…*-]?)(?P<is>\s?=)?"
)
QUOTED = re.compile(r"`([^`\n]+)`")
ASSIGNED = re.compile(r"(?<![\w./{}$<>…-])\+{0,2}[a-z_]\w*(?:\.[A-Za-z_]\w*)+ ?= ?(?![=<>])\S")
FILES = re.compile(
    r"\.(?:py|md|toml|json|jsonl|yaml|yml|sh|conf|txt|log|flag|lock|pt|out|err|prom|svg|png|parquet|sock|gz|db|so|whl)$"
)
METHODS = frozenset({"get", "items", "append", "join", "format", "strip", "update", "resume_from_checkpoint"})


PRIME_FINE_TUNING = (
    "data.seq_len",
    "data.batch_size",
    "data.micro_batch_size",
    "data.name",
    "model.seq_len",
    "model.lora.rank",
)
PRIME_BESIDE = (
    "orchestrator.algo",
    "trainer.model.ac.freq",
    "trainer.model.lora.target_modules",
    "trainer.micro_batch_size",
    "deployment.type",
    "deployment.num_infer_nodes",
    "deployment.num_infer_replicas",
    "inference.deployment.type",
    "inference.deployment.num_nodes",
    "inference.deployment.prefill_nodes_per_replica",
    "inference.deployment.num_prefill_replicas",
    "inference.deployment.decode_nodes_per_replica",
    "inference.deployment.num_decode_replicas",
    "inference.enable_expert_parallel",
    "inference.vllm.enable_expert_parallel",
    "trainer.model.name",
    "slurm.template_path",
    "trainer.tokenizer.chat_template",
    "orchestrator.tokenizer.chat_template",
    "inference.vllm.chat_template",
    "inference.model.chat_template",
    "deployment.num_gpus",
    "inference.kv_cache_offload",
    "inference.vllm.enable_prefix_caching",
    "resume.dir",
    "resume.step",
    "wandb.shared",
    *PRIME_FINE_TUNING,
)
"""Keys of prime-rl that the memory model, launch and CFG012 read and that stand in none of the stored tables."""


ASYNCHRONOUS = (
    "async_training.staleness_threshold",
    "async_training.trigger_parameter_sync_step",
    "generator.batched",
    "orchestrator.concurrency.max_inflight",
    "rollout.n_gpus_per_node",
    "rollout.nnodes",
    "orchestrator.token_batch_size",
    "trainer.fully_async.enabled",
    "trainer.fully_async.max_staleness_steps",
    "trainer.fully_async.num_parallel_generation_workers",
    "trainer.placement.colocate_all",
    "trainer.placement.policy_num_gpus_per_node",
    "trainer.placement.policy_num_nodes",
    "trainer.policy.megatron_config",
    "trainer.policy_mini_batch_size",
    "trainer.strategy",
    "trainer.train_batch_size",
)
"""Keys of verl's and SkyRL's asynchronous trainers and of prime-rl that none of the stored tables holds."""


FINE_TUNING = (
    "data.max_length",
    "data.max_token_len_per_gpu",
    "data.micro_batch_size_per_gpu",
    "data.use_dynamic_bsz",
    "engine.strategy",
    "model.partial_pretrain",
    "model.strategy",
)
"""Keys of verl's supervised fine-tuning, whose tree is not stored."""


class Named(NamedTuple):
    """A setting in a text, and where the text is."""

    where: str
    key: str
    plus: str = ""
    is_set: bool = False


def ours() -> frozenset[str]:
    return frozenset(schema.rules()) | frozenset(EXTRA)


def verl() -> dict[str, Any]:
    """verl's stored trees of all engines, as one."""
    return {key: value for engine in ENGINES for key, value in shipped(engine).values.items()}


def prime_rl_keys() -> frozenset[str]:
    """All keys of prime-rl that the repository knows: its tables of facts, and its users' own files."""
    found = {*PRIME_BESIDE, *_ONLY_TODAY, *_ONLY_SEED}
    for name in ("prime_rl.json", "prime_rl_2025.json"):
        found |= {*prime_rl.table(name)["names"], *prime_rl.table(name)["defaults"]}
    renames = prime_rl.table("prime_rl_renames.json")["keys"]
    found |= {*renames, *(new["to"] for new in renames.values() if "to" in new)}
    for file in (ROOT / "examples").glob("prime-rl*/*.toml"):
        found |= set(dotted(tomllib.loads(file.read_text(encoding="utf-8"))))
    return frozenset(found)


def dotted(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in table.items():
        yield f"{above}{name}"
        for inner in [value] if isinstance(value, dict) else value if isinstance(value, list) else []:
            if isinstance(inner, dict):
                yield from dotted(inner, f"{above}{name}.")


def skyrl_keys() -> frozenset[str]:
    """Every key that SkyRL's trainer has had."""
    return frozenset(key for program in ("train", "sft") for key in history("skyrl").union(program).keys)


OURS, VERL, PRIME, SKYRL = ours(), verl(), prime_rl_keys(), skyrl_keys()
OPEN = (*(f"{key}." for key, value in VERL.items() if value == {}), "ray_kwargs.ray_init.")
"""Tables of verl that take any key, with a plus."""
TABLES = frozenset(key.partition(".")[0] for key in (*OURS, *VERL, *PRIME, *(row.verl for row in KEYS)))
BESIDE = {"verl": {"agent.trajectories": "skyrl_agent.num_trajectories"}}
"""Keys that a program beside verl adds to its tree."""
OLD = frozenset(name for row in KEYS for name in row.older) | {"trainer.use_legacy_worker_impl"}
"""Keys of older releases that a rule still reads."""


def has(keys: Any, key: str) -> bool:
    return key in keys or any(other.startswith(f"{key}.") for other in keys)


def fault(one: Named) -> str:
    """Why a setting cannot be written as it is printed; "" where it can."""
    key, first = one.key, one.key.partition(".")[0]
    if first not in TABLES or first in (*FREE, *OF_SKYRL_AGENT) or FILES.search(key):
        return ""
    if one.plus:
        is_free = not has(VERL, key) or isinstance(VERL.get(key, {}), dict) or one.plus == "++" or VERL.get(key) is None
        return "" if is_free else "exists in verl's tree: Hydra refuses it with a plus"
    if (
        any(has(keys, key) for keys in (OURS, VERL, PRIME, SKYRL))
        or key in {*OLD, *ASYNCHRONOUS, *FINE_TUNING}
        or key.startswith(OPEN)
    ):
        return ""
    return "is no setting of ours, of verl, of prime-rl or of SkyRL"


def named_in(text: str, where: str) -> Iterator[Named]:
    """Settings in backticks, and those in the form a.b = value."""
    parts = [*QUOTED.findall(text), *ASSIGNED.findall(text)]
    for part in parts:
        for found in KEY.finditer(part):
            if found["rest"] or found["key"].rpartition(".")[2] in METHODS:
                continue  # a path, a call, or a part of a name
            yield Named(where, found["key"], found["plus"], found["is"] is not None)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PRINTED:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))


def texts(tree: ast.Module) -> Iterator[str]:
    """Every text of a module: docstrings, messages, constants. Values in f-strings become {}."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def printed() -> Iterator[Named]:
    for where, tree in modules():
        for text in texts(tree):
            yield from named_in(text, where)
            if re.fullmatch(r"[a-z_]+(?:\.[a-z_]\w*)+", text):  # a key by itself, which some message will name
                yield Named(where, text)
    for page in PAGES:
        yield from named_in(page.read_text(encoding="utf-8"), str(page.relative_to(ROOT)))


def test_every_setting_that_is_printed_exists() -> None:
    assert {(one.where, one.plus + one.key): why for one in printed() if (why := fault(one))} == {}


def canonical() -> Iterator[tuple[str, str]]:
    """The keys that checks, rules and constraints hand on to be named in the user's dialect."""
    for where, tree in modules():
        keys = [key for node in ast.walk(tree) for key in _handed_on(node)]
        if keys:
            module = importlib.import_module(where.removesuffix(".py").replace("/", "."))
            yield from ((where, value) for key in keys if (value := _value(key, module)) is not None)


def _handed_on(node: ast.AST) -> list[ast.expr | None]:
    if not isinstance(node, ast.Call):
        return []
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "Change":
        return [*node.args[:1], *(word.value for word in node.keywords if word.arg in ("key", "like"))]
    if name == "settings" and node.args and isinstance(node.args[0], ast.Dict):
        return list(node.args[0].keys)
    if name == "Violation":
        tables = [word.value for word in node.keywords if word.arg == "settings"]
        return [key for table in tables if isinstance(table, ast.Dict) for key in table.keys]
    return []


def _value(node: ast.expr | None, module: Any) -> str | None:
    """The text of a constant, or of a name of the module."""
    value = node.value if isinstance(node, ast.Constant) else getattr(module, getattr(node, "id", ""), None)
    return value if isinstance(value, str) else None


def test_what_is_named_in_the_users_dialect_is_a_canonical_key() -> None:
    found = list(canonical())
    assert len(found) > 40
    assert {(where, key) for where, key in found if key not in OURS} == set()


def exists_in(dialect: str, name: str) -> bool:
    """Whether a program that reads this dialect knows the setting."""
    match dialect:
        case "run-config":
            return name in OURS or name.startswith("env.")
        case "prime-rl" | "prime-rl-2025":
            return has(PRIME, name)
        case "skyrl-agent" if skyrl_agent.is_name(name):
            return True
    plain = name.lstrip("+")
    return has(VERL, plain) if plain == name else plain.startswith(OPEN) or plain in ADDED


@pytest.mark.parametrize("dialect", ["run-config", "verl", "skyrl-agent", "prime-rl", "prime-rl-2025"])
def test_each_canonical_key_has_a_name_that_exists_in_each_dialect_or_none(dialect: str) -> None:
    names = {key: key_in(dialect, key) for key in sorted(OURS)}
    assert {key: name for key, name in names.items() if name and not exists_in(dialect, hydra_key(name))} == BESIDE.get(
        dialect, {}
    )
    assert [name for name in names.values() if name] != []


EXAMPLES = sorted(
    str(file.relative_to(ROOT))
    for file in (ROOT / "examples").rglob("*")
    if file.suffix in {".toml", ".sh", ".conf", ".yaml"} and "notes" not in file.parts
)


@pytest.mark.parametrize("target", EXAMPLES)
def test_remedies_of_the_examples_name_settings_of_their_dialect(
    target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    with contextlib.suppress(SystemExit):
        dispatch(["preflight", target, "--structure-only", "--format", "json"])
    report = capsys.readouterr().out
    if not report:
        return  # no target of its own: a part of another one
    remedies = [one["remedy"] for check in json.loads(report)["outcomes"] for one in check["findings"]]
    named = {name for one in remedies if one and one["kind"] == "FIX_CONFIG" for name in one["settings"]}
    dialect = example(target).dialect
    assert {name for name in named if not exists_in(dialect, name)} == set()


def test_the_watch_gives_no_phrase_as_a_value() -> None:
    phrases = []
    for where, tree in modules():
        calls = [
            node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Change"
        ]
        values = [
            one for node in calls for one in (*node.args[1:2], *(k.value for k in node.keywords if k.arg == "value"))
        ]
        phrases += [(where, one.value) for one in values if isinstance(one, ast.Constant) and " " in str(one.value)]
    assert phrases == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('`actor.optim.lr = "a third of it"`', "is no setting of ours, of verl, of prime-rl or of SkyRL"),
        ("set actor.optim.lr = 1e-6", "is no setting of ours, of verl, of prime-rl or of SkyRL"),
        ("`actor.lr = 1e-6`", ""),
        ("`+actor_rollout_ref.model.lora.merge=True`", "exists in verl's tree: Hydra refuses it with a plus"),
        ("`actor_rollout_ref.model.lora.merge=True`", ""),
        ("`+actor_rollout_ref.rollout.engine_kwargs.vllm.x=1`", ""),
        ("`trainer.model.lora.rank`", ""),
        ("`data.pt`", ""),
    ],
)
def test_the_old_faults_are_found(text: str, why: str) -> None:
    (found,) = {fault(one) for one in named_in(text, "x")} or {""}
    assert found == why
