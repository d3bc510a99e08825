"""The releases of verl whose rules on values a run meets."""

import re
from collections.abc import Iterator, Mapping

from skyrl_doctor.plan.dialects.verl.entry_points import EntryPoint
from skyrl_doctor.plan.dialects.verl.releases import releases
from skyrl_doctor.plan.dialects.verl.runs import Place
from skyrl_doctor.plan.dialects.verl.tree import OnDisk, without_comments
from skyrl_doctor.plan.dialects.verl.versions import Verl
from skyrl_doctor.plan.model import Release, Value
from skyrl_train.config.releases import Span, neighbours
from skyrl_train.config.verl_choices import CHOICES

_TRAINERS = ("verl.trainer.main_ppo", "verl.trainer.main_ppo_sync", "verl.experimental.one_step_off_policy.main_ppo")
"""The entry points that run verl's validate_config."""
_BASE_TRAINER, _VALIDATES = "verl/trainer/ppo/ray_trainer.py", "validate_config("
_BASE_VALIDATES = Span(until="0.6")
"""Up to 0.5 every trainer is built on one that refuses settings; since then a program calls the function itself."""
_WORD = re.compile(r"[\w.+-]{1,80}")


def release_of(entry: EntryPoint, verl: Verl | None, own: Mapping[str, Value]) -> Release | None:
    """The release whose rules judge the values; None for another trainer, or without a configuration tree."""
    if verl is None or entry.module not in _TRAINERS:
        return None
    known = [one.version for one in releases() if entry.module in one.entries]
    if not verl.is_known:
        others = [version for version in known if version != verl.version]
        return Release(verl.label, (verl.version, *others))
    versions = neighbours(verl.version, known) if verl.version else tuple(known)  # a checkout need not tell it
    is_changed = verl.version not in known or not verl.place.endswith("/site-packages")
    files = verl.files if is_changed and isinstance(verl.files, OnDisk) else None
    return Release(verl.label, versions, frozenset(() if files is None else _own_words(files, own, versions)))


def compares_settings(entry: EntryPoint, verl: Verl | None, place: Place) -> bool:
    """Whether the program refuses settings as verl's own trainers do. Its source tells, if it lies in the checkout.

    Without it a trainer of verl or of a recipe is taken to do so.
    """
    if entry.is_other_program:
        return False
    if entry.module in _TRAINERS or entry.is_sft or entry.has_own_rollout_gpus or verl is None:
        return True
    files = verl.files if isinstance(verl.files, OnDisk) else None
    program = (files and files.text(f"{entry.module.replace('.', '/')}.py")) or place.program(entry)
    if program is None or _VALIDATES in without_comments(program):
        return True
    if files is not None:
        return _VALIDATES in without_comments(files.text(_BASE_TRAINER) or "")
    return not verl.version or _BASE_VALIDATES.holds(verl.version)


def _own_words(files: OnDisk, own: Mapping[str, Value], versions: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The words that no release has, but the sources on this machine: a fork may add an estimator."""
    for key, choice in CHOICES.items():
        value = own.get(key)
        word = value.value if value is not None and not value.unknown else None
        if (
            not isinstance(word, str)
            or not _WORD.fullmatch(word)
            or not all(choice.refuses(word, version) for version in versions)
        ):
            continue
        paths = (path.replace("{word}", word) for path in choice.files)
        name = key.rpartition(".")[2]
        if any(_names(path, text, name, word) for path in paths if (text := files.text(path)) is not None):
            yield key, word


def _names(path: str, text: str, name: str, word: str) -> bool:
    """Whether a source has the word in quotes, or a configuration sets the key to it."""
    if path.endswith(".yaml"):
        return re.search(rf"^{name}: *[\"']?{re.escape(word)}[\"']? *(?:#|$)", text, re.MULTILINE) is not None
    return any(f"{quote}{word}{quote}" in text for quote in "\"'")
