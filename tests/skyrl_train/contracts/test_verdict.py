"""The verdict that a passing gate leaves and the trainer asks for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.verdict import Verdict, config_hash, refusal, to_json, write

VERDICT = Verdict(
    config_sha256="ab" * 32,
    node="gpu-node-17",
    role="gpu",
    gpus=("MIG-a",),
    versions={"vllm": "0.24.0"},
    outcomes={"GPU001": "pass"},
    unknown_allowed=False,
    written_at=100.0,
    expires_at=200.0,
)
SAME = {"config_sha256": "ab" * 32, "node": "gpu-node-17", "now": 150.0}


def test_a_fresh_verdict_lets_the_trainer_start(tmp_path: Path) -> None:
    path = write(str(tmp_path), VERDICT)
    assert refusal(Path(path).read_text(encoding="utf-8"), **SAME) is None
    assert [file.name for file in tmp_path.iterdir()] == ["verdict.json"]


@pytest.mark.parametrize(
    ("text", "change", "said"),
    [
        (None, {}, "there is no verdict.json in the job directory: the gate has not passed (skyrl-doctor gate)"),
        ("", {}, "verdict.json is damaged"),
        ("[]", {}, "verdict.json is damaged"),
        (to_json(VERDICT).replace('"schema": 1', '"schema": 9'), {}, "verdict.json has schema 9, expected 1: run the gate of this version"),
        (to_json(VERDICT), {"config_sha256": "cd" * 32}, "verdict.json is for another configuration (sha256 abababababab…, this one is cdcdcdcdcdcd…)"),
        (to_json(VERDICT), {"node": "gpu-node-18"}, "verdict.json is for node gpu-node-17, this is gpu-node-18"),
        (to_json(VERDICT), {"now": 200.0}, "verdict.json expired 0 s ago: run the gate again"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_words(text: str | None, change: dict[str, object], said: str) -> None:
    answer = refusal(text, **{**SAME, **change})  # type: ignore[arg-type]  # a table of cases
    assert answer is not None
    assert answer.startswith(said)


@given(st.text())
def test_no_text_is_taken_for_a_verdict(text: str) -> None:
    assert refusal(text, config_sha256="", node="", now=0.0) is not None


def test_the_hash_tells_files_and_their_order_apart() -> None:
    assert config_hash([b"a", b"b"]) != config_hash([b"b", b"a"])
    assert config_hash([b"ab"]) != config_hash([b"a", b"b"])
