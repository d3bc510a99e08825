"""preflight of several targets: runs one by one, files that complete each other together, in every format."""

import json
import pkgutil
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator
from prometheus_client.parser import text_string_to_metric_families

from skyrl_doctor.cli.app import dispatch

GOOD = "python -m verl.trainer.main_ppo trainer.nnodes=1\n"
BAD = "python -m verl.trainer.main_ppo +trainer.nnodes=1 trainer.n_gpus_per_node=2\n"
VARIES = re.compile(r"in \d\.\d\ds|host [\w.-]+|doctor:  \S+")
WORDS = ["preflight", "--structure-only", "--select", "CFG004"]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "good.sh": GOOD,
        "bad.sh": BAD,
        "other.sh": "torchrun their_trainer.py\n",
        "dev.conf": "MODEL=x\nROLLOUT_N=2\n",
        "two.conf": "MODEL=y\nROLLOUT_N=3\n",
        "task.yaml": "agent_cls: x\ngenerator:\n  max_iterations: 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def output(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = dispatch([*WORDS, *words])
    return code, capsys.readouterr().out


def test_the_findings_of_all_runs_are_printed_once_and_the_worst_status_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("worse.sh").write_text(f"# the same\n{BAD}", encoding="utf-8")
    code, text = output(capsys, "good.sh", "bad.sh", "worse.sh", "other.sh")
    made = VARIES.sub("_", text)
    assert (code, made) == (
        1,
        """\
_ _, role any, target 3 runs

ERROR    CFG004 trainer.nnodes exists already, and + only adds new keys; use
         trainer.nnodes=… or ++trainer.nnodes=…; fix: rename +trainer.nnodes to
         ++trainer.nnodes
           in 2 places: bad.sh:1 worse.sh:2

REFUSED  target other.sh: line 1 starts their_trainer.py, which the doctor does
         not know; it reads a run.toml of skyrl-train, prime-rl's TOML files,
         SkyRL-agent's dev.conf and task YAML, a verl or SkyRL YAML, and scripts
         or command lines that start verl's, SkyRL's or prime-rl's programs
MORE     -v prints the findings of each run in full; `skyrl-doctor explain
         CFG004` explains one
fail:    bad.sh worse.sh
verdict: fail (3 runs: 1 pass, 2 fail; 1 refused)
""",
    )


def test_with_v_each_run_has_its_own_findings_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    text = VARIES.sub("_", output(capsys, "good.sh", "bad.sh", "-v")[1])
    assert text.split("\n\n")[1:4] == [
        "run:     good.sh",
        "verdict: pass (1 passed; this machine was not examined) _",
        "run:     bad.sh",
    ]
    assert "         at:   bad.sh:1 (trainer.nnodes)\n" in text
    assert text.endswith(
        "verdict: fail (1 error; this machine was not examined) _\n\nMORE     skyrl-doctor explain CFG004\nverdict: fail (2 runs: 1 pass, 1 fail)\n"
    )


def test_lines_named_in_a_message_do_not_part_the_same_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of the `if` differs from file to file; a group names none."""
    for number, name in enumerate(("one.sh", "two.sh")):
        head = "#\n" * number
        Path(name).write_text(
            f'{head}a=()\nif nvidia-smi | grep -q H100; then\n  a+=(trainer.nnodes=2)\nfi\npython -m verl.trainer.main_ppo "${{a[@]}}"\n',
            encoding="utf-8",
        )
    text = output(capsys, "one.sh", "two.sh")[1]
    assert "depends on the if in line 2" in output(capsys, "one.sh")[1]
    assert (
        "INFO     CFG004 trainer.nnodes = 2: depends on the if, which is taken to hold\n           in 2 places: one.sh:3 two.sh:4\n"
        in text
    )


def test_a_folder_is_refused_with_the_way_to_name_its_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("scripts").mkdir()
    assert dispatch([*WORDS, "scripts"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-doctor preflight: target scripts: Is a directory; name its files, such as scripts/*.sh\n"
    )


def test_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "good.sh", "good.sh")[0] == 0
    assert output(capsys, "good.sh", "other.sh")[0] == 2
    assert output(capsys, "bad.sh", "other.sh")[0] == 1


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(output(capsys, "good.sh", "bad.sh", "other.sh", "--format", "json")[1])
    Draft202012Validator(json.loads(pkgutil.get_data("skyrl_doctor.report", "schema-1.json") or b"")).validate(report)
    assert (report["schema"], report["verdict"]) == (1, "fail")
    assert [(run["target"]["files"], run["verdict"]) for run in report["runs"]] == [
        (["good.sh"], "pass"),
        (["bad.sh"], "fail"),
    ]
    assert [refusal["target"] for refusal in report["refused"]] == ["other.sh"]


def test_junit(capsys: pytest.CaptureFixture[str]) -> None:
    root = ET.fromstring(output(capsys, "good.sh", "bad.sh", "other.sh", "--format", "junit")[1])
    counts = {name: root.attrib[name] for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1"}
    names = ["skyrl-doctor good.sh", "skyrl-doctor bad.sh", "skyrl-doctor refused"]
    assert [suite.attrib["name"] for suite in root] == names


def test_github(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, "good.sh", "bad.sh", "other.sh", "--format", "github")[1].splitlines()
    assert [line.partition("::trainer")[0].partition("::target")[0] for line in lines] == [
        "::error file=bad.sh,line=1,title=CFG004 config-unreadable",
        "::error file=other.sh,title=refused",
        "good.sh: skyrl-doctor: pass (1 passed)",
        "bad.sh: skyrl-doctor: fail (1 error)",
        "skyrl-doctor: fail (2 runs: 1 pass, 1 fail; 1 refused)",
    ]


def test_prometheus(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "good.sh", "bad.sh", "other.sh", "--format", "prometheus")[1]
    families = {family.name: family.samples for family in text_string_to_metric_families(text)}
    verdicts = {(one.labels["target"], one.labels["verdict"]) for one in families["skyrl_doctor_verdict"] if one.value}
    assert verdicts == {("good.sh", "pass"), ("bad.sh", "fail")}
    assert [one.labels for one in families["skyrl_doctor_refused"]] == [{"target": "other.sh"}]


def test_files_that_complete_each_other_are_one_run_and_the_report_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(output(capsys, "dev.conf", "task.yaml", "--format", "json")[1])
    assert (report["target"]["files"], report["notes"]) == (
        ["dev.conf", "task.yaml"],
        ["dev.conf and task.yaml complete each other; they are read as one run, and a later file wins"],
    )


def test_what_could_be_combined_in_two_ways_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch([*WORDS, "dev.conf", "two.conf", "task.yaml"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-doctor preflight: target task.yaml (task YAML) may complete any of 2 others (each dev.conf); pass one run at a time\n"
    )


def test_a_gate_is_for_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["gate", "--select", "CFG004", "good.sh", "bad.sh", "--", "true"]) == 2
    assert "the targets are 2 runs (good.sh, bad.sh); pass one" in capsys.readouterr().err
