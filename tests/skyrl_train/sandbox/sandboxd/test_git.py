"""What changed in a repository."""

import os
import subprocess
from pathlib import Path

import pytest

from sandboxd_process import Sandboxd, running

ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(directory: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(directory), *words], env=ENV, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two files committed; then one changed, one deleted, one new."""
    directory = tmp_path / "repository"
    directory.mkdir()
    git(directory, "init", "-q", "-b", "main")
    for name in ("changed", "deleted", "kept"):
        (directory / name).write_text(f"{name}\n  before  \n")
    git(directory, "add", ".")
    git(directory, "commit", "-qm", "first")
    (directory / "changed").write_text("changed\nafter\n")
    (directory / "deleted").unlink()
    (directory / "new file é").write_text("new")
    return directory


CHANGES = [
    {"status": "UPDATED", "path": "changed"},
    {"status": "DELETED", "path": "deleted"},
    {"status": "ADDED", "path": "new file é"},
]


def ask(sandboxd: Sandboxd, what: str, path: object, **more: str) -> tuple[int, object]:
    answer = sandboxd.client.get(f"/api/git/{what}", params={"path": str(path), **more})
    return answer.status_code, answer.json()


def test_changes_of_a_repository(sandboxd: Sandboxd, repository: Path) -> None:
    assert ask(sandboxd, "changes", repository) == (200, CHANGES)
    assert ask(sandboxd, "changes", repository, ref="HEAD") == (200, CHANGES)
    older = sandboxd.client.get(f"/api/git/changes/{repository}")
    assert (older.status_code, older.json()) == (200, CHANGES)


def test_changes_of_a_repository_below(sandboxd: Sandboxd, repository: Path) -> None:
    below = [{**change, "path": f"repository/{change['path']}"} for change in CHANGES]
    assert ask(sandboxd, "changes", repository.parent) == (200, below)


@pytest.mark.parametrize("path", ["/", "/no/such/place", "/etc/passwd"])
def test_no_repository_has_no_changes(sandboxd: Sandboxd, path: str) -> None:
    assert ask(sandboxd, "changes", path) == (200, [])


def test_a_repository_without_commits_is_all_new(sandboxd: Sandboxd, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("a")
    assert ask(sandboxd, "changes", tmp_path) == (200, [{"status": "ADDED", "path": "a"}])
    assert ask(sandboxd, "changes", tmp_path, ref="HEAD") == (200, [{"status": "ADDED", "path": "a"}])


def test_committed_work_of_a_branch_stays_in_sight(sandboxd: Sandboxd, repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "work")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    assert ask(sandboxd, "changes", repository) == (200, CHANGES)
    assert ask(sandboxd, "changes", repository, ref="HEAD") == (200, [])


def test_what_was_pushed_is_compared_with_the_remote(sandboxd: Sandboxd, repository: Path, tmp_path: Path) -> None:
    git(repository, "stash", "-qu")
    git(tmp_path, "clone", "-q", str(repository), "clone")
    (tmp_path / "clone/kept").write_text("other")
    assert ask(sandboxd, "changes", tmp_path / "clone") == (200, [{"status": "UPDATED", "path": "kept"}])


@pytest.mark.parametrize("ref", ["no-such-ref", "--output=/tmp/x", ""])
def test_a_ref_that_is_none_is_refused(sandboxd: Sandboxd, repository: Path, ref: str) -> None:
    status, answer = ask(sandboxd, "changes", repository, ref=ref)
    assert (status, isinstance(answer, dict)) == (400, True)


def test_a_file_before_and_after(sandboxd: Sandboxd, repository: Path) -> None:
    before = "changed\n  before  "
    assert ask(sandboxd, "diff", repository / "changed") == (200, {"modified": "changed\nafter", "original": before})
    gone = (200, {"modified": "", "original": "deleted\n  before  "})
    assert ask(sandboxd, "diff", repository / "deleted") == gone
    assert ask(sandboxd, "diff", repository / "new file é") == (200, {"modified": "new", "original": ""})


def test_what_has_no_diff(sandboxd: Sandboxd, repository: Path) -> None:
    (repository.parent / "alone").write_text("x")
    (repository / "large").write_bytes(b"x" * 1_100_000)
    missing = f"File does not exist: {repository}/none"
    large = "File too large for git diff: 1100000 bytes (max: 1048576 bytes)"
    assert ask(sandboxd, "diff", repository.parent / "alone") == (200, {"modified": None, "original": None})
    assert ask(sandboxd, "diff", repository / "none") == (400, {"detail": missing})
    assert ask(sandboxd, "diff", repository / "large") == (400, {"detail": large})


def test_an_image_without_git_says_so(tmp_path: Path, repository: Path) -> None:
    with running(tmp_path, env={"PATH": "/nowhere", "OH_SESSION_API_KEYS_0": "a session key"}) as sandboxd:
        absent = (400, {"detail": "Git command not found. Is git installed?"})
        assert ask(sandboxd, "diff", repository / "changed") == absent
        assert ask(sandboxd, "changes", repository) == absent
