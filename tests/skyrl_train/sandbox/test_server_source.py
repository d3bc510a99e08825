"""What `sandbox.agent_server` names, told apart by what stands there."""

import re
import sys
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.server_source import Kind, ServerSource, installed_version, python_for, source_of

WHEELS = ("openhands_agent_server-1.9.0-py3-none-any.whl", "openhands_agent_server-1.58.0-py3-none-any.whl")


def found(path: Path | str) -> ServerSource:
    return source_of(str(path), version="1.2.3")


def test_the_index_is_a_word() -> None:
    assert found("index") == ServerSource(kind=Kind.INDEX, path="", version="1.2.3")


def test_a_directory_of_wheels_gives_its_newest_version(tmp_path: Path) -> None:
    for name in (*WHEELS, "pydantic-2.0-py3-none-any.whl", "notes.txt"):
        (tmp_path / name).touch()
    assert found(tmp_path) == ServerSource(kind=Kind.WHEELS, path=str(tmp_path), version="1.58.0")


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("agent-server.json", Kind.BUNDLE),
        ("pyvenv.cfg", Kind.VENV),
        ("usr/local/bin/openhands-agent-server", Kind.CONTEXT),
        ("agent-server/.venv/bin/python", Kind.CONTEXT),
    ],
)
def test_each_kind_by_what_it_holds(tmp_path: Path, file: str, kind: Kind) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).touch()
    assert found(tmp_path) == ServerSource(kind=kind, path=str(tmp_path), version="1.2.3")


def test_a_program_is_a_file_that_the_kernel_runs(tmp_path: Path) -> None:
    program = tmp_path / "openhands-agent-server"
    program.write_bytes(b"\x7fELF...")
    assert found(program) == ServerSource(kind=Kind.PROGRAM, path=str(program), version="1.2.3")


@pytest.mark.parametrize(("made", "said"), [("absent", "no such path"), ("empty", "nothing of the kind is there")])
def test_what_is_nothing_of_the_kind_is_refused(tmp_path: Path, made: str, said: str) -> None:
    path = tmp_path / made
    if made == "empty":
        path.mkdir()
        (path / "pydantic-2.0-py3-none-any.whl").touch()
    wanted = rf"^sandbox\.agent_server = {re.escape(repr(str(path)))}: {said}; wanted what `skyrl-train images server`"
    with pytest.raises(UsageError, match=wanted):
        found(path)


def test_a_python_that_is_too_old_says_which_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / WHEELS[0]).touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    if sys.version_info >= (3, 12):
        assert python_for(found(tmp_path)) == sys.executable
        return
    with pytest.raises(UsageError, match=r"needs Python 3\.12 or newer to install it with; this is 3\."):
        python_for(found(tmp_path))


def test_an_environment_brings_its_own_python(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").touch()
    assert python_for(found(tmp_path)) == f"{tmp_path}/bin/python"


def test_the_version_that_is_installed(tmp_path: Path) -> None:
    assert installed_version(tmp_path) is None
    (tmp_path / "openhands_agent_server-1.58.2.dist-info").mkdir()
    assert installed_version(tmp_path) == "1.58.2"
