"""The configuration of a program."""

from pathlib import Path

from benchmarks.field.doctor import Opinion
from benchmarks.field.launches import HydraMain, Launch, folder_with, hydra_main
from benchmarks.field.truth import Refusals, Truth
from benchmarks.field.verdicts import false_pass

MAIN = """\
config_dir = str(Path(__file__).parent.parent / "config")
@hydra.main(config_path=config_dir, config_name="base")
def main(config): ...
"""


def test_a_computed_config_path_is_the_nearest_folder_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "train/entry/main.py"
    for path in (file, tmp_path / "base.yaml", tmp_path / "train/config/base.yaml"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MAIN, encoding="utf-8")
    assert hydra_main(file) == HydraMain(None, "base")
    assert folder_with("base", file, tmp_path) == str(tmp_path / "train/config")
    assert folder_with("other", file, tmp_path) is None


def test_older_skyrl_is_a_program_of_hydra() -> None:
    truth = Truth((Launch("hydra", "skyrl_train.entrypoints.main_base", "main_base.py", "/", ()),), (Refusals(),))
    assert false_pass(Opinion(0, "skyrl"), truth) == ""


def test_a_file_beside_the_script_is_found(tmp_path: Path) -> None:
    (tmp_path / "main_split.py").write_text(MAIN, encoding="utf-8")
    launch = Launch("other", "main_split.py", None, "/", ("a=1",))
    found = Launch("hydra", "main_split.py", str(tmp_path / "main_split.py"), str(tmp_path), ("a=1",))
    assert [launch.beside(tmp_path, tmp_path), launch.beside(tmp_path / "no", tmp_path / "no")] == [found, launch]
    assert launch.beside(tmp_path / "examples/grpo", tmp_path) == found
