"""The verl that a recipe requires, by the commit in its REQUIRED_VERL.txt."""

import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from benchmarks.field.sandbox import Sandbox

FILE = "REQUIRED_VERL.txt"
LIMIT_S = 120
_COMMIT = re.compile(r"^(?:ROLLING_VERL_|VERL_|OPTION_B_VERL_)?COMMIT=([0-9a-f]{40})\s*$", re.MULTILINE)


class Required:
    """Trees of the required commits, each made once, beside the sandbox."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self._trees: dict[str, Path] = {"": box.tree}

    def commit(self, path: str) -> str:
        """The commit that the nearest file above this path of the checkout names; "" if none does."""
        root = self._box.checkout.root
        for folder in (root / path).parents:
            file = folder / FILE
            if file.is_file():
                found = _COMMIT.search(file.read_text(encoding="utf-8", errors="replace"))
                return found[1] if found else ""
            if folder == root:
                break
        return ""

    def tree(self, commit: str) -> Path:
        """The tree of a commit with the checkout in its place; the sandbox's own tree if the commit is not here."""
        if commit not in self._trees:
            self._trees[commit] = self._made(commit)
        return self._trees[commit]

    def _made(self, commit: str) -> Path:
        checkout = self._box.checkout
        if checkout.outer is None:
            return self._box.tree
        made = self._box.top / f"verl-{commit[:12]}"
        with tempfile.TemporaryFile() as archive:
            words = ["git", "-C", str(checkout.outer), "archive", commit, "verl"]
            if subprocess.run(
                words, stdout=archive, stderr=subprocess.DEVNULL, timeout=LIMIT_S, check=False
            ).returncode:
                return self._box.tree
            archive.seek(0)
            with tarfile.open(fileobj=archive) as files:
                files.extractall(made, filter="data")
        ignore = shutil.ignore_patterns(".git")
        shutil.copytree(checkout.root, made / checkout.mount, symlinks=True, ignore=ignore, dirs_exist_ok=True)
        return made
