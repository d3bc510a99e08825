"""The gold patch of a row: R2E-Gym has the changed files, SWE-bench a diff."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class GoldFiles:
    """The full content of each changed file; None if the patch deletes it."""

    files: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class GoldDiff:
    """A unified diff."""

    text: str


def gold_of(row: object) -> GoldFiles | GoldDiff | None:
    """The gold patch of a row, or None if it has no readable one. Changes to tests are left out: the hidden tests count."""
    instance = row.get("instance", row) if isinstance(row, Mapping) else None
    if not isinstance(instance, Mapping):
        return None
    patch = instance.get("patch")
    if isinstance(patch, str) and patch.strip():
        return GoldDiff(patch if patch.endswith("\n") else patch + "\n")
    try:
        commit = json.loads(str(instance.get("parsed_commit_content")))
        files = {path: text for diff in commit["file_diffs"] for path, text in [_changed(diff)] if not is_test(path)}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return GoldFiles(files) if files else None


def _changed(diff: Mapping[str, object]) -> tuple[str, str | None]:
    header, after = diff["header"], diff.get("new_file_content")
    if not isinstance(header, Mapping) or not isinstance(header.get("file"), Mapping):
        raise ValueError("no header.file")
    path = header["file"]["path"]
    if not isinstance(path, str) or path.startswith("/") or ".." in PurePosixPath(path).parts:
        raise ValueError(f"no path in a repository: {path}")
    if after is not None and not isinstance(after, str):
        raise ValueError(f"new_file_content is a {type(after).__name__}")
    return path, after or None


def is_test(path: str) -> bool:
    """Whether a path is a test, by R2E-Gym's naming rules."""
    parts = PurePosixPath(path).parts
    return (
        bool({"test", "tests", "Test"} & set(parts[:-1])) or parts[-1].startswith("test_") or path.endswith("_test.py")
    )
