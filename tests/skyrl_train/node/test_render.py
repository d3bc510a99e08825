"""A Preparation as shell and as TaskProlog lines."""

import subprocess
from pathlib import Path

import pytest

from skyrl_train.node.render import shell, taskprolog
from skyrl_train.node.settings import Directory, Preparation, Setting, TextFile


def setting(name: str, value: str | None) -> Setting:
    return Setting(name=name, value=value, cures="ENV001", why="because\nof this")


def test_the_shell_does_what_it_says(tmp_path: Path) -> None:
    odd = "a 'quoted' $HOME \"x\" ünïcode"
    preparation = Preparation(
        settings=(setting("ODD", odd), setting("GONE", None)),
        directories=(Directory(path=str(tmp_path / "a b" / "c")),),
        files=(TextFile(path=str(tmp_path / "a b" / "file"), text="[x]\ny = '$z\\n 5%'\n"),),
    )
    script = 'eval "$1"\nprintf %s "$ODD-${GONE-unset}"'
    done = subprocess.run(
        ["sh", "-euc", script, "sh", shell(preparation)],
        capture_output=True,
        text=True,
        check=True,
        env={"GONE": "1", "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout == f"{odd}-unset"
    assert (tmp_path / "a b" / "c").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a b" / "file").read_text(encoding="utf-8") == "[x]\ny = '$z\\n 5%'\n"
    assert (tmp_path / "a b" / "file").stat().st_mode & 0o777 == 0o600


def test_an_eval_without_quotes_loses_nothing(tmp_path: Path) -> None:
    file = TextFile(path=str(tmp_path / "file"), text="[x]\ny = 1\n")
    preparation = Preparation(settings=(setting("A", "1"), setting("GONE", None), setting("B", "2")), files=(file,))
    done = subprocess.run(
        ["sh", "-euc", 'eval $1; printf %s "$A-${GONE-unset}-$B"', "sh", shell(preparation)],
        capture_output=True, text=True, check=True, env={"GONE": "1", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stdout == "1-unset-2"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "[x]\ny = 1\n"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_directory_that_is_not_ours_stops_the_script(tmp_path: Path, kind: str) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    if kind == "link":
        (tmp_path / "file").symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / "file").touch()
    preparation = Preparation(settings=(setting("A", "1"),), directories=(Directory(path=str(tmp_path / "file")),))
    done = subprocess.run(
        ["sh", "-uc", 'eval "$1"; echo went on', "sh", shell(preparation)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(f"{tmp_path}/file is not a directory of this user\n")
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o755


def test_taskprolog_lines_are_bare() -> None:
    preparation = Preparation(
        settings=(setting("CUDA_VISIBLE_DEVICES", "0"), setting("VLLM_USE_V1", None), setting("X", "a\nexport Y=1"))
    )
    assert taskprolog(preparation) == "export CUDA_VISIBLE_DEVICES=0\nunset VLLM_USE_V1\n"


@pytest.mark.parametrize("name", ["A B", "A;rm", "", "1A", "A=B", "A\n"])
def test_a_name_is_a_name(name: str) -> None:
    for render in (shell, taskprolog):
        with pytest.raises(ValueError, match="is not a valid variable name"):
            render(Preparation(settings=(setting(name, "x"),)))


def test_rules_add_up_and_the_first_to_set_a_variable_wins() -> None:
    one = Preparation(settings=(setting("A", "1"),), directories=(Directory(path="/x"),))
    two = Preparation(settings=(setting("A", "2"), setting("B", "3")), directories=(Directory(path="/x"),))
    assert one + two == Preparation(
        settings=(setting("A", "1"), setting("B", "3")), directories=(Directory(path="/x"),)
    )
