"""skyrl-doctor explain."""

import json
from collections.abc import Iterator

import pytest

from skyrl_doctor.catalogue import Entry, When
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.cli.explain import page_lines
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.facts.environ import Environ

STALE = """\
ENV016 stale-vllm-variable
Appears before the job.

`VLLM_USE_V1` is set, but current vLLM ignores it.

What it does
------------
Finds `VLLM_USE_V1` in the environment.

Why it breaks training
----------------------
vLLM 0.12 removed its first engine. `VLLM_USE_V1=0` used to avoid a crash of the
new engine and now changes nothing: vLLM logs one warning and runs the engine
that the variable was meant to turn off.

How to fix
----------
Remove the variable from the job script and from `~/.bashrc`. If it was set to
avoid a crash in `THCPModule_initExtension`, set
`VLLM_WORKER_MULTIPROC_METHOD=spawn` instead (ENV004).

Example
-------
    Unknown vLLM environment variable detected: VLLM_USE_V1

Checked on GPU and login nodes. Related code: skyrl_train/node/vllm.py.
"""


@check("SITE001", roles=[Role.GPU], fix="operator: only the site can open it.")
def site_closed(environ: Environ) -> Iterator[Finding]:
    yield from ()


@pytest.mark.parametrize("name", ["ENV016", "env016", "stale-vllm-variable", " ENV016 "])
def test_the_page_by_id_or_slug(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", name]) == 0
    assert capsys.readouterr().out == STALE


def test_a_failure_without_a_check_names_the_command_that_finds_it() -> None:
    entry = Entry(id="TRN002", slug="tracker-used-as-logger", family="TRN", when=(When.LOG, When.CONTRACT), core=True)
    lines = list(page_lines(entry, None))
    assert lines[:7] == [
        "TRN002 tracker-used-as-logger",
        "Appears in the job's logs, in a contract test.",
        "",
        "verl's metrics tracker is used as a logger.",
        "",
        "What it does",
        "------------",
    ]
    assert lines[-5:] == [
        "Example",
        "-------",
        "    AttributeError: 'Tracking' object has no attribute 'warning'",
        "",
        "No check finds it before the job. Found by skyrl-doctor diagnose.",
    ]


def test_a_check_that_is_missing_says_so() -> None:
    entry = Entry(id="PRM008", slug="one-gpu-cannot-be-shared", family="PRM", when=(When.PREFLIGHT, When.LOG))
    assert list(page_lines(entry, None))[-1] == "No check finds it before the job. Not built yet."


def test_the_check_of_another_package_has_no_entry() -> None:
    assert list(page_lines(None, site_closed)) == [
        "SITE001 site-closed",
        "",
        "skyrl-doctor explain.",
        "",
        "Checked on GPU nodes. Only you can cure it: only the site can open it.",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("GPU01", "no failure has the name or the words 'GPU01'; did you mean GPU001?"),
        ("mig_uuid", "no failure has the name or the words 'mig_uuid'; did you mean mig-uuid?"),
        ("", "no failure has the name or the words ''; run `skyrl-doctor list` for all failures"),
        ("~~~", "no failure has the name or the words '~~~'; run `skyrl-doctor list` for all failures"),
    ],
)
def test_an_unknown_name_is_bad_input(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", name]) == 2
    assert capsys.readouterr() == ("", f"skyrl-doctor explain: {said}\n")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", "ENV016", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    sections = data.pop("sections")
    assert [section["heading"] for section in sections] == [
        "What it does",
        "Why it breaks training",
        "How to fix",
        "Example",
    ]
    assert sections[0]["text"] == "Finds `VLLM_USE_V1` in the environment."
    assert (data["schema"], data["id"], data["built"]) == (1, "ENV016", True)
