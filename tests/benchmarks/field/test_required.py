"""The verl that a recipe requires."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.field.files import Checkout
from benchmarks.field.launches import Launch
from benchmarks.field.required import Required

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Box:
    """A sandbox that runs nothing."""

    def __init__(self, top: Path, checkout: Checkout) -> None:
        self.top, self.tree, self.checkout = top, top / "tree", checkout


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "commit"),
    [
        (f"MODE=rolling\nVERL_COMMIT={COMMIT}\n", COMMIT),
        (f"TAG=v0.7.1\nCOMMIT={COMMIT}\n", COMMIT),
        (f"RECIPE_SUBMODULE_COMMIT={COMMIT}\n", ""),
        ("COMMIT=main\n", ""),
    ],
)
def test_the_nearest_file_names_the_commit(tmp_path: Path, text: str, commit: str) -> None:
    written(tmp_path / "root/a/REQUIRED_VERL.txt", text)
    required = Required(Box(tmp_path, Checkout(tmp_path / "root")))
    assert [required.commit("a/b/run.sh"), required.commit("c/run.sh")] == [commit, ""]


def test_the_tree_of_a_commit_has_the_recipe_in_its_place(tmp_path: Path) -> None:
    outer, root = tmp_path / "verl", tmp_path / "recipe"
    written(outer / "verl/trainer/old.py", "old\n")
    written(root / "dapo/main.py", "main\n")
    git = ["git", "-C", str(outer), "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Old"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    required = Required(Box(tmp_path, Checkout(root, outer, "recipe")))
    tree = required.tree(head)
    assert sorted(str(path.relative_to(tree)) for path in tree.rglob("*.py")) == [
        "recipe/dapo/main.py",
        "verl/trainer/old.py",
    ]
    assert [required.tree(""), required.tree(COMMIT)] == [tmp_path / "tree"] * 2


@pytest.mark.parametrize(
    ("program", "trains"),
    [
        ("recipe.dapo.main_dapo", True),
        ("train_agent.py", True),
        ("skyrl_agent.tinker.tinker_train", True),
        ("examples/data/gsm8k_dataset.py", False),
        ("retrieval_server.py", False),
        ("math_eval.py", False),
    ],
)
def test_a_program_trains_if_its_name_says_so(program: str, trains: bool) -> None:
    assert Launch("other", program, None, "/", ()).is_training is trains
