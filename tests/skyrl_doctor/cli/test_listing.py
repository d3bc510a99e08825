"""skyrl-doctor list."""

import json
from collections.abc import Iterator

import pytest

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.cli.listing import rows, table
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.found_by import page
from skyrl_doctor.page import parse
from support import registry

STALE = {
    "id": "ENV016",
    "slug": "stale-vllm-variable",
    "built": True,
    "found_by": ["skyrl-doctor preflight"],
    "core": True,
    "when": ["P"],
    "roles": ["gpu", "login"],
    "summary": "`VLLM_USE_V1` is set, but current vLLM ignores it.",
    "fix": "skyrl_train/node/vllm.py",
    "module": "checks.env.stale_vllm_variable",
}


@check("SITE001", roles=[Role.GPU], fix="operator: call the site")
def site_closed(environ: Environ) -> Iterator[Finding]:
    yield from ()


def test_a_built_one_and_one_that_is_not() -> None:
    (stale,) = [found for found in registry().checks if found.id == "ENV016"]
    known = {row["id"]: row for row in rows((stale,))}
    assert known["ENV016"] == STALE
    assert known["PRM008"] == {
        "id": "PRM008",
        "slug": "one-gpu-cannot-be-shared",
        "built": False,
        "found_by": [],
        "core": True,
        "when": ["P"],
        "roles": [],
        "summary": parse(page(catalogue().find("PRM008"), None)).summary,
        "fix": None,
        "module": "checks.prm.one_gpu_cannot_be_shared",
    }
    assert list(known) == [entry.id for entry in catalogue().entries]


def test_one_line_a_failure_those_of_others_last() -> None:
    lines = list(table(rows((site_closed,))))
    assert lines[0] == (
        "GPU001  mig-uuid                       before, logs          -                  `CUDA_VISIBLE_DEVICES` names a MIG slice by UUID, or a device that CUDA cannot find."
    )
    assert (
        lines[-1]
        == "SITE001 site-closed                    -                     gpu                skyrl-doctor list."
    )
    assert len(lines) == len(catalogue().entries) + 1


@pytest.mark.parametrize("columns", [80, 139])
def test_each_failure_is_one_row_of_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert dispatch(["list"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line[:6] for line in lines] == [entry.id for entry in catalogue().entries]
    assert max(map(len, lines)) <= columns
    assert last == "`skyrl-doctor explain ID` prints the page of a failure"


def test_prints_every_failure_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert dispatch(["list"]) == 0
    out = capsys.readouterr()
    listed = [line.split()[0] for line in out.out.splitlines()]
    assert (listed, out.err) == ([entry.id for entry in catalogue().entries], "")
    assert (
        "ENV016  stale-vllm-variable            before                gpu,login          `VLLM_USE_V1` is set, but current vLLM ignores it."
        in out.out
    )


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["list", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["schema"], data["notes"]) == (1, [])
    assert data["failures"] == rows(registry().checks)
