"""JSON, schema 1: what we print is valid, and the schema refuses what it should."""

import copy
import json
import pkgutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from report_samples import MIXED, failing, only
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.core.model import Location, Outcome, RemedyKind, Role, Severity, Status
from skyrl_doctor.report.json import as_data, render, render_batch
from skyrl_doctor.report.model import VERDICTS, Batch, Refusal
from support import MACHINES

SCHEMA: Any = json.loads(pkgutil.get_data("skyrl_doctor.report", "schema-1.json") or b"")
VALID = Draft202012Validator(SCHEMA)

OUTCOME = {
    "id": "GPU001",
    "slug": "mig-uuid",
    "status": "fail",
    "severity": "error",
    "reason": "",
    "duration_s": 0.25,
    "findings": [
        {
            "message": "node gpu-node-17 failed once before",
            "severity": "info",
            "evidence": [],
            "location": None,
            "remedy": None,
        },
        {
            "message": "CUDA_VISIBLE_DEVICES names the device by its MIG UUID, but vLLM expects an index",
            "severity": "error",
            "evidence": ["CUDA_VISIBLE_DEVICES=MIG-aaaaaaaa-0000-0000-0000-000000000001"],
            "location": {"file": "run.toml", "line": 12, "key": "trainer.gpus"},
            "remedy": {
                "kind": "FIX_ENV",
                "summary": "name it by its index",
                "commands": ["export CUDA_VISIBLE_DEVICES=0"],
                "settings": {"CUDA_VISIBLE_DEVICES": "0"},
                "safe": True,
            },
        },
    ],
}


def test_the_whole_report() -> None:
    data = json.loads(render(MIXED))
    outcomes = {outcome["id"]: outcome for outcome in data.pop("outcomes")}
    assert data == {
        "schema": 1,
        "verdict": "fail",
        "role": "gpu",
        "target": {"files": ["run.toml"], "dialect": "run-config"},
        "host": "gpu-node-17",
        "version": "0.1.0",
        "duration_s": 0.5,
        "summary": {"pass": 1, "fail": 2, "skip": 3, "unknown": 1},
        "notes": ['CFG001: waiver by "ops" (reason: a test) expired on 2026-01-31 and is ignored'],
        "nodes": None,
    }
    assert list(outcomes) == ["ENV001", "ENV002", "GPU001", "GPU003", "POD001", "POD002", "SLM001"]
    assert outcomes["GPU001"] == OUTCOME


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "report",
    [
        MIXED,
        only(),
        only(Outcome(id="ENV001", slug="x", status=Status.PASS)),
        only(Outcome(id="ENV001", slug="x", status=Status.UNKNOWN, reason="no answer")),
        only(MIXED.outcomes[3]),
        only(roles=("gpu", "login", "runtime"), targets=(), dialect="none"),
        failing("m", location=Location("/etc/x"), severity=Severity.INFO),
    ],
)
def test_what_we_print_is_valid(report: Any) -> None:
    VALID.validate(json.loads(render(report)))


def test_its_words_are_ours() -> None:
    """An enumeration that grows in the code and not in the schema would refuse our own reports."""
    definitions = SCHEMA["$defs"]
    assert definitions["outcome"]["properties"]["status"]["enum"] == [status.value for status in Status]
    assert definitions["severity"]["enum"] == [severity.word for severity in sorted(Severity, reverse=True)]
    assert definitions["remedy"]["properties"]["kind"]["enum"] == [kind.value for kind in RemedyKind]
    report, runs = definitions["report"]["properties"], definitions["runs"]["properties"]
    assert report["verdict"]["enum"] == runs["verdict"]["enum"] == list(VERDICTS)
    roles = "|".join(sorted(role.value for role in Role))
    assert report["role"]["pattern"] == f"^({roles})(\\+({roles}))*$"
    assert set(report) == set(as_data(MIXED))
    assert set(runs) == set(json.loads(render_batch(BATCH)))


BATCH = Batch((MIXED, only()), (Refusal("other.sh", "line 1 starts train.py, which the doctor does not know"),))
LEFT_OUT_IF_EMPTY = {"moves", "removes"}


def test_every_object_is_closed_and_every_key_described() -> None:
    for where, node in _nodes(SCHEMA):
        if node.get("type") == "object" and where[-1:] not in (("settings",), ("moves",)):
            assert node["additionalProperties"] is False, where
            assert set(node["required"]) == set(node["properties"]) - LEFT_OUT_IF_EMPTY, where
        if where[-2:-1] == ("properties",) and "if" not in where and "then" not in where and "else" not in where:
            described = {**node, **_referred(node)}
            assert "description" in described or set(node) == {"$ref"}, where


