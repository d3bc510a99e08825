"""The program that looks for wandb's key, run as the doctor runs it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import skyrl_doctor.children

CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("wandb_login.py")
KEY = "0123456789abcdef0123456789abcdef01234567"
SHOWN = "https://wandb.example.org:8080"


def ask(home: Path, **environ: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-B", str(CHILD)],
        env={"HOME": str(home), **environ},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    for secret in (KEY, "s3cret"):
        assert secret not in done.stdout
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def credentials(home: Path, **environ: str) -> object:
    return ask(home, **environ)["credentials"]


def test_finds_nothing_where_nothing_is(tmp_path: Path) -> None:
    assert ask(tmp_path) == {
        "url": "https://api.wandb.ai",
        "url_from": "",
        "host": "api.wandb.ai",
        "mode": None,
        "mode_from": "",
        "credentials": [],
        "note": f"{tmp_path}/.netrc does not exist",
    }


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (KEY, ""),
        (f"local-{KEY}", ""),
        ("wandb_v1_" + "Ab3_" * 20, ""),
        ("eyJhbGciOi.eyJzdWIiOi.c2ln", ""),
        ("YOUR_KEY", "is a placeholder"),
        ("<your key>", "is a placeholder"),
        ("$WANDB_API_KEY", "is a placeholder"),
        ("xxxxxxxx", "is a placeholder"),
        ("TO_BE_FILLED", "is a placeholder"),
        ("s3cret", "has 6 characters; a key has at least 40"),
        (f"local-{KEY[:20]}", "has 20 characters; a key has at least 40"),
        (f"{KEY} ", "contains characters other than letters, digits, - and _"),
        (f"{KEY}\n", "contains characters other than letters, digits, - and _"),
        (KEY + KEY, "has 80 characters; a key of this kind has exactly 40"),
    ],
)
def test_judges_a_key_without_telling_it(tmp_path: Path, key: str, problem: str) -> None:
    assert credentials(tmp_path, WANDB_API_KEY=key) == [["WANDB_API_KEY", problem]]


def test_an_empty_key_is_none(tmp_path: Path) -> None:
    assert credentials(tmp_path, WANDB_API_KEY="") == []


def test_takes_a_token_file_but_not_beside_a_key(tmp_path: Path) -> None:
    token = tmp_path / "token"
    name = "WANDB_IDENTITY_TOKEN_FILE"
    assert credentials(tmp_path, **{name: str(token)}) == [[name, "names a file that does not exist"]]
    token.write_text("eyJ")
    assert credentials(tmp_path, **{name: str(token)}) == [[name, ""]]
    both = "and WANDB_IDENTITY_TOKEN_FILE are both set; wandb accepts only one of them"
    assert credentials(tmp_path, WANDB_API_KEY=KEY, **{name: str(token)}) == [["WANDB_API_KEY", both]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"machine api.wandb.ai\n  login user\n  password {KEY}\n", ""),
        (f'machine "api.wandb.ai" login user password "{KEY}"\n', ""),
        ("machine api.wandb.ai\n  login user\n  password YOUR_KEY\n", "is a placeholder"),
        (f"default login user password {KEY}\n", ""),
    ],
)
def test_reads_the_netrc_file(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / ".netrc").write_text(text)
    assert ask(tmp_path)["credentials"] == [[f"{tmp_path}/.netrc", problem]]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"machine github.com login user password {KEY}\n", "has no entry for api.wandb.ai"),
        ("machine api.wandb.ai login user pasword s3cret\n", "cannot be parsed at line 1"),
        ("", "has no entry for api.wandb.ai"),
    ],
)
def test_says_why_the_netrc_file_gives_none(tmp_path: Path, text: str, note: str) -> None:
    (tmp_path / ".netrc").write_text(text)
    found = ask(tmp_path)
    assert (found["credentials"], found["note"]) == ([], f"{tmp_path}/.netrc {note}")


def test_an_entry_may_lack_its_password(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text('machine api.wandb.ai login user password ""\n')
    assert ask(tmp_path)["note"] == f"the entry for api.wandb.ai in {tmp_path}/.netrc has no password"


def test_a_netrc_file_may_be_a_directory_or_no_text(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00machine")
    assert ask(tmp_path, NETRC=str(tmp_path / "dir"))["note"] == f"{tmp_path}/dir cannot be read: Is a directory"
    assert ask(tmp_path, NETRC=str(tmp_path / "bytes"))["credentials"] == []


def test_the_netrc_variable_wins_and_the_other_name_counts(tmp_path: Path) -> None:
    entry = f"machine api.wandb.ai login user password {KEY}\n"
    (tmp_path / "_netrc").write_text(entry)
    (tmp_path / "mine").write_text(entry)
    assert credentials(tmp_path) == [[f"{tmp_path}/_netrc", ""]]
    assert credentials(tmp_path, NETRC="~/mine") == [[f"{tmp_path}/mine", ""]]


def test_follows_the_server_of_variable_and_settings(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text(f"machine wandb.example.org:8080 login user password {KEY}\n")
    (tmp_path / ".config" / "wandb").mkdir(parents=True)
    (tmp_path / ".config" / "wandb" / "settings").write_text(f"[default]\nbase_url = {SHOWN}\n")
    found = ask(tmp_path)
    assert (found["url"], found["host"], found["credentials"]) == (
        SHOWN,
        "wandb.example.org:8080",
        [[f"{tmp_path}/.netrc", ""]],
    )
    assert ask(tmp_path, WANDB_BASE_URL="https://api.wandb.ai")["credentials"] == []


@pytest.mark.parametrize("url", ["", "node:8080", "api.wandb.ai", "ftp://node", "https://", "http://[::1"])
def test_a_server_that_wandb_refuses_has_no_host(tmp_path: Path, url: str) -> None:
    found = ask(tmp_path, WANDB_BASE_URL=url)
    assert (found["host"], found["url"], found["url_from"]) == ("", url, "WANDB_BASE_URL")


def test_a_password_in_the_server_s_url_is_not_told(tmp_path: Path) -> None:
    found = ask(tmp_path, WANDB_BASE_URL="https://user:s3cret@wandb.example.org")
    assert (found["url"], found["host"]) == ("wandb.example.org", "wandb.example.org")


def test_knows_what_wandb_offline_wrote(tmp_path: Path) -> None:
    (tmp_path / "wandb").mkdir()
    settings = tmp_path / "wandb" / "settings"
    settings.write_text("[default]\nmode = offline\n")
    found = ask(tmp_path)
    assert (found["mode"], found["mode_from"]) == ("offline", str(settings))
    assert ask(tmp_path, WANDB_MODE="")["mode"] == ""
    assert ask(tmp_path, WANDB_DIR=str(tmp_path / "elsewhere"))["mode"] is None


def test_a_key_in_the_settings_comes_last(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "settings").write_text(f"[default]\napi_key = {KEY}\n")
    environ = {"WANDB_CONFIG_DIR": str(config)}
    assert credentials(tmp_path, **environ) == [[f"{config}/settings", ""]]
    assert credentials(tmp_path, WANDB_API_KEY="s3cret", **environ) == [
        ["WANDB_API_KEY", "has 6 characters; a key has at least 40"]
    ]


def test_settings_that_are_none_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "wandb").mkdir()
    (tmp_path / "wandb" / "settings").write_text("mode = offline\n")
    assert ask(tmp_path)["mode"] is None
