"""The stored trees of verl's releases."""

import json
import zipfile
from pathlib import Path

import pytest

from skyrl_doctor.plan.dialects.verl.collect_releases import table
from skyrl_doctor.plan.dialects.verl.defaults import flat
from skyrl_doctor.plan.dialects.verl.releases import Release, release, releases
from skyrl_doctor.plan.dialects.verl.tree import Search
from skyrl_doctor.plan.syntax.hydra_defaults import compose

KEYS = {"0.3.0.post0": 157, "0.5.0": 306, "0.9.1": 899}
"""Keys of main_ppo, counted by Hydra itself."""


def test_every_release_from_0_3_on_the_newest_first() -> None:
    assert [found.version for found in releases()] == [
        *("0.9.1", "0.9.0", "0.8.0", "0.7.1", "0.7.0", "0.6.1", "0.6.0", "0.5.0", "0.4.1", "0.4.0"),
        *("0.3.0.post1", "0.3.0.post0"),
    ]


@pytest.mark.parametrize("found", releases(), ids=lambda found: found.version)
def test_every_trainer_of_every_release_composes(found: Release) -> None:
    names = {module.rpartition(".")[2] for module in found.entries}
    assert {"main_ppo", "main_eval"} <= names
    for module in found.entries:
        entry = found.entry(module)
        assert entry is not None
        places = ((found, entry.folder), (found, "verl/trainer/config"))
        assert compose(Search(places), entry.name).tree != {}


def test_the_trees_are_those_that_hydra_composes() -> None:
    counted = {}
    for version in KEYS:
        found = release(version)
        assert found is not None
        counted[version] = len(dict(flat(compose(Search(((found, "verl/trainer/config"),)), "ppo_trainer").tree)))
    assert counted == KEYS


def wheel(folder: Path, version: str, **files: str) -> str:
    path = folder / f"verl-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        for name, text in files.items():
            made.writestr(name.replace("__", "/").replace("_py", ".py").replace("_yaml", ".yaml"), text)
    return str(path)


def test_wheels_share_equal_files(tmp_path: Path) -> None:
    shared = {"verl__trainer__config__a_yaml": "# @package _global_\ndefaults: [b]\nx: 1e-6\n"}
    main = '@hydra.main(config_path="config", config_name="a", version_base=None)\n'
    old = wheel(tmp_path, "0.9.0", **shared, verl__trainer__main_py=main)
    new = wheel(tmp_path, "0.10.0", **shared, verl__trainer__config__b_yaml="y: [1]\n", verl__other__a_yaml="z: 1\n")
    index, *lines = table([old, new]).splitlines()
    assert json.loads(index) == {
        "package": "verl",
        "releases": {
            "0.10.0": {"files": {"verl/trainer/config/a": 1, "verl/trainer/config/b": 2}, "entries": {}},
            "0.9.0": {
                "files": {"verl/trainer/config/a": 1},
                "entries": {"verl.trainer.main": ["verl/trainer/config", "a"]},
            },
        },
    }
    assert [json.loads(line) for line in lines] == [["_global_", ["b"], {"x": 1e-06}], [None, [], {"y": [1]}]]
