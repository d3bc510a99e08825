"""A Python of the host as a directory that can be mounted into any image: interpreter, library, and what it links to.

It is started through its own loader, so that neither the image's C library nor its absence matters (IMG008), and
without LD_LIBRARY_PATH, so that no command of the agent's inherits a path to our libraries.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from skyrl_train.sandbox.inject import PYTHON, InjectionError, MountedPython

_LIMIT_S = 60.0
_LEFT_OUT = shutil.ignore_patterns(
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "lib2to3",
    "site-packages",
    "config-*",
    "*.a",
    "*.opt-*.pyc",
)
_MODULES = "_json", "_posixsubprocess", "_socket", "_struct", "array", "fcntl", "math", "select", "zlib"
"""Those of the interpreter's compiled modules that sandboxd loads, where they are no part of the interpreter itself."""
_ASK = """
import os, sys, sysconfig
print(os.path.realpath(sys.executable))
print(sysconfig.get_path("stdlib"))
print("%d.%d.%d" % sys.version_info[:3])
"""


def bundle_python(directory: Path, python: str = sys.executable) -> MountedPython:
    """Copies it into the directory; one that is already there whole is used again. Raises InjectionError."""
    executable, library, version = _run([python, "-I", "-c", _ASK]).splitlines()
    target = directory / f"python-{version}"
    lib = f"lib/python{version.rpartition('.')[0]}"
    if not target.exists():
        half_done = directory / f".python-{version}.{os.getpid()}"
        shutil.rmtree(half_done, ignore_errors=True)
        _copy(half_done, Path(executable), Path(library), lib)
        half_done.rename(target)
    return MountedPython(
        source=str(target), command=_command(target), version=tuple(int(part) for part in version.split("."))
    )


def _copy(target: Path, executable: Path, library: Path, lib: str) -> None:
    (target / "bin").mkdir(parents=True)
    shutil.copy2(executable, target / "bin" / "python3")
    shutil.copytree(library, target / lib, ignore=_LEFT_OUT, symlinks=False, ignore_dangling_symlinks=True)
    compiled = [file for name in _MODULES for file in sorted((target / lib / "lib-dynload").glob(f"{name}.*so"))]
    (target / "libs").mkdir()
    for needed in sorted({path for binary in (executable, *compiled) for path in _linked(binary)}):
        shutil.copy2(os.path.realpath(needed), target / "libs" / os.path.basename(needed))


def _command(target: Path) -> tuple[str, ...]:
    """Through the loader, where the interpreter wants one."""
    loader = next((file.name for file in sorted((target / "libs").glob("ld-*"))), None)
    if loader is None:
        return (f"{PYTHON}/bin/python3",)
    return (f"{PYTHON}/libs/{loader}", "--library-path", f"{PYTHON}/libs", f"{PYTHON}/bin/python3")


def _linked(binary: Path) -> list[str]:
    """The files that its loader would load, the loader among them; none for a static program."""
    said = _run(["ldd", str(binary)], accept_failure=True)
    words = [word for line in said.splitlines() for word in line.split() if word.startswith("/")]
    return [word for word in words if os.path.exists(word)]


def _run(argv: list[str], *, accept_failure: bool = False) -> str:
    try:
        ran = subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InjectionError(f"{argv[0]} cannot be asked about the Python to mount: {error}") from error
    if ran.returncode and not accept_failure:
        raise InjectionError(f"{argv[0]} exited with {ran.returncode}: {ran.stderr.strip()[-300:]}")
    return ran.stdout
