"""preflight: exit statuses, formats, bad input."""

import json
import os
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.machine.recorded import RecordedMachine
from support import MACHINES

EXAMPLE = MACHINES.parent.parent / "examples" / "mig20.toml"
ONE = ["preflight", "--select", "ENV016"]


@pytest.fixture(autouse=True)
def _no_stale_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_USE_V1", raising=False)


def test_exit_statuses(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(ONE) == 0
    monkeypatch.setenv("VLLM_USE_V1", "0")
    assert dispatch(ONE) == 0
    assert dispatch([*ONE, "--fail-on", "warning"]) == 1
    assert "VLLM_USE_V1=0 is set" in capsys.readouterr().out


def test_a_recorded_machine_is_examined_in_place_of_this_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch([*ONE, "--from", str(MACHINES / "stale_vllm_variable"), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["host"], report["outcomes"][0]["status"]) == ("gpu-node-17", "fail")


def test_a_recording_with_holes_is_unknown_with_the_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "about.toml").write_text("format = 1", encoding="utf-8")
    (tmp_path / "machine.json").write_text("{}", encoding="utf-8")
    assert dispatch([*ONE, "--from", str(tmp_path), "--role", "gpu"]) == 3
    out = capsys.readouterr()
    assert f"not in this recording ({tmp_path}): environ" in " ".join(out.out.split())
    assert "Traceback" not in out.out + out.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["preflight", "/no/such/file.toml"], "target /no/such/file.toml: no such file or directory"),
        (["preflight", "/etc"], "target /etc: Is a directory"),
        (["preflight", "--select", "NOPE01"], "no check has the id, slug or family 'NOPE01'"),
        (["preflight", "--ignore", "GPU01"], "no check has the id, slug or family 'GPU01'; did you mean GPU001?"),
        (["preflight", "--waivers", "/no/such"], "/no/such: no such file or directory"),
        (
            ["preflight", "--from", "/no/such"],
            "/no/such is not a recording: /no/such/about.toml: no such file or directory",
        ),
        (
            [*ONE, "--ignore", "stale-vllm-variable"],
            "no check left to run: --ignore removes every check that --select names",
        ),
        ([*ONE, "--output", "/no/such/dir/file"], "cannot write /no/such/dir/file: No such file or directory"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(words) == 2
    out = capsys.readouterr()
    assert out.err.startswith(f"skyrl-doctor preflight: {said}")
    assert out.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["preflight", "--deadline", "0"],
        ["preflight", "--deadline", "soon"],
        ["nonsense"],
        ["preflight", "--sel", "X"],
    ],
)
def test_bad_options_are_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        dispatch(words)
    assert raised.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_target_that_is_a_fifo_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "config.toml")
    assert dispatch(["preflight", str(tmp_path / "config.toml")]) == 2
    assert "is a fifo, not a file" in capsys.readouterr().err


def test_a_broken_waiver_file_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "waivers.toml"
    for text, said in (
        ("[waivers", "not valid TOML"),
        ("x = 1", "no [waivers] table"),
        ("[waivers.GPU999]", "no check has this id"),
    ):
        file.write_text(text, encoding="utf-8")
        assert dispatch([*ONE, "--waivers", str(file)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(("expiry", "status", "code"), [("2999-01-01", "skip", 0), ("2001-01-01", "fail", 1)])
def test_waivers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    expiry: str,
    status: str,
    code: int,
) -> None:
    monkeypatch.setenv("VLLM_USE_V1", "0")
    file = tmp_path / "waivers.toml"
    file.write_text(f'[waivers.ENV016]\nreason = "old script"\nowner = "ana"\nexpiry = {expiry}\n', encoding="utf-8")
    assert dispatch([*ONE, "--waivers", str(file), "--fail-on", "warning", "--format", "json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert report["outcomes"][0]["status"] == status
    assert len(report["outcomes"][0]["findings"]) == 1
    expired = ['ENV016: waiver by "ana" (reason: old script) expired on 2001-01-01 and is ignored'] if code else []
    assert report["notes"] == expired


def test_the_report_goes_to_a_file_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    assert dispatch([*ONE, "--format", "json", "--output", str(file)]) == 0
    assert json.loads(file.read_text(encoding="utf-8"))["verdict"] == "pass"
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == [file]


def test_a_secret_in_the_environment_is_never_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "correct-horse-battery")
    monkeypatch.setenv("VLLM_USE_V1", "correct-horse-battery")
    assert dispatch([*ONE, "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert "correct-horse-battery" not in out
    assert "<redacted:" in out


def test_record_then_replay_gives_the_same_outcomes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tmp_path / "bundle"
    assert dispatch(["record", str(bundle)]) == 0
    capsys.readouterr()
    RecordedMachine.load(str(bundle), strict=True)
    dispatch(["preflight", "--from", str(bundle), "--format", "json", "--role", "gpu"])
    first = json.loads(capsys.readouterr().out)
    assert [o for o in first["outcomes"] if "not in this recording" in o["reason"]] == []
    assert dispatch(["record", str(bundle)]) == 2
    assert "already holds a recording" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
@pytest.mark.parametrize("name", ["planted", "planted/new"])
def test_a_recording_does_not_follow_a_link_of_another_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "planted").symlink_to(victim)
    os.lchown(tmp_path / "planted", 65534, 65534)
    assert dispatch(["record", str(tmp_path / name)]) == 2
    assert "is a link of another user" in capsys.readouterr().err
    assert list(victim.iterdir()) == []


def test_a_bundle_is_guessed_to_be_what_its_machine_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert dispatch(["record", str(tmp_path / "bundle")]) == 0
    roles = []
    for words in (ONE, [*ONE, "--from", str(tmp_path / "bundle")]):
        capsys.readouterr()
        dispatch([*words, "--format", "json"])
        roles.append(json.loads(capsys.readouterr().out)["role"])
    assert roles[0] == roles[1]
    assert "+" not in roles[0]


def test_a_secret_in_the_configuration_is_never_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run.toml"
    target.write_text('[model]\npath = "x"\n[env]\nRUNTIME_API_KEY = "correct-horse-battery"\n', encoding="utf-8")
    monkeypatch.setenv("VLLM_USE_V1", "correct-horse-battery")
    assert dispatch([*ONE, str(target), "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert "correct-horse-battery" not in out
    assert "<redacted:" in out


def test_structure_only_looks_at_no_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["preflight", "--structure-only", str(EXAMPLE), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    looked_at = {outcome["id"][:3] for outcome in report["outcomes"]}
    assert looked_at <= {"AGT", "CFG", "PRM", "RUN", "SLM", "TRN", "MEM"}
    assert {"pass"} <= {outcome["status"] for outcome in report["outcomes"]}
    assert "redacted" not in json.dumps(report)


def test_structure_only_needs_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["preflight", "--structure-only"]) == 2
    assert "pass a TARGET" in capsys.readouterr().err
