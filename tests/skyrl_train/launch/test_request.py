"""What the user asks of a launch, and the plan that follows from it."""

import argparse
from pathlib import Path

import pytest

from skyrl_train.cli import launch
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch.request import Request, commands_of, plan_of
from skyrl_train.launch.role import Role

URL = "http://127.0.0.1:9"
BOTH = tuple(Role)


def request(at: Path, text: str = '[model]\npath = "a/b"\n', **asked: object) -> Request:
    file = at / "run.toml"
    file.write_text(text, encoding="utf-8")
    return Request(target=str(file), work_dir=str(at), **asked)  # type: ignore[arg-type]  # any field


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    launch.arguments(parser)
    return parser.parse_args(["run.toml", *words])


def test_arguments_become_a_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert launch.request_of(parsed()) == Request(target="run.toml", work_dir=str(tmp_path))
    asked = (
        "--skip-runtime",
        "--runtime-url",
        URL,
        "--local",
        "--job-dir",
        "job",
        "--no-gate",
        "--trainer-command",
        "a 'b c'",
    )
    assert launch.request_of(parsed(*asked)) == Request(
        target="run.toml",
        work_dir=str(tmp_path),
        runtime_url=URL,
        local=True,
        job_dir="job",
        has_gate=False,
        trainer_command=("a", "b c"),
    )


@pytest.mark.parametrize("words", [("--skip-runtime",), ("--runtime-url", URL)])
def test_a_runtime_is_skipped_only_where_another_is_named(words: tuple[str, ...]) -> None:
    with pytest.raises(
        UsageError, match=r"--skip-runtime needs --runtime-url .*, and --runtime-url needs --skip-runtime"
    ):
        launch.request_of(parsed(*words))


@pytest.mark.parametrize(
    ("asked", "roles"),
    [
        ({}, BOTH),
        ({"with_runtime": True}, BOTH),
        ({"runtime_only": True}, (Role.RUNTIME,)),
        ({"runtime_url": URL}, (Role.TRAINER,)),
    ],
)
def test_the_options_choose_the_jobs(tmp_path: Path, asked: dict[str, object], roles: tuple[Role, ...]) -> None:
    assert plan_of(request(tmp_path, **asked)).roles == roles


def test_two_urls_of_a_runtime_contradict_each_other(tmp_path: Path) -> None:
    text = f'[model]\npath = "a/b"\n[sandbox]\nruntime_url = "{URL}/"\n'
    assert plan_of(request(tmp_path, text, runtime_url=URL)).config.sandbox.runtime_url == f"{URL}/"
    with pytest.raises(UsageError, match="use one of the two"):
        plan_of(request(tmp_path, text, runtime_url="http://other:1"))


def test_the_users_commands_replace_our_own(tmp_path: Path) -> None:
    asked = request(tmp_path, trainer_command=("python", "mine.py"))
    made = commands_of(asked, plan_of(asked), str(tmp_path / "job"))
    assert made.trainer == ("python", "mine.py")
    assert made.runtime == commands_of(request(tmp_path), plan_of(asked), str(tmp_path / "job")).runtime
