"""Names of other frameworks for our settings."""

import pytest

from skyrl_doctor.plan.names import skyrl
from skyrl_doctor.plan.names.prime_rl import table
from skyrl_train.config.reference import settings
from skyrl_train.config.synonyms import _SETTINGS, likely_settings
from skyrl_train.contracts.verl_keys import by_setting

KNOWN = [one.key for one in settings()]


def test_every_setting_exists() -> None:
    assert [name for names in _SETTINGS.values() for name in names if name not in KNOWN] == []


def translations() -> list[tuple[str, str]]:
    """Last parts of the names by which the doctor reads other frameworks, and the settings that they are."""
    verl = [(row.verl, key) for key in KNOWN if (row := by_setting(key)) is not None]
    prime = [pair for file in ("prime_rl.json", "prime_rl_2025.json") for pair in table(file)["names"].items()]
    return [(name.rpartition(".")[2], key) for name, key in (*verl, *prime, *skyrl.NAMES.items()) if key in KNOWN]


def test_the_table_agrees_with_the_translations() -> None:
    """A name of the table that a framework has means there, among others, what the table says."""
    meant: dict[str, set[str]] = {}
    for name, key in translations():
        meant.setdefault(name, set()).add(key)
    assert {name: meant[name] for name in _SETTINGS if name in meant and not meant[name] & set(_SETTINGS[name])} == {}
    assert len([name for name in _SETTINGS if name in meant]) > 20


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("actor.learning_rate", ["actor.lr"]),
        ("trainer.learning-rate", ["actor.lr", "critic.lr"]),
        ("rollout.max_new_tokens", ["rollout.max_tokens"]),
        ("trainer.num_gpus", ["slurm.gpus_per_node"]),
        ("trainer.unheard_of", []),
    ],
)
def test_a_name_of_another_framework(key: str, expected: list[str]) -> None:
    assert likely_settings(key) == expected
