"""Training interpreters with a fault: environments on the lane's own packages, made in a second."""

import shutil
import sys
import sysconfig
from pathlib import Path

import skyrl_train

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def environment(at: Path, base: Path) -> Path:
    """A virtual environment of this base that sees the lane's packages; its interpreter."""
    packages = at / "lib" / VERSION / "site-packages"
    packages.mkdir(parents=True)
    outer = sysconfig.get_path("purelib")
    (packages / "outer.pth").write_text(f"import site; site.addsitedir({outer!r})\n")
    (at / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\n")
    (at / "bin").mkdir()
    (at / "bin" / "python").symlink_to(base / "python3")
    return at / "bin" / "python"


def own_base() -> Path:
    return Path(sys._base_executable).resolve().parent  # type: ignore[attr-defined]  # CPython's


def without_headers(at: Path) -> Path:
    """On a Python as a distribution without its -dev package has it."""
    base = at / "base"
    (base / "bin").mkdir(parents=True)
    shutil.copy2(Path(sys._base_executable).resolve(), base / "bin" / "python3")  # type: ignore[attr-defined]  # CPython's
    (base / "lib").symlink_to(Path(sysconfig.get_path("stdlib")).parent)
    return environment(at / "venv", base / "bin")


def with_records_that_hold_a_lock(at: Path) -> Path:
    """With a skyrl_train of its own, where somebody let a record of the agent hold a live object."""
    python = environment(at / "venv", own_base())
    copy = at / "venv" / "lib" / VERSION / "site-packages" / "skyrl_train"
    shutil.copytree(Path(skyrl_train.__file__ or "").parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "contracts" / "agent" / "metrics.py").open("r+") as file:
        file.seek(0, 2)
        file.write("\nimport threading\nCounts.__reduce__ = lambda self: (Counts, (threading.RLock(),))\n")
    return python
