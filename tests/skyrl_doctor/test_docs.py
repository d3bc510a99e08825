"""The generator of pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from skyrl_doctor.catalogue import Entry, When, catalogue
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.docs.__main__ import main, our_checks, pages, stale_pages
from skyrl_doctor.docs.failures import Around, failure_page, failure_pages, failures, fix_of
from skyrl_doctor.docs.pictures import layers
from skyrl_doctor.facts.environ import Environ


@check("GPU001", roles=[Role.GPU], fix="operator: a <driver> | none")
def mig_uuid(environ: Environ) -> Iterator[Finding]:
    yield from ()


def test_a_page() -> None:
    (stale,) = [found for found in our_checks() if found.id == "ENV016"]
    page = failure_page(Entry(id="ENV016", slug="x", family="ENV", when=(When.PREFLIGHT, When.LOG)), stale)
    assert page.startswith("# ENV016 x\n\n`VLLM_USE_V1` is set, but current vLLM ignores it.\n\n## What it does\n\n")
    assert page.endswith(
        "## Example\n\n    Unknown vLLM environment variable detected: VLLM_USE_V1\n\n"
        "| | |\n|---|---|\n"
        "| Appears | before the job, in the job's logs |\n"
        "| Roles | gpu, login |\n"
        "| Check | `checks/env/stale_vllm_variable.py` |\n"
        "| Fixed by | `skyrl_train/node/vllm.py` |\n"
        "| Tests | `tests/checks/env/test_stale_vllm_variable.py` |"
    )


def test_the_page_of_a_failure_without_a_check() -> None:
    (entry,) = [entry for entry in catalogue().entries if entry.id == "TRN002"]
    page = failure_page(entry, None)
    assert page.startswith(
        "# TRN002 tracker-used-as-logger\n\nverl's metrics tracker is used as a logger.\n\n## What it does\n"
    )
    assert page.endswith(
        "| | |\n|---|---|\n"
        "| Appears | in the job's logs, in a contract test |\n"
        "| Found by | `skyrl-doctor diagnose` |\n"
        "| Described in | `checks/trn/tracker_used_as_logger.py` |"
    )


def test_samples_of_the_call_format_are_no_tags() -> None:
    assert fix_of(mig_uuid) == "the operator: a &lt;driver> &#124; none"


def test_the_table_of_failures() -> None:
    (stale,) = [found for found in our_checks() if found.id == "ENV016"]
    lines = list(failures({"ENV016": stale}))
    assert (
        "| [GPU003](checks/GPU003.md) | gpu-memory-taken | Another process holds memory on a GPU of this job. "
        "| before the job, during the job, in the job's logs | Not built yet. |"
    ) in lines
    assert (
        "| [AGT003](checks/AGT003.md) | **finish-field** | `FinishAction` gets a field other than `message`. "
        "| in the job's logs, in a contract test | Found by skyrl-doctor diagnose. |"
    ) in lines
    assert (
        "| [ENV016](checks/ENV016.md) | **stale-vllm-variable** | `VLLM_USE_V1` is set, but current vLLM ignores it. "
        "| before the job | By a check. |"
    ) in lines


def test_a_page_leads_on() -> None:
    (stale,) = [found for found in our_checks() if found.id == "ENV016"]
    around = Around(
        symptoms=("hang, stuck", "no output"),
        samples=("a <line>",),
        settings=("rollout.n",),
        related=("ENV004",),
        before="ENV015",
        after="ENV017",
    )
    page = failure_page(Entry(id="ENV016", slug="x", family="ENV", when=(When.PREFLIGHT,)), stale, around)
    assert "\n\n## Log lines\n\nA log with a line like one of these has this failure:\n\n    a <line>\n\n" in page
    assert "\n\n## Symptoms\n\nUsers describe it with these words: hang, stuck; no output.\n\n" in page
    assert page.endswith(
        "## Related\n\n"
        "- [ENV004 vllm-fork-segfault](ENV004.md): `VLLM_WORKER_MULTIPROC_METHOD` is not `spawn`.\n"
        "- Settings: [`rollout.n`](../run-config.md#rollout)\n"
        "- All failures of [ENV: The environment of the job](../failures.md#env-the-environment-of-the-job)\n\n"
        "Previous: [ENV015 rocr-visible-devices-set](ENV015.md) · Next: [ENV017 known-bad-version](ENV017.md)"
    )


def test_related_failures_share_something_rare() -> None:
    checks = {found.id: found for found in our_checks()}
    made = failure_pages(checks, {"a.rare": ["GPU006", "TRN002"], "a.usual": ["GPU006", "TRN002", "CFG001"]})
    related = [line for line in made["docs/checks/TRN002.md"].splitlines() if line.startswith("- [")]
    assert [line[3:9] for line in related] == ["GPU006", "CFG001"]


def test_the_layers_are_those_of_the_contract() -> None:
    picture = layers(Path(__file__).parents[2], "skyrl_train")
    assert picture.index(">cli<") < picture.index(">launch<") < picture.index(">contracts<")
    assert "<script" not in picture


def test_writes_checks_and_removes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--root", str(tmp_path)]
    assert main([*at, "--check"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert main(at) == 0
    assert main([*at, "--check"]) == 0
    page = tmp_path / "docs/checks/ENV016.md"
    page.write_text("edited", encoding="utf-8")
    (tmp_path / "docs/checks/OLD001.md").write_text("of a check that is gone", encoding="utf-8")
    (tmp_path / "docs/failures.md").unlink()
    stale = ["docs/checks/ENV016.md", "docs/checks/OLD001.md", "docs/failures.md"]
    assert sorted(stale_pages(tmp_path, pages(our_checks()))) == stale
    capsys.readouterr()
    assert main([*at, "--check"]) == 1
    assert capsys.readouterr().err.splitlines() == [f"{path}: out of date" for path in stale]
    assert main(at) == 0
    assert main([*at, "--check"]) == 0
    assert not (tmp_path / "docs/checks/OLD001.md").exists()
