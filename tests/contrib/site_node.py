"""The scripts of contrib/slurm as a site installs them, in a directory of their own, and jobs for them."""

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2] / "contrib" / "slurm"
SCRIPTS = sorted(path.name for path in ROOT.glob("*.sh"))
_NUMBERS = itertools.count()


@dataclass
class Node:
    """A node with the scripts."""

    at: Path

    def settings(self, text: str) -> None:
        (self.at / "site.sh").write_text(f"LOG_DIR={self.at}/log\nSTATE_DIR={self.at}/state\n{text}\n")

    def program(self, name: str, text: str) -> str:
        path = self.at / name
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def env(self, environ: dict[str, str]) -> dict[str, str]:
        return {"PATH": f"{self.at}:{os.environ['PATH']}", "TMPDIR": str(self.at), "SLURMD_NODENAME": "n1", **environ}

    def run(self, script: str, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        command = [str(self.at / script), *words]
        env = self.env(environ)
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)

    def log(self, name: str) -> str:
        path = self.at / "log" / name
        return path.read_text() if path.exists() else ""


def install(at: Path) -> Node:
    for name in SCRIPTS:
        shutil.copy(ROOT / name, at / name)
    made = Node(at)
    made.settings("")
    return made


@contextmanager
def job(**more: str) -> Iterator[dict[str, str]]:
    """The variables of a job whose id no other test has. Its directory is removed afterwards."""
    job_id = f"{os.getpid()}{next(_NUMBERS):05}"
    try:
        yield {"SLURM_JOB_ID": job_id, "SLURM_JOB_UID": str(os.getuid()), **more}
    finally:
        shutil.rmtree(directory(job_id), ignore_errors=True)


def directory(job_id: str) -> Path:
    """The directory of a job, whose name the rules of the trainer fix."""
    return Path(f"/tmp/skyrl-{os.getuid()}-{job_id}")
