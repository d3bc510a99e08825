"""skyrl-train images, with a podman of a few lines."""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skyrl_train.cli import images
from skyrl_train.contracts.errors import UsageError

PODMAN = """#!/bin/sh
# a store of empty files; what is called slow takes long
store="$FAKE_STORE"; for last in "$@"; do :; done
file="$store/$(echo "$last" | tr '/:' '__')"
case "$1 $2" in
"images --format")
  printf '['; comma=; for each in "$store"/*; do [ -e "$each" ] || continue
    printf '%s{"Names": ["%s"]}' "$comma" "$(cat "$each")"; comma=,; done; printf ']' ;;
"image exists") [ -e "$file" ] ;;
"pull --quiet") case "$last" in *slow*) touch "$store.pulling"; sleep 60 ;; *gone*) echo "manifest unknown" >&2; exit 125 ;; esac
  echo "$last" >"$file.tmp"; mv "$file.tmp" "$file" ;;
*) exit 125 ;;
esac
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "podman").write_text(PODMAN)
    (tmp_path / "bin" / "podman").chmod(0o755)
    made = tmp_path / "store"
    made.mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_STORE", str(made))
    return made


def dataset(directory: Path, *names: str) -> str:
    file = directory / "rows.jsonl"
    file.write_text("".join(json.dumps({"docker_image": name}) + "\n" for name in names))
    return str(file)


def called(*words: str) -> int:
    parser = argparse.ArgumentParser()
    images.arguments(parser)
    return images.run(parser.parse_args(words))


def test_lists_checks_and_pulls(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = dataset(tmp_path, "a/bc:1", "a/bd:1")
    assert called("list", target) == 0
    assert called("check", target) == 1
    assert capsys.readouterr().out == "absent  docker.io/a/bc:1\nabsent  docker.io/a/bd:1\n2 images, 2 absent\n" * 2
    assert called("pull", target, "--log", f"{tmp_path}/log") == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert sorted((line["image"], line["step"], line["ok"]) for line in lines) == [
        ("docker.io/a/bc:1", "pull", True),
        ("docker.io/a/bd:1", "pull", True),
    ]
    assert called("check", target) == 0


def test_one_that_fails_does_not_hold_the_others(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called("pull", dataset(tmp_path, "a/gone:1", "a/bc:1")) == 1
    said = capsys.readouterr()
    assert "docker.io/a/gone:1: FAILED: podman pull: manifest unknown" in said.err
    assert said.out.startswith("1 of 2 images present after ")


def test_bad_names_are_told_and_the_rest_is_fetched(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called("pull", dataset(tmp_path, "d", "a/bc:1")) == 1
    said = capsys.readouterr()
    assert "skyrl-train images: image 'd': 'd' is one letter" in said.err
    assert said.out.startswith("1 of 1 images present")


def test_a_configuration_names_data_prefix_and_archive(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = dataset(tmp_path, "a/bc:1")
    config = tmp_path / "run.toml"
    config.write_text(
        f'[model]\npath = "m"\n[data]\ntrain_files = ["{rows}"]\n[sandbox]\nimage_prefix = "mirror.site/hub/"\n'
    )
    assert called("list", str(config)) == 0
    assert capsys.readouterr().out == "absent  mirror.site/hub/a/bc:1\n1 image, 1 absent\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("list", "none.jsonl"), "data set none.jsonl: No such file or directory"),
        (("list", "none.toml"), "none.toml: No such file or directory"),
        (("pull", "{rows}", "--archive", "/nowhere"), "/nowhere does not exist"),
        (("pull", "{rows}", "--log", "/nowhere/log"), "--log /nowhere/log: No such file or directory"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(store: Path, tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    rows = dataset(tmp_path, "a/bc:1")
    with pytest.raises(UsageError, match=why):
        called(*(word.format(rows=rows) for word in words))


def test_a_store_that_does_not_answer_is_one_sentence(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin" / "podman").write_text("#!/bin/sh\necho layer not known >&2; exit 125\n")
    assert called("pull", dataset(tmp_path, "a/bc:1")) == 1
    assert capsys.readouterr().err.startswith("skyrl-train images: podman images: layer not known; see skyrl-doctor")


@pytest.mark.parametrize("words", [("--limit", "nan"), ("--limit", "-1"), ("--jobs", "0"), ("--tries", "x")])
def test_options_that_make_no_sense_are_refused(store: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        called("pull", dataset(tmp_path, "a/bc:1"), *words)


def test_a_kill_leaves_a_state_that_the_next_start_understands(store: Path, tmp_path: Path) -> None:
    """SIGTERM ends the pull in flight; what was there stays, and the next start fetches the rest."""
    target = dataset(tmp_path, "a/bc:1", "a/slow:1")
    words = [sys.executable, "-m", "skyrl_train", "images", "pull", target, "--jobs", "1"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        pulling = Path(f"{store}.pulling")
        while not pulling.exists():
            assert process.poll() is None
            threading.Event().wait(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert sorted(path.name for path in store.iterdir()) == ["docker.io_a_bc_1"]
    assert called("pull", dataset(tmp_path, "a/bc:1", "a/bd:1")) == 0


def test_rows_that_cannot_be_read_are_counted_and_the_others_served(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"docker_image": "a/bc:1"}\n{"docker_im\n\xff\xfe\n[1]\nnull\n{"docker_image": "a/bd:1"}\n')
    assert called("pull", str(file)) == 1
    said = capsys.readouterr()
    assert said.out.startswith("2 of 2 images present")
    assert f"skyrl-train images: data set {file}, line 2: not valid JSON: " in said.err
    assert "skyrl-train images: skipped 2 rows that cannot be read\n" in said.err
    assert "skyrl-train images: 2 rows without an image\n" in said.err
    assert called("check", str(file)) == 1
    assert called("list", str(file)) == 0


@pytest.mark.parametrize("cut", [0.5, 0.99])
def test_a_damaged_parquet_file_is_one_sentence(store: Path, tmp_path: Path, cut: float) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"docker_image": [f"a/b{n}:1" for n in range(2000)]}), file, row_group_size=500)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * cut)])
    with pytest.raises(UsageError, match=r"data set .*rows\.parquet: "):
        called("list", str(file))


def test_a_damaged_part_of_a_parquet_file_leaves_what_stands_before_it(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    names = [f"a/image{n}:1" for n in range(1024)]
    parquet.write_table(
        pyarrow.table({"docker_image": names}), file, row_group_size=256, compression="NONE", use_dictionary=False
    )
    content = bytearray(file.read_bytes())
    at = content.index(b"a/image600:1")
    content[at - 4 : at + 4000] = b"\xff" * 4004
    file.write_bytes(bytes(content))
    assert called("check", str(file)) == 1
    said = capsys.readouterr()
    assert "576 images, 576 absent" in said.out
    assert "the rows after 576 cannot be read" in said.err
    assert "skipped 1 row that cannot be read" in said.err


def test_the_agent_server_is_made_into_a_directory_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    info = next(environment.glob("lib/python*/site-packages")) / "openhands_agent_server-1.58.0.dist-info"
    info.mkdir()
    (info / "RECORD").touch()
    words = ("server", str(tmp_path / "made"), "--agent-server", str(environment))
    assert called(*words) == 0
    assert capsys.readouterr().out == (
        f"openhands-agent-server 1.58.0 is in {tmp_path}/made; set sandbox.agent_server to that directory\n"
    )
    assert (tmp_path / "made" / "agent-server.json").exists()
    with pytest.raises(UsageError, match="exists already; name a new directory"):
        called(*words)


def test_what_is_no_agent_server_is_refused(store: Path, tmp_path: Path) -> None:
    for verb, target in (("server", str(tmp_path / "made")), ("build", dataset(tmp_path, "a/bc:1"))):
        with pytest.raises(UsageError, match=r"sandbox\.agent_server = '/nowhere': no such path"):
            called(verb, target, "--agent-server", "/nowhere")
