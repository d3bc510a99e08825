"""Defaults lists are composed as Hydra does. tests/lanes/verl holds generated trees against Hydra itself."""

from typing import Any

import pytest

from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.hydra_defaults import Choice, ComposeError, Config, compose
from skyrl_doctor.plan.syntax.yaml import tree


class Files:
    """Files by path, in memory."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def load(self, path: str) -> Config | None:
        text = self._texts.get(path)
        return None if text is None else Config.of(text, tree(Source(path, text)))

    def has_group(self, group: str) -> bool:
        return any(path.startswith(f"{group}/") for path in self._texts)


BASE = {
    "engine/dp": "# @package _global_\nengine: dp\n",
    "engine/big": "# @package _global_\nengine: big\n",
    "actor/dp_actor": "defaults:\n  - ../optim@optim: adam\n  - _self_\nlr: 1\n",
    "actor/big_actor": "lr: 2\nsplit: 4\n",
    "optim/adam": "beta: 0.9\nlist: [1, 2]\n",
    "extra/more": "a: 1\n",
}
MAIN = """\
defaults:
  - engine: dp
  - actor@model.actor: ${engine}_actor
  - optional extra: none_here
  - _self_
model:
  actor:
    lr: 3
"""


def made(main: str, *choices: Choice, **more: str) -> dict[str, Any]:
    files = {**{name: text for name, text in BASE.items() if "../" not in text}, "main": main, **more}
    files["actor/dp_actor"] = "defaults:\n  - /optim@optim: adam\n  - _self_\nlr: 1\n"
    return compose(Files(files), "main", choices).tree


def test_groups_packages_and_references() -> None:
    optim = {"beta": 0.9, "list": [1, 2]}
    assert made(MAIN) == {"engine": "dp", "model": {"actor": {"optim": optim, "lr": 3}}}
    assert made(MAIN, Choice("engine", "big")) == {"engine": "big", "model": {"actor": {"lr": 3, "split": 4}}}


def test_a_defaults_list_may_write_the_suffix_of_a_file() -> None:
    assert made("defaults:\n  - engine: dp.yaml\n  - extra/more.yaml\n") == {"engine": "dp", "extra": {"a": 1}}


def test_the_place_of_self_decides_who_wins() -> None:
    first = MAIN.replace("  - _self_\n", "").replace("defaults:\n", "defaults:\n  - _self_\n")
    assert made(first)["model"]["actor"]["lr"] == 1
    assert made(MAIN.replace("  - _self_\n", ""))["model"]["actor"]["lr"] == 3


def test_a_file_on_top_overrides_a_group_of_the_one_below() -> None:
    top = "defaults:\n  - main\n  - override engine: big\n  - _self_\nextra: 1\n"
    found = compose(Files({**BASE, "main": MAIN, "top": top}), "top").tree
    assert found == {"engine": "big", "model": {"actor": {"lr": 3, "split": 4}}, "extra": 1}


def test_choices_add_and_delete_groups() -> None:
    assert made(MAIN, Choice("extra@here", "more", "+"))["here"] == {"a": 1}
    assert made(MAIN, Choice("actor@model.actor", None, "~")) == {"engine": "dp", "model": {"actor": {"lr": 3}}}


def test_a_choice_without_a_place_is_named() -> None:
    choice = Choice("extra", "more")
    files = Files({"main": "a: 1\n", **BASE})
    assert compose(files, "main", [choice]).unused == [choice]


def test_lists_are_replaced_and_question_marks_change_nothing() -> None:
    main = "defaults:\n  - optim: adam\n  - _self_\noptim:\n  list: [3]\n  beta: ???\n"
    assert made(main) == {"optim": {"beta": 0.9, "list": [3]}}


REFUSED = {
    "a file that is missing": ("defaults:\n  - engine: no_such\n", "no file engine/no_such.yaml"),
    "a choice that is missing": ("defaults:\n  - engine: ???\n", "engine needs a choice: use engine=OPTION"),
    "an override of nothing": (
        "defaults:\n  - engine: dp\n  - override extra: more\n",
        "a defaults list overrides extra, but no defaults list has it",
    ),
    "a group twice": ("defaults:\n  - engine: dp\n  - engine: dp\n", "engine is in the defaults lists more than once"),
    "two values": ("defaults:\n  - engine: dp\n  - engine: big\n", "several values for engine: big and dp"),
    "a table over a list": (
        "defaults:\n  - optim: adam\n  - _self_\noptim:\n  list: {a: 1}\n",
        "list is a list in one file and a table in another",
    ),
    "no list": ("defaults: {a: 1}\n", "defaults must be a list"),
    "an entry with two names": (
        "defaults:\n  - {a: b, c: d}\n",
        "defaults: {'a': 'b', 'c': 'd'} is neither a file nor GROUP: OPTION",
    ),
    "an unknown reference": ("defaults:\n  - actor: ${other}_actor\n", "${other}_actor: no group other is chosen"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_hydra_refuses(case: str) -> None:
    main, reason = REFUSED[case]
    with pytest.raises(ComposeError) as error:
        made(main)
    assert str(error.value) == reason


def test_files_that_name_each_other_end() -> None:
    files = Files({"main": "defaults:\n  - other\n", "other": "defaults:\n  - main\n"})
    with pytest.raises(ComposeError, match=r"^the defaults lists are too deep or name each other$"):
        compose(files, "main")
