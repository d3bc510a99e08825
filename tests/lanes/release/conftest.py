"""The distributions of this tree, built from a clone that has a tag, and the interpreters to install them into."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_train.contracts.version import VERSION

ROOT = Path(__file__).parents[3]
LAST, NEXT = f"v{VERSION}", "v9.8.7"
"""The release that the pages name, and one that only the tag knows."""
LIMIT_S = 600.0
MEASURED = "measured"
"""The property of a test whose value the end of the run prints."""
Run = Callable[..., subprocess.CompletedProcess[str]]


def run(*argv: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program. It sees nothing of the tests' own environment and of this tree."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG", "PIP_INDEX_URL") if name in os.environ}
    kept |= {name: value for name, value in os.environ.items() if name.lower().endswith(("_proxy", "_cert", "_bundle"))}
    given = {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(env or {})}
    return subprocess.run(argv, cwd=cwd, env=given, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def done(*argv: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """The output of a program that must succeed."""
    ended = run(*argv, cwd=cwd, env=env)
    assert ended.returncode == 0, f"{argv}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for one in terminalreporter.getreports("passed"):
        for name, value in one.user_properties:
            if name == MEASURED:
                terminalreporter.write_line(f"{one.nodeid}: {value}")


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as a repository of its own, with two tags: that of the last release, and a commit later another one."""
    made = tmp_path_factory.mktemp("repository")
    names = done("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            target = made / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    done("git", "init", "--quiet", cwd=made)
    done("git", "add", "--all", "--force", cwd=made)
    for tag in (LAST, NEXT):
        done(*git, "commit", "--quiet", "--allow-empty", "--message", tag, cwd=made)
        done("git", "tag", tag, cwd=made)
    return made


@pytest.fixture(scope="session")
def distributions(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel and the source distribution."""
    made = tmp_path_factory.mktemp("dist")
    done(sys.executable, "-m", "hatchling", "build", "--directory", made, cwd=repository)
    (wheel,), (sdist,) = made.glob("*.whl"), made.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


def interpreter(version: str) -> Path | None:
    """A Python of this version that works: on PATH, beside this one, or where pyenv, uv and containers install it."""
    home = Path.home()
    folders = [
        Path(sys.base_prefix).parent,
        home / ".pyenv/versions",
        home / ".local/share/uv/python",
        Path("/opt"),
        Path("/opt/python"),
    ]
    found = [path for folder in folders for path in sorted(folder.glob(f"*{version}*/bin/python{version}"))]
    on_path = shutil.which(f"python{version}")
    for path in [*([Path(on_path)] if on_path else []), *found]:
        seen = run(path, "-c", "import ensurepip, ssl, sys; print(sys.version_info[:2])", cwd=Path("/"))
        if seen.stdout.strip() == str(tuple(map(int, version.split(".")))):
            return path
    return None
