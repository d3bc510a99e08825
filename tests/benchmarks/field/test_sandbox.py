"""What bash builds, recorded by stubs. Root alone can become another user, so others skip these."""

import os
import shutil
from pathlib import Path

import pytest

from benchmarks.field.files import Checkout
from benchmarks.field.launches import launch_of
from benchmarks.field.sandbox import sandbox

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, ("setpriv", "unshare", "prlimit"))),
    reason="the sandbox needs root, setpriv, unshare and prlimit",
)


def checkout(folder: Path, text: str) -> Checkout:
    (folder / "main.py").write_text("print(1)\n")
    (folder / "run.sh").write_text(text)
    return Checkout(folder)


def test_the_words_of_a_program_are_recorded_and_nothing_runs(tmp_path: Path) -> None:
    text = 'N=4\nrm -rf "$PWD"\ntouch made\npython3 main.py n=$N "a b" $UNSET\n'
    with sandbox(checkout(tmp_path, text)) as box:
        ran = box.run("run.sh")
        assert [started.argv for started in ran.started if started.argv[0] == "python3"] == [
            ("python3", "main.py", "n=4", "a b")
        ]
        assert (box.root / "main.py").exists()
        assert not (box.root / "made").exists()


def test_an_endless_script_is_ended(tmp_path: Path) -> None:
    with sandbox(checkout(tmp_path, "python3 main.py a=1\nwhile :; do :; done\n")) as box:
        ran = box.run("run.sh")
    assert (ran.timed_out, ran.started[0].argv) == (True, ("python3", "main.py", "a=1"))


def test_the_launch_names_the_program_and_its_file(tmp_path: Path) -> None:
    text = "torchrun --nproc_per_node 2 -m pack.main a=1\n"
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/main.py").write_text(
        "import hydra\n@hydra.main(config_path='c', config_name='n')\ndef main(): ...\n"
    )
    with sandbox(checkout(tmp_path, text)) as box:
        (started,) = box.run("run.sh").started
        launch = launch_of(started, box.tree, box.root)
        assert launch is not None
        assert (launch.kind, launch.program, launch.arguments) == ("hydra", "pack.main", ("a=1",))
        assert launch.file == str(box.tree / "pack/main.py")
