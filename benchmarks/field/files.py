"""Finds the launch scripts and configuration files of a checkout."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

SHELL = (".sh", ".bash", ".slurm", ".sbatch")
SUFFIXES = (*SHELL, ".toml", ".yaml", ".yml")
SKIPPED = {".git", ".github", "node_modules", "docker", ".venv", "site-packages"}
OTHERS = {"pyproject.toml", "mkdocs.yml", ".pre-commit-config.yaml", ".readthedocs.yaml", "netlify.toml"}
LARGEST = 1 << 20
HIDDEN_ONE_IN = 3


@dataclass(frozen=True)
class Checkout:
    """A checkout of a public repository. `outer` and `mount` name the checkout that it is a part of, and where."""

    root: Path
    outer: Path | None = None
    mount: str = ""

    @property
    def name(self) -> str:
        return self.root.name.replace("+", "/")


@dataclass(frozen=True)
class File:
    """One file of a checkout. A hidden file belongs to the third that nobody tunes to."""

    source: str
    path: str

    @property
    def id(self) -> str:
        return f"{self.source}:{self.path}"

    @property
    def is_shell(self) -> bool:
        return self.path.endswith(SHELL)

    @property
    def is_hidden(self) -> bool:
        return hashlib.sha256(self.path.encode()).digest()[0] % HIDDEN_ONE_IN == 0


def files_of(checkout: Checkout) -> list[File]:
    """Every launch script and configuration file, sorted by path."""
    found = []
    for folder, folders, names in os.walk(checkout.root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            path = Path(folder, name)
            if path.suffix in SUFFIXES and name not in OTHERS and path.is_file() and path.stat().st_size <= LARGEST:
                found.append(File(checkout.name, str(path.relative_to(checkout.root))))
    return sorted(found, key=lambda file: file.path)
