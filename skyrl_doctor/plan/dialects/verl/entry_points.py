"""Recognises verl's trainers in the words of a command: `-m verl.trainer.main_ppo`, `torchrun … sft_trainer.py`, recipes."""

import re
from collections.abc import Sequence

from skyrl_doctor.core.record import record

_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_TRAINER = re.compile(r"main(?:_\w+)?|\w+_main(?:_\w+)?|(?:fsdp_)?sft_trainer(?:_\w+)?")
"""Names of files that start a trainer, in verl and in its recipes."""
_OF_VERL_ALONE = re.compile(r"main_ppo(?:_\w+)?|fsdp_sft_trainer|fully_async_main|\w+_main_ppo")
"""Names that show verl's trainer in any package: forks and other packages call theirs so."""
_PACKAGES = ("verl", "recipe")
_SIGN = "actor_rollout_ref."
_SIGNS = (_SIGN, "critic.model.", "algorithm.adv_estimator=")
_ENOUGH_SIGNS = 2
"""In any package, a main program with so many overrides of verl's own tables is a trainer of verl."""
_PRINT = ("echo", "printf", "grep", "pkill", "pgrep", "cat", "ls", "sed", "awk")
"""Commands whose arguments are text."""


@record
class EntryPoint:
    """A trainer of verl, of a recipe, or of a package that is built on verl.

    `at` is the index of the word that names it. `file` is the path of a Python file, "" for a module.
    """

    module: str
    at: int
    file: str = ""

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]

    @property
    def is_of_verl(self) -> bool:
        """Whether it is part of the package verl itself."""
        return self.module.startswith("verl.")

    @property
    def is_other_program(self) -> bool:
        """Whether it is of neither verl nor one of its recipes: it may compare settings in another way."""
        return not self.module.startswith(("verl.", "recipe."))

    @property
    def is_sft(self) -> bool:
        return "sft_trainer" in self.name

    @property
    def has_own_rollout_gpus(self) -> bool:
        """Whether the rollouts use GPUs beside those of the trainer."""
        return self.name == "fully_async_main" or "one_step_off" in self.module

    @property
    def folder(self) -> str:
        """The folder of its file, from the root of its package."""
        return self.module.rpartition(".")[0].replace(".", "/")


def entry_point(words: Sequence[str]) -> EntryPoint | None:
    """The trainer that a command starts, or None."""
    if not words or words[0] in _PRINT:
        return None
    signs = [word for word in words if word.lstrip("+~").startswith(_SIGNS)]
    is_signed = len(signs) >= _ENOUGH_SIGNS and any(word.lstrip("+~").startswith(_SIGN) for word in signs)
    for at, word in enumerate(words):
        is_module = at > 0 and words[at - 1] == "-m"
        if is_module and _MODULE.fullmatch(word) and _is_trainer(word, is_signed=is_signed):
            return EntryPoint(word, at)
        if word.endswith(".py") and "=" not in word:  # the program; a later file is one of its arguments
            module = _module_of(word)
            return EntryPoint(module, at, word) if _is_trainer(module, is_signed=is_signed) else None
    return None


def _module_of(path: str) -> str:
    """The module of a file, from `verl` or `recipe` on where the path has it."""
    parts = [part for part in path.removesuffix(".py").split("/") if part not in ("", ".", "..")]
    start = next((at for at in reversed(range(len(parts) - 1)) if parts[at] in _PACKAGES), 0)
    return ".".join(parts[start:])


def _is_trainer(module: str, *, is_signed: bool) -> bool:
    package, _, rest = module.partition(".")
    name = module.rpartition(".")[2]
    if is_signed or (package in _PACKAGES and rest):
        return _TRAINER.fullmatch(name) is not None or _OF_VERL_ALONE.fullmatch(name) is not None
    return _OF_VERL_ALONE.fullmatch(name) is not None
