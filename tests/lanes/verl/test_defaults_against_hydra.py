"""Hydra's composition of generated trees and the doctor's are the same, or both refuse."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.dialects.verl.tree import OnDisk, Search
from skyrl_doctor.plan.syntax.hydra import parse
from skyrl_doctor.plan.syntax.hydra_defaults import Choice, ComposeError, compose

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("ignore::UserWarning")]

TREES = 200
GROUPS = ("a", "b", "a/c", "d")
HEADERS = ("", "", "", "# @package _global_\n", "# @package foo.bar\n", "# note\n# @package _global_\n")
PACKAGES = ("", "", "@k", "@k.l", "@_global_", "@_here_", "@_global_.m")


class Tree:
    """A random tree of files, and choices for it."""

    def __init__(self, seed: int, root: Path) -> None:
        self._draw = random.Random(seed)
        self._root = root
        for group in GROUPS:
            for name in ("x", "y", "z"):
                self._write(f"{group}/{name}", 1, group)
            self._write(f"{group}/w", 2, group)
        self._write("base", 2, "")
        self._write("main", 0, "")
        self.choices = [self._choice() for _ in range(self._draw.choice((0, 0, 1, 2)))]

    def _choice(self) -> str:
        draw = self._draw
        mode = draw.choice(("", "", "+", "~"))
        text = f"{mode}{draw.choice(GROUPS)}{draw.choice(('', '', '@k'))}"
        return text if mode == "~" else f"{text}={draw.choice('xyz')}"

    def _write(self, path: str, level: int, group: str) -> None:
        import yaml

        draw = self._draw
        body: dict[str, Any] = {draw.choice("pqrs"): self._value() for _ in range(draw.randint(0, 4))}
        listed = list(self._entries(level, group))
        if listed and draw.random() < 0.4:
            listed.insert(draw.randint(0, len(listed)), "_self_")
        if level == 0 and draw.random() < 0.15:
            listed.append({f"override {draw.choice(GROUPS)}": draw.choice("xy")})
        file = self._root / f"{path}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump({**({"defaults": listed} if listed else {}), **body}, sort_keys=False)
        file.write_text((draw.choice(HEADERS) if level else "") + text, encoding="utf-8")

    def _entries(self, level: int, group: str) -> Iterator[Any]:
        draw = self._draw
        near = GROUPS if level == 0 else ("c",) if group == "a" else ("/d",) if group == "b" else ()
        for _ in range(draw.randint(0, 3) if level < 2 and near else 0):
            key = draw.choice(("", "", "", "optional ")) + draw.choice(near) + draw.choice(PACKAGES)
            yield {
                key: draw.choice(
                    ("x", "y", "z", "x", "y", ["x", "y"], "${b}", "no_file" if draw.random() < 0.05 else "z")
                )
            }
        if level == 1 and draw.random() < 0.2:
            yield draw.choice(("w", "/base"))

    def _value(self, depth: int = 0) -> Any:
        draw = self._draw
        if depth < 2 and draw.random() < 0.15:
            return {draw.choice("pqr"): self._value(depth + 1) for _ in range(draw.randint(0, 3))}
        return draw.choice((1, 2.5, "s", None, True, 4, "???", "t"))


def of_hydra(root: Path, choices: list[str]) -> dict[str, Any] | None:
    from hydra import compose as composed
    from hydra import initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        with initialize_config_dir(config_dir=str(root), version_base=None):
            found = OmegaConf.to_container(composed("main", overrides=choices), resolve=False)
    except (HydraException, OmegaConfBaseException, ValueError):
        return None
    assert isinstance(found, dict)
    return {str(name): value for name, value in found.items()}


def of_doctor(root: Path, choices: list[str]) -> dict[str, Any] | None:
    parsed = [parse(text) for text in choices]
    made = [Choice(f"{one.key}@{one.package}" if one.package else one.key, one.value, one.mode) for one in parsed]
    try:
        found = compose(Search(((OnDisk(LocalMachine(), str(root)), ""),)), "main", made)
    except ComposeError:
        return None
    return None if found.unused else found.tree


def test_the_same_trees(tmp_path: Path) -> None:
    composed = 0
    for seed in range(TREES):
        root = tmp_path / str(seed)
        tree = Tree(seed, root)
        expected = of_hydra(root, tree.choices)
        assert (seed, of_doctor(root, tree.choices)) == (seed, expected)
        composed += expected is not None
    assert composed > TREES // 4
