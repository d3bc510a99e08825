"""The gold patch of a row: R2E-Gym has the changed files, SWE-bench a diff."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from skyrl_train.contracts.typed import Fields, FormatError, as_object, parse_object


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
    try:
        found = as_object(row)
        instance = found.inner_or_none("instance") or found
        patch = instance.value("patch")
        if isinstance(patch, str) and patch.strip():
            return GoldDiff(patch if patch.endswith("\n") else patch + "\n")
        diffs = parse_object(instance.text("parsed_commit_content")).objects("file_diffs")
        files = {path: text for diff in diffs for path, text in [_changed(diff)] if not is_test(path)}
    except FormatError:
        return None
    return GoldFiles(files) if files else None


def _changed(diff: Fields) -> tuple[str, str | None]:
    file = diff.inner("header").inner("file")
    path = file.text("path")
    if path.startswith("/") or ".." in PurePosixPath(path).parts:
        raise file.error("path", f"is {path!r}, which is not a path inside the repository")
    return path, diff.text("new_file_content", None) or None


def is_test(path: str) -> bool:
    """Whether a path is a test, by R2E-Gym's naming rules."""
    parts = PurePosixPath(path).parts
    return (
        bool({"test", "tests", "Test"} & set(parts[:-1])) or parts[-1].startswith("test_") or path.endswith("_test.py")
    )
