"""The real agent server as a directory: from an environment, once, whole or with its packages mounted."""

import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.server_bundle import PLACE, ServerBundle, make_bundle, read_bundle
from skyrl_train.sandbox.server_source import ServerSource, source_of

MAIN = "import sys; print('served', sys.argv[1:], 'site' in __file__)\n"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ServerSource:
    """A virtual environment with an agent server that prints its words."""
    path = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
    site = next(path.glob("lib/python*/site-packages"))
    package = site / "openhands" / "agent_server"
    package.mkdir(parents=True)
    (package / "__main__.py").write_text(MAIN)
    info = site / "openhands_agent_server-1.58.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("openhands/agent_server/__main__.py,,\n")
    return source_of(str(path), version="0")


@pytest.fixture(scope="module")
def whole(source: ServerSource, tmp_path_factory: pytest.TempPathFactory) -> ServerBundle:
    return make_bundle(source, tmp_path_factory.mktemp("place"), whole=True)


def served(bundle: ServerBundle, *words: str) -> str:
    """As in a sandbox, but where the directory lies on this machine."""
    argv = [word.replace(PLACE, bundle.directory) for word in bundle.command]
    return subprocess.run([*argv, *words], capture_output=True, text=True, check=True, env={}).stdout


def test_it_runs_with_its_own_loader_and_packages(whole: ServerBundle) -> None:
    assert whole.version == "1.58.0"
    assert served(whole, "--port", "60000") == "served ['--port', '60000'] True\n"
    assert served(whole, "-m", "openhands.agent_server", "--port", "1") == "served ['--port', '1'] True\n"
    assert whole.python == whole.command[:-3]


def test_what_is_there_is_used_again(whole: ServerBundle, source: ServerSource) -> None:
    directory = Path(whole.directory)
    before = directory.stat().st_ino
    assert make_bundle(source, directory.parent, whole=True) == whole == read_bundle(directory)
    assert directory.stat().st_ino == before
    assert make_bundle(source_of(whole.directory, version="0"), directory.parent, whole=False) == whole


def test_other_packages_are_another_bundle(
    whole: ServerBundle, source: ServerSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skyrl_train.sandbox.server_bundle.copy_python", lambda *_args, **_more: None)
    record = next(Path(source.path).glob("lib/python*/site-packages/*.dist-info/RECORD"))
    text = record.read_text()
    try:
        record.write_text(text + "another,,\n")
        monkeypatch.setattr("skyrl_train.sandbox.server_bundle.loader_command", lambda *_args: ("python3",))
        changed = make_bundle(source, Path(whole.directory).parent, whole=False)
    finally:
        record.write_text(text)
    assert changed.fingerprint != whole.fingerprint
    assert changed.site == str(record.parent.parent)


def test_one_that_was_killed_half_way_is_not_taken(source: ServerSource, tmp_path: Path) -> None:
    def killed(*_args: object, **_more: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skyrl_train.sandbox.server_bundle.copy_python", killed)
        with pytest.raises(KeyboardInterrupt):
            make_bundle(source, tmp_path, whole=False)
    assert list(tmp_path.iterdir()) == []


def test_an_environment_without_the_server_is_refused(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "e")], check=True)
    with pytest.raises(UsageError, match="no openhands-agent-server is installed in"):
        make_bundle(source_of(str(tmp_path / "e"), version="0"), tmp_path, whole=True)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 1}'])
def test_a_damaged_bundle_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent-server.json").write_text(text)
    with pytest.raises(UsageError, match=r"cannot be used: .*; make it again with skyrl-train images server"):
        read_bundle(tmp_path)
