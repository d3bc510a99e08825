"""The releases of verl whose rules on values a run meets."""

import re
from collections.abc import Iterator, Mapping

from skyrl_doctor.plan.dialects.verl.entry_points import EntryPoint
from skyrl_doctor.plan.dialects.verl.releases import releases
from skyrl_doctor.plan.dialects.verl.tree import OnDisk
from skyrl_doctor.plan.dialects.verl.versions import Verl
from skyrl_doctor.plan.model import Release, Value
from skyrl_train.config.releases import neighbours
from skyrl_train.config.verl_choices import CHOICES

_TRAINERS = ("verl.trainer.main_ppo", "verl.trainer.main_ppo_sync", "verl.experimental.one_step_off_policy.main_ppo")
"""The entry points that run verl's validate_config."""
_WORD = re.compile(r"[\w.+-]{1,80}")


def release_of(entry: EntryPoint, verl: Verl | None, own: Mapping[str, Value]) -> Release | None:
    """The release whose rules judge the values; None for another trainer, or without a configuration tree."""
    if verl is None or entry.module not in _TRAINERS:
        return None
    known = [one.version for one in releases() if entry.module in one.entries]
    if not verl.is_known:
        others = [version for version in known if version != verl.version]
        return Release(verl.label, (verl.version, *others))
    versions = neighbours(verl.version, known)
    is_changed = verl.version not in known or not verl.place.endswith("/site-packages")
    files = verl.files if is_changed and isinstance(verl.files, OnDisk) else None
    return Release(verl.label, versions, frozenset(() if files is None else _own_words(files, own, versions)))


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
        texts = (text for path in choice.files if (text := files.text(path.replace("{word}", word))) is not None)
        if any(f"{quote}{word}{quote}" in text for text in texts for quote in "\"'"):
            yield key, word
