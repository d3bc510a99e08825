"""Shell scripts as bash, and as shellcheck, read them."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
"""Of the environment that the tests run in: a machine without one must not pass for a clean script."""


def complaints(words: Sequence[str | Path], directory: Path) -> str:
    """What a program has to say of scripts, called with a time limit; nothing where it finds them clean."""
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout + done.stderr + (f"exit status {done.returncode}" if done.returncode else "")


def complaints_of_bash(text: str, directory: Path) -> str:
    """SC2016: what is single-quoted in a rendered script is to stay as it is."""
    (directory / "job.sh").write_text(text)
    checkers = (("bash", "-n"), (SHELLCHECK, "-s", "bash", "-e", "SC2016"))
    return "".join(complaints((*words, "job.sh"), directory) for words in checkers)
