"""Real interpreters with a fault, made of the one that runs the tests."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path


def headerless_venv(directory: Path) -> Path:
    """A virtual environment of a Python that was installed without its headers; its bin/python.

    The base is a prefix of its own with the interpreter's binary and its library, and without include/. It is what
    a distribution ships before its -dev package is installed.
    """
    base = directory / "base"
    (base / "bin").mkdir(parents=True)
    binary = base / "bin" / f"python{sysconfig.get_python_version()}"
    shutil.copy2(os.path.realpath(sys.executable), binary)
    library = Path(
        sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix})
    ).parent
    (base / library.name).symlink_to(library, target_is_directory=True)
    venv = directory / "venv"
    subprocess.run([str(binary), "-m", "venv", "--without-pip", str(venv)], check=True, timeout=300)
    return venv / "bin" / "python"


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
