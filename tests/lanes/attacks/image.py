"""An image as R2E-Gym's are, which its root may change everywhere: the repository, its tests, bash, and a Python with pytest."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from lanes.podman.lab import IMAGE
from lanes.podman.runtime import Server
from skyrl_train.demo.rows import TASKS
from skyrl_train.demo.seed import write_seed
from skyrl_train.sandbox.mounted_python import ask_python, copy_python

TASK_IMAGE = "localhost/attacked:1"
TASK = TASKS[0]
APPLETS = ["base64", "cat", "chmod", "chown", "cp", "cut", "date", "dirname", "env", "find", "grep", "head", "id", "kill", "ln", "ls", "mkdir", "mkfifo", "mknod", "mount", "mv", "nc", "printf", "ps", "pwd", "rm", "rmdir", "sed", "seq", "setsid", "sh", "sleep", "sort", "stat", "tail", "tar", "touch", "tr", "true", "truncate", "wc", "wget", "xargs", "yes"]  # fmt: skip
PACKAGES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")


def build_image(server: Server) -> None:
    place = server.lab.base / "attacked"
    root = place / "root-of-image"
    (root / "bin").mkdir(parents=True)
    for name in APPLETS:
        (root / "bin" / name).symlink_to("busybox")
    _copy_bash(root)
    _copy_python(place / "python", root)
    write_seed(TASK, root, python="/usr/bin/python3")
    (place / "Containerfile").write_text(f"FROM {IMAGE}\nCOPY root-of-image /\nENV PATH=/usr/bin:/bin\n")
    done = server.podman("build", "-q", "--layers=false", "-t", TASK_IMAGE, str(place))
    assert done.returncode == 0, done.stdout
    shutil.rmtree(place)


def _copy_bash(root: Path) -> None:
    """This machine's, with what it is linked to."""
    linked = subprocess.run(["ldd", "/bin/bash"], capture_output=True, text=True, check=True).stdout.split()
    for path in ("/bin/bash", *(word for word in linked if word.startswith("/"))):
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(path), target)


def _copy_python(made: Path, root: Path) -> None:
    """The Python of these tests, with pytest, at /usr/bin/python3, and its libraries where a loader looks."""
    executable, library, version = ask_python(sys.executable)
    copy_python(made, executable, library, version=version)
    shutil.copytree(made / "lib", root / "usr/lib", dirs_exist_ok=True)
    (root / "usr/bin").mkdir(parents=True)
    shutil.copy2(made / "bin/python3", root / "usr/bin/python3")
    for name in ("lib64", "lib"):
        shutil.copytree(made / "libs", root / name, dirs_exist_ok=True)
    site = root / "usr/lib" / f"python{version.rpartition('.')[0]}" / "site-packages"
    site.mkdir(parents=True, exist_ok=True)
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        for described in (
            Path(spec.origin).parents[spec.submodule_search_locations is not None].glob(f"{name}-*.dist-info")
        ):
            shutil.copytree(described, site / described.name, dirs_exist_ok=True)
        if spec.submodule_search_locations is None:
            shutil.copy2(spec.origin, site)
        else:
            shutil.copytree(Path(spec.origin).parent, site / name, dirs_exist_ok=True)