def _referred(node: Any) -> Any:
    return SCHEMA["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else {}


def _nodes(node: Any, where: tuple[str, ...] = ()) -> Any:
    if isinstance(node, dict):
        yield where, node
        for name, value in node.items():
            yield from _nodes(value, (*where, name))
    elif isinstance(node, list):
        for item in node:
            yield from _nodes(item, (*where, "[]"))


WRONG: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "another schema": (("schema",), 2),
    "a verdict that is none": (("verdict",), "maybe"),
    "an unknown role": (("role",), "gpu+head"),
    "no role": (("role",), ""),
    "a summary without a count": (("summary",), {"pass": 1, "fail": 0, "skip": 0}),
    "a negative count": (("summary", "pass"), -1),
    "half a check": (("summary", "pass"), 0.5),
    "a negative time": (("duration_s",), -0.1),
    "an unknown key": (("extra",), 1),
    "a lone target": (("target",), "run.toml"),
    "a bad id": (("outcomes", 0, "id"), "gpu001"),
    "a status that is none": (("outcomes", 0, "status"), "warn"),
    "a pass with findings": (("outcomes", 2, "status"), "pass"),
    "a fail without findings": (("outcomes", 0, "status"), "fail"),
    "an unknown without a reason": (("outcomes", 6, "reason"), ""),
    "an unknown with findings": (("outcomes", 2), {**OUTCOME, "status": "unknown", "reason": "x"}),
    "a skip without a reason": (("outcomes", 4, "reason"), ""),
    "findings without a severity": (("outcomes", 2, "severity"), None),
    "a severity without findings": (("outcomes", 0, "severity"), "error"),
    "a severity that is none": (("outcomes", 2, "findings", 0, "severity"), "fatal"),
    "an empty message": (("outcomes", 2, "findings", 0, "message"), ""),
    "evidence as one text": (("outcomes", 2, "findings", 0, "evidence"), "x"),
    "a location without a file": (("outcomes", 2, "findings", 0, "location"), {"line": 1, "key": None}),
    "line 0": (("outcomes", 2, "findings", 1, "location", "line"), 0),
    "a remedy of no kind": (("outcomes", 2, "findings", 1, "remedy", "kind"), "PRAY"),
    "a setting that is no text": (("outcomes", 2, "findings", 1, "remedy", "settings", "X"), 0),
    "an unknown key of a finding": (("outcomes", 2, "findings", 1, "hint"), "x"),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_schema_refuses(what: str) -> None:
    data = copy.deepcopy(as_data(MIXED))
    (*path, last), value = WRONG[what]
    place: Any = data
    for step in path:
        place = place[step]
    place[last] = value
    assert not VALID.is_valid(data)


@pytest.mark.parametrize("key", list(as_data(MIXED)))
def test_no_key_may_be_missing(key: str) -> None:
    data = as_data(MIXED)
    del data[key]
    assert not VALID.is_valid(data)


def test_several_runs_are_valid() -> None:
    data = json.loads(render_batch(BATCH))
    VALID.validate(data)
    assert (len(data["runs"]), len(data["refused"])) == (2, 1)
    for empty in (Batch((MIXED,)), Batch((), BATCH.refused)):
        VALID.validate(json.loads(render_batch(empty)))


WRONG_RUNS: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "another schema": (("schema",), 2),
    "a verdict that is none": (("verdict",), "maybe"),
    "an unknown key": (("extra",), 1),
    "a report with an unknown key": (("runs", 0, "extra"), 1),
    "a report without a verdict": (("runs", 1), {"schema": 1}),
    "several runs as a run": (("runs", 0), json.loads(render_batch(BATCH))),
    "a refusal without a reason": (("refused", 0, "reason"), ""),
    "a refusal as text": (("refused", 0), "other.sh"),
}


@pytest.mark.parametrize("what", WRONG_RUNS)
def test_the_schema_refuses_several_runs(what: str) -> None:
    data = json.loads(render_batch(BATCH))
    (*path, last), value = WRONG_RUNS[what]
    place: Any = data
    for step in path:
        place = place[step]
    place[last] = value
    assert not VALID.is_valid(data)


@given(st.text(st.characters(exclude_categories=[]), min_size=1))
def test_whatever_bytes_are_quoted_the_output_is_ascii_and_parses(text: str) -> None:
    printed = render(failing(text, evidence=(text,), location=Location(text, key=text)))
    data = json.loads(printed.encode("ascii"))
    VALID.validate(data)
    said = data["outcomes"][0]["findings"][0]["message"]
    assert said == text or any("\ud800" <= character <= "\udfff" for character in text)


def test_bytes_that_are_no_utf8_are_told_apart() -> None:
    printed = render(failing(b"caf\xe9 \x00 \x1b[0m".decode("utf-8", "surrogateescape")))
    assert json.loads(printed)["outcomes"][0]["findings"][0]["message"] == "caf\\xe9 \x00 \x1b[0m"


def test_what_the_command_prints_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failing machine through the real engine, the same with its finding waived, and one that tells nothing more."""
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "about.toml").write_text("format = 1\n", encoding="utf-8")
    answers = {"environ": {"VLLM_USE_V1": "0"}, **_identity()}
    (bundle / "machine.json").write_text(json.dumps(answers), encoding="utf-8")
    waiver = tmp_path / "waivers.toml"
    waiver.write_text('[waivers.ENV016]\nreason = "r"\nowner = "o"\nexpiry = 2999-01-01\n', encoding="utf-8")
    asked = ["preflight", "--from", str(bundle), "--role", "gpu", "--format", "json", "--fail-on", "warning"]

    def printed(*more: str) -> Any:
        status = dispatch([*asked, *more])
        data = json.loads(capsys.readouterr().out)
        VALID.validate(data)
        assert data["verdict"] == {0: "pass", 1: "fail", 3: "unknown"}[status]
        return {outcome["id"]: outcome for outcome in data["outcomes"]}

    failing_machine = printed()
    assert failing_machine["ENV016"]["status"] == "fail"
    assert {outcome["status"] for outcome in failing_machine.values()} >= {"fail", "unknown"}
    waived = printed("--waivers", str(waiver))["ENV016"]
    assert (waived["status"], waived["severity"], len(waived["findings"])) == ("skip", "warning", 1)


def _identity() -> Any:
    base = json.loads((MACHINES / "clean_gpu_node" / "base.json").read_text(encoding="utf-8"))
    return {"identity": base["identity"], "now": base["now"]}
