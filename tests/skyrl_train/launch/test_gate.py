"""What a refusal says: the finding, where it is, and what to do, in one line each."""

import json
from pathlib import Path

import pytest

from skyrl_train.launch import gate
from skyrl_train.launch.gate import environment, error_lines
from skyrl_train.launch.role import Role
from skyrl_train.node.ray_env import RUNTIME_URL

FOUND = {
    "message": "max_tokens 4000 beside any prompt exceeds max_model_len 640; wanted at most 576",
    "evidence": [],
    "location": {"file": "run.toml", "line": 17, "key": "rollout.max_tokens"},
    "remedy": {
        "kind": "FIX_CONFIG",
        "safe": False,
        "summary": "change the setting",
        "commands": ["see run.toml"],
        "settings": {"rollout.max_tokens": "576"},
    },
}
BARE = {"message": "no room", "evidence": [], "location": None, "remedy": None}


def outcome(status: str, *findings: object, severity: str = "error", reason: str = "") -> dict[str, object]:
    return {"id": "CFG001", "status": status, "severity": severity, "reason": reason, "findings": list(findings)}


def lines(at: Path, *outcomes: object) -> list[str]:
    path = at / "gate.json"
    path.write_text(json.dumps({"outcomes": outcomes}))
    return list(error_lines(str(path)))


def test_each_error_is_told_with_its_place_and_what_to_do(tmp_path: Path) -> None:
    told = lines(tmp_path, outcome("fail", FOUND, BARE), outcome("fail", BARE, severity="warning"))
    assert told == [
        f"CFG001 {FOUND['message']} (at run.toml:17). To do: change the setting: see run.toml, rollout.max_tokens = 576",
        "CFG001 no room",
    ]


def test_what_could_not_be_looked_at_is_told_where_there_is_no_error(tmp_path: Path) -> None:
    assert lines(tmp_path, outcome("unknown", reason="no answer")) == ["CFG001 could not be checked: no answer"]
    assert lines(tmp_path, outcome("unknown", reason="no answer"), outcome("fail", BARE)) == ["CFG001 no room"]
    several = [outcome("unknown", reason=reason) for reason in ("no python", "no answer", "no python")]
    several[2]["id"] = "ENV012"
    assert lines(tmp_path, *several) == [
        "CFG001 could not be checked (nor ENV012): no python",
        "CFG001 could not be checked: no answer",
    ]


def test_a_damaged_report_says_nothing(tmp_path: Path) -> None:
    assert lines(tmp_path, {"id": "CFG001"}) == []
    assert list(error_lines(str(tmp_path / "absent.json"))) == []


def test_a_runtime_that_runs_elsewhere_is_the_doctors_to_try() -> None:
    assert environment("http://node07:8000") == {RUNTIME_URL: "http://node07:8000"}
    assert environment(None) == environment("two\nlines") == {}


@pytest.mark.parametrize(
    ("role", "payload", "ignored"),
    [
        (Role.RUNTIME, ("python", "-m", "skyrl_train", "runtime", "serve", "--job-dir", "j"), False),
        (Role.RUNTIME, ("my-runtime",), True),
        (Role.TRAINER, ("my-trainer",), False),
    ],
)
def test_only_a_runtime_of_the_user_may_lack_podman(
    role: Role, payload: tuple[str, ...], ignored: bool, tmp_path: Path
) -> None:
    words = gate.gated(role, str(tmp_path), payload)
    assert ("POD003,POD011" in words) is ignored
    assert words[-len(payload) :] == payload
