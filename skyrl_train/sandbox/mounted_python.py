"""A Python of the host as a directory to mount into any image: interpreter, library, and the shared libraries it needs.

Its own loader starts it, so the image's C library does not matter (IMG008). LD_LIBRARY_PATH is not used, so commands of
the agent do not inherit a path to our libraries.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from skyrl_train.process import run
from skyrl_train.sandbox.inject import PYTHON, InjectionError, MountedPython

_LIMIT_S = 60.0
_AT_ONCE = 100
"""Number of files for one call of ldd."""
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
_MODULES = "_ctypes", "_json", "_posixsubprocess", "_socket", "_struct", "array", "fcntl", "math", "select", "zlib"
"""The compiled modules that sandboxd and our programs load, unless they are built into the interpreter."""
_ASK = """
import os, sys, sysconfig
print(os.path.realpath(sys.executable))
print(sysconfig.get_path("stdlib"))
print("%d.%d.%d" % sys.version_info[:3])
"""


def bundle_python(directory: Path, python: str = sys.executable) -> MountedPython:
    """Copies it into the directory, or reuses a complete copy. Raises InjectionError."""
    executable, library, version = ask_python(python)
    target = directory / f"python-{version}"
    if not target.exists():
        half_done = directory / f".python-{version}.{os.getpid()}"
        shutil.rmtree(half_done, ignore_errors=True)
        copy_python(half_done, executable, library, version=version, modules=_MODULES)
        half_done.rename(target)
    return MountedPython(
        source=str(target),
        command=loader_command(target, PYTHON),
        version=tuple(int(part) for part in version.split(".")),
    )


def ask_python(python: str) -> tuple[Path, Path, str]:
    """The interpreter's program, library and version. Raises InjectionError."""
    executable, library, version = run_tool([python, "-I", "-c", _ASK]).splitlines()
    return Path(executable), Path(library), version


def copy_python(
    target: Path,
    executable: Path,
    library: Path,
    *,
    version: str,
    modules: Sequence[str] = ("*",),
    site: Path | None = None,
) -> None:
    """Copies the program, its library, and the shared libraries of these compiled modules and of those below `site`.
    Libraries inside `site` stay there: its modules find them."""
    lib = f"lib/python{version.rpartition('.')[0]}"
    (target / "bin").mkdir(parents=True)
    shutil.copy2(executable, target / "bin" / "python3")
    shutil.copytree(library, target / lib, ignore=_LEFT_OUT, symlinks=False, ignore_dangling_symlinks=True)
    compiled = [file for name in modules for file in sorted((target / lib / "lib-dynload").glob(f"{name}.*so"))]
    (target / "libs").mkdir()
    inside = sorted(site.rglob("*.so*")) if site is not None else []
    for needed in _linked([executable, *compiled, *inside]):
        if site is not None and Path(needed).is_relative_to(site):
            continue
        shutil.copy2(os.path.realpath(needed), target / "libs" / os.path.basename(needed))


def loader_command(target: Path, at: str) -> tuple[str, ...]:
    """The command if `target` is mounted at `at`: through the loader if the interpreter needs one."""
    loader = next((file.name for file in sorted((target / "libs").glob("ld-*"))), None)
    if loader is None:
        return (f"{at}/bin/python3",)
    return (f"{at}/libs/{loader}", "--library-path", f"{at}/libs", f"{at}/bin/python3")


def _linked(binaries: Sequence[Path]) -> list[str]:
    """The files that the loader would load, including itself; none for a static program."""
    found: dict[str, None] = {}
    for at in range(0, len(binaries), _AT_ONCE):
        said = run_tool(["ldd", *map(str, binaries[at : at + _AT_ONCE])], accept_failure=True)
        found |= dict.fromkeys(word for line in said.splitlines() for word in line.split() if word.startswith("/"))
    return sorted(path for path in found if os.path.isfile(path))


def run_tool(argv: list[str], *, accept_failure: bool = False, limit_s: float = _LIMIT_S) -> str:
    """What it printed. Raises InjectionError."""
    try:
        done = run(argv, limit_s=limit_s)
    except OSError as error:
        raise InjectionError(f"{argv[0]} cannot be run: {error}") from error
    if done.timed_out:
        raise InjectionError(f"{argv[0]} timed out after {limit_s:g} s")
    if not done.ok and not accept_failure:
        raise InjectionError(f"{argv[0]} exited with status {done.status}: {done.error_text.strip()[-300:]}")
    return done.text
