"""The keys of each framework that name a file of the run's own: a program, a list of tools, a template."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.model import Plan, Value

PACKAGE, FILE = "pkg://", "file://"
_ROLLOUT = "actor_rollout_ref.rollout"
_MULTI_TURN = f"{_ROLLOUT}.multi_turn"


@record(kw_only=True)
class FileKey:
    """`kind` is what the file must be. `only_if`: another key, and whether its value makes the program open the file.

    `is_beside_package`: the program also looks for a relative path beside its own package.
    """

    kind: str
    only_if: tuple[str, Callable[[Any], bool]] | None = None
    is_beside_package: bool = False

    def is_opened(self, own: Mapping[str, Value]) -> bool:
        """Whether the program opens it for certain."""
        if self.only_if is None:
            return True
        key, opens = self.only_if
        found = own.get(key)
        return found is not None and not found.unknown and opens(found.value)


_MODULE = FileKey(kind="a Python file")
_BY_TURNS = (f"{_MULTI_TURN}.enable", lambda value: value is True)
_TOOLS = FileKey(kind="a YAML file", only_if=_BY_TURNS, is_beside_package=True)
_TEMPLATE = FileKey(kind="a file with a chat template")

_KEYS: Mapping[str, Mapping[str, FileKey]] = {
    "verl": {
        "reward.custom_reward_function.path": _MODULE,
        "custom_reward_function.path": _MODULE,
        "data.custom_cls.path": _MODULE,
        "reward.reward_manager.module.path": FileKey(
            kind=_MODULE.kind, only_if=("reward.reward_manager.source", lambda value: value == "importlib")
        ),
        "reward_manager.module.path": FileKey(
            kind=_MODULE.kind, only_if=("reward_manager.source", lambda value: value == "importlib")
        ),
        "trainer.v1.sampler.custom_sampler.path": _MODULE,
        f"{_MULTI_TURN}.tool_config_path": _TOOLS,
        f"{_MULTI_TURN}.interaction_config_path": _TOOLS,
        f"{_MULTI_TURN}.function_tool_path": FileKey(kind=_MODULE.kind, only_if=_BY_TURNS, is_beside_package=True),
        f"{_ROLLOUT}.agent.agent_loop_config_path": FileKey(kind=_TOOLS.kind, is_beside_package=True),
    },
    "skyrl": {
        "generator.chat_template.name_or_path": FileKey(
            kind=_TEMPLATE.kind,
            only_if=("generator.chat_template.source", lambda value: value == "file"),
        ),
    },
    "prime-rl": {
        "slurm.template_path": FileKey(kind="a template of a batch script"),
        "tokenizer.chat_template": _TEMPLATE,
        "trainer.tokenizer.chat_template": _TEMPLATE,
        "orchestrator.tokenizer.chat_template": _TEMPLATE,
        "inference.vllm.chat_template": _TEMPLATE,
        "inference.model.chat_template": _TEMPLATE,
    },
}
"""verl loads a module from `pkg://…` by its import name; prime-rl and vLLM also take the text of a template."""


def named_files(plan: Plan) -> Iterator[tuple[str, FileKey, Value]]:
    """The keys that the user wrote and whose files the program opens."""
    for dialect in plan.dialect.split("+"):
        for name, key in _KEYS.get(dialect, {}).items():
            value = plan.own.get(name)
            if value is not None and value.written and value.value and key.is_opened(plan.own):
                yield name, key, value


def local_path(value: Value) -> str | None:
    """The path; None for a module of a package, and for a template that is written out."""
    text = str(value.value)
    if text.startswith(PACKAGE) or "{" in text or "\n" in text:
        return None
    return text.removeprefix(FILE)
