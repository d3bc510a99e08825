"""Hatchling's questions about a build: which version it is, and the file that tells the installed commands.

A checkout of tag v1.2.3 is version 1.2.3, five commits later it is 1.2.4.dev5. Without git or without a tag, as in an archive
of GitHub, it is the version in version.py, which is that of the last release.
"""

import ast
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
VERSION_FILE = "skyrl_train/contracts/version.py"
GIT_LIMIT_S = 20
_DESCRIBED = re.compile(r"v(?P<release>\d+(?:\.\d+)*)\.(?P<patch>\d+)-(?P<commits>\d+)-g[0-9a-f]+")
"""`v1.2.3-5-g0123abc`; the tag of a candidate, v1.2.3rc1, names no version here."""


def version() -> str:
    """The version of this tree: that of a source distribution, else that of the tag, else that of the last release."""
    return _of_source_distribution() or _of_tag() or _of_last_release()


def _of_source_distribution() -> str:
    facts = ROOT / "PKG-INFO"
    found = re.search(r"^Version: (\S+)$", facts.read_text("utf-8"), re.MULTILINE) if facts.is_file() else None
    return found[1] if found else ""


def _of_tag() -> str:
    if not (ROOT / ".git").exists():  # git would look in the folders above, which are another project's
        return ""
    argv = ["git", "-C", str(ROOT), "describe", "--tags", "--long", "--match", "v[0-9]*"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=GIT_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _DESCRIBED.fullmatch(done.stdout.strip())
    if found is None:
        return ""
    release, patch, commits = found["release"], int(found["patch"]), int(found["commits"])
    return f"{release}.{patch + 1}.dev{commits}" if commits else f"{release}.{patch}"


def _of_last_release() -> str:
    return _stored("VERSION")


def tag_of(version: str) -> str:
    """The tag that this tree is of; empty between releases. A source distribution stores it."""
    in_git = (ROOT / ".git").exists()
    return (f"v{version}" if _of_tag() == version and ".dev" not in version else "") if in_git else _stored("TAG")


def _stored(name: str) -> str:
    lines = (ROOT / VERSION_FILE).read_text("utf-8").splitlines()
    values = {key.strip(): value for key, _, value in (line.partition("=") for line in lines)}
    return str(ast.literal_eval(values[name].strip()))


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg] # hatchling's own hooks leave it open, too
    """Puts the version into a distribution. The tree stays as it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._made = tempfile.TemporaryDirectory()
        made = Path(self._made.name) / "version.py"
        version = self.metadata.version
        made.write_text(f'VERSION = "{version}"\nTAG = "{tag_of(version)}"\n', encoding="utf-8")
        build_data["force_include"][str(made)] = VERSION_FILE

    def finalize(self, *_: object) -> None:
        if made := getattr(self, "_made", None):
            made.cleanup()
