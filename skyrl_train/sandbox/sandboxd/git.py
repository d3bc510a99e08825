"""What changed in a repository, as the real server tells it.

Repositories of sandboxes are somebody else's by their owner, and their remotes cannot be reached: git is told to trust
the first, and is never asked about the second.
"""

from __future__ import annotations

import os

from skyrl_train.sandbox.sandboxd.children import Children
from skyrl_train.sandbox.sandboxd.output_reader import run

LIMIT_S = 30.0
MAX_FILE = 1024 * 1024
_MAX_OUTPUT = 32 * 1024 * 1024
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_STATUS = {"M": "UPDATED", "U": "UPDATED", "T": "UPDATED", "A": "ADDED", "D": "DELETED"}


class GitError(Exception):
    """git said no."""


class GitAbsentError(GitError):
    """Nothing can be said of any repository, which is not the same as that nothing changed."""


class NoRepositoryError(Exception):
    """There is nothing here that git could be asked about."""


class Git:
    """git in one directory."""

    def __init__(self, children: Children, env: dict[str, str], directory: str) -> None:
        self._children = children
        self._env = {**env, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        self.directory = directory

    def ask(self, *words: str) -> str:
        argv = ["git", "--no-pager", "-c", "safe.directory=*", "-c", "core.quotePath=false", *words]
        try:
            ran = run(self._children, argv, cwd=self.directory, env=self._env, limit_s=LIMIT_S, limit=2 * _MAX_OUTPUT)
        except FileNotFoundError:
            raise GitAbsentError("Git command not found. Is git installed?") from None
        except OSError as error:
            raise GitError(f"git could not be started: {error}") from None
        if ran.exit_code is None:
            raise GitError(f"Git command timed out: git {' '.join(words)}")
        if ran.exit_code:
            raise GitError(f"Git command failed: git {' '.join(words)}: {ran.stderr.strip()[-1000:]}")
        return ran.stdout

    def maybe(self, *words: str) -> str | None:
        """One line, or None where git says no."""
        try:
            return self.ask(*words).strip() or None
        except GitAbsentError:
            raise
        except GitError:
            return None

    def at(self, directory: str) -> Git:
        return Git(self._children, self._env, directory)

    def check(self) -> None:
        """Raises NoRepositoryError."""
        if not os.path.isdir(self.directory) or self.maybe("rev-parse", "--git-dir") is None:
            raise NoRepositoryError(self.directory)


def base_of(git: Git, ref: str | None) -> str:
    """What changes are counted from: the ref that was asked for, else what the branch left its remote at, else HEAD."""
    if ref is not None:
        if ref.startswith("-"):
            raise GitError("ref must not start with '-'")
        found = git.maybe("rev-parse", "--verify", ref + "^{commit}")
        if found is None and ref != "HEAD":
            raise GitError(f"Git command failed: git rev-parse --verify {ref}^{{commit}}")
        return found or _EMPTY_TREE
    if git.maybe("rev-list", "--max-count=1", "--all") is None:
        return _EMPTY_TREE
    head, branch = git.maybe("rev-parse", "--verify", "HEAD"), git.maybe("rev-parse", "--abbrev-ref", "HEAD")
    upstream = git.maybe("rev-parse", "--verify", f"origin/{branch}") if branch not in (None, "HEAD") else None
    pushed = upstream == head and not git.maybe("status", "--porcelain", "--untracked-files=no")
    if upstream is not None and not pushed:
        return upstream
    return _fork_point(git, branch) or head or _EMPTY_TREE


def _fork_point(git: Git, branch: str | None) -> str | None:
    """Where the branch left the remote's default branch, or the local one where there is no remote."""
    default = git.maybe("rev-parse", "--abbrev-ref", "origin/HEAD")
    if default is not None and default.startswith("origin/"):
        return git.maybe("merge-base", "HEAD", default) or git.maybe("rev-parse", "--verify", default)
    for local in ("main", "master"):
        tip = git.maybe("rev-parse", "--verify", local)
        if tip is not None:
            fork = git.maybe("merge-base", "HEAD", local) if local != branch else None
            return fork if fork == tip else None
    return None


def changes(git: Git, ref: str | None) -> list[dict[str, str]]:
    """Of the repository, and of those one level below it. No repository at all has no changes."""
    nested = [name for name in _names(git.directory) if os.path.exists(os.path.join(git.directory, name, ".git"))]
    try:
        own = _changes_in(git, ref)
    except NoRepositoryError:
        own = []
    found = [change for change in own if change["path"].split("/")[0] not in nested]
    for name in nested:
        found += [{**change, "path": f"{name}/{change['path']}"} for change in _nested(git, name, ref)]
    return sorted(found, key=lambda change: change["path"])


def diff(git_of: Git, path: str, ref: str | None) -> dict[str, str | None]:
    """The text of one file before and after."""
    path = os.path.realpath(path)
    gone = not os.path.lexists(path)
    if not gone and os.path.getsize(path) > MAX_FILE:
        raise GitError(f"File too large for git diff: {int(os.path.getsize(path))} bytes (max: {int(MAX_FILE)} bytes)")
    missing = GitError(f"File does not exist: {path}")
    root = _closest_repository(path)
    if root is None:
        if gone:
            raise missing
        return {"modified": None, "original": None}
    git = git_of.at(root)
    git.check()
    spec = f"{base_of(git, ref)}:{os.path.relpath(path, root)}"
    size = git.maybe("cat-file", "-s", spec) if git.maybe("cat-file", "-t", spec) == "blob" else None
    if gone and size is None:
        raise missing
    if size is not None and int(size) > MAX_FILE:
        raise GitError(f"File too large for git diff: {size} bytes (max: {int(MAX_FILE)} bytes)")
    original = "" if size is None else "\n".join(git.ask("show", spec).splitlines())
    return {"modified": "" if gone else _text_of(path), "original": original}


def _changes_in(git: Git, ref: str | None) -> list[dict[str, str]]:
    git.check()
    words = git.ask("diff", "--name-status", "--no-renames", "--relative", "-z", base_of(git, ref)).split("\0")
    found = [{"status": _STATUS.get(code[:1], "UPDATED"), "path": path} for code, path in _pairs(words)]
    untracked = git.maybe("ls-files", "--others", "--exclude-standard", "-z") or ""
    return found + [{"status": "ADDED", "path": path} for path in untracked.split("\0") if path]


def _nested(git: Git, name: str, ref: str | None) -> list[dict[str, str]]:
    try:
        return _changes_in(git.at(os.path.join(git.directory, name)), ref)
    except (NoRepositoryError, GitError):
        return []


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return [(words[at], words[at + 1]) for at in range(0, len(words) - 1, 2)]


def _names(directory: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except OSError:
        return []


def _closest_repository(path: str) -> str | None:
    while not os.path.exists(os.path.join(path, ".git")):
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return path


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return "\n".join(file.read().splitlines())
    except (OSError, UnicodeDecodeError):
        return ""
