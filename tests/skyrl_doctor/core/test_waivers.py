"""Waivers: what they cover, when they end, and what is wrong with a broken one."""

import tomllib
from datetime import date

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Finding, Outcome, Status
from skyrl_doctor.core.waivers import Waiver, apply, notes, parse

TODAY = date(2026, 11, 20)
FAILED = Outcome(id="GPU003", slug="gpu-memory-taken", status=Status.FAIL, findings=(Finding(message="x"),))
WAIVER = Waiver(id="GPU003", reason="mine", owner="ana", expiry=date(2026, 11, 20))


def read(text: str) -> tuple[Waiver, ...]:
    return parse(tomllib.loads(text)["waivers"], file="w.toml", known={"GPU003"})


@pytest.mark.parametrize(
    "text",
    [
        '[waivers.GPU003]\nreason = "mine"\nowner = "ana"\nexpiry = 2026-11-20',
        '[[waivers]]\nid = "GPU003"\nreason = "mine"\nowner = "ana"\nexpiry = "2026-11-20"',
        '[waivers]\nGPU003 = { reason = "mine", owner = "ana", expiry = 2026-11-20T10:00:00 }',
    ],
)
def test_forms(text: str) -> None:
    assert read(text) == (WAIVER,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("waivers = 3", "w.toml: waivers: expected tables such as [waivers.GPU003], found 3"),
        ("[waivers]\nGPU003 = 3", "w.toml: waiver 'GPU003': expected a table with reason, owner and expiry, found 3"),
        ("[waivers.GPU999]\nreason = 'x'", "w.toml: waiver 'GPU999': no check has this id"),
        ("[[waivers]]\nreason = 'x'", "w.toml: waiver '': no check has this id"),
        (
            "[waivers.GPU003]\nreason = 'x'",
            "w.toml: waiver GPU003: missing owner and expiry; a waiver needs a reason, an owner and an expiry date",
        ),
        (
            "[waivers.GPU003]\nreason = ' '\nowner = 'a'\nexpiry = 2027-01-01",
            "w.toml: waiver GPU003: missing reason; a waiver needs a reason, an owner and an expiry date",
        ),
        (
            "[waivers.GPU003]\nreason = 'x'\nowner = ['a']\nexpiry = 2027-01-01",
            "w.toml: waiver GPU003: owner is ['a']; expected a string",
        ),
        (
            "[waivers.GPU003]\nid = 'GPU001'\nreason = 'x'\nowner = 'a'\nexpiry = 2027-01-01",
            "w.toml: waiver GPU003: its key `id` is 'GPU001'; use the same id in both places",
        ),
        (
            "[waivers.GPU003]\nreason = 'x'\nowner = 'a'\nexpiry = 'soon'",
            "w.toml: waiver GPU003: expiry is 'soon'; expected a date such as 2027-01-31",
        ),
        (
            "[waivers.GPU003]\nreason = 'x'\nowner = 'a'\nexpiry = 2027-01-01\nids = 'x'",
            "w.toml: waiver GPU003: unknown key 'ids'; use reason, owner and expiry",
        ),
    ],
)
def test_a_broken_waiver_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(text)
    assert str(raised.value) == said


def test_a_waived_finding_is_skipped_and_kept_until_its_day_has_passed() -> None:
    waived = apply(FAILED, [WAIVER], TODAY)
    assert (waived.status, waived.reason) == (Status.SKIP, "waived by ana until 2026-11-20: mine")
    assert waived.findings == FAILED.findings


def test_an_expired_waiver_counts_as_none_and_is_reported() -> None:
    tomorrow = date(2026, 11, 21)
    judged = apply(FAILED, [WAIVER], tomorrow)
    said = 'waiver by "ana" (reason: mine) expired on 2026-11-20 and is ignored'
    assert (judged.status, judged.reason) == (Status.FAIL, said)
    assert notes([WAIVER], tomorrow) == (f"GPU003: {said}",)
    assert notes([WAIVER], TODAY) == ()


@pytest.mark.parametrize("status", [Status.PASS, Status.SKIP, Status.UNKNOWN])
def test_a_waiver_touches_findings_only(status: Status) -> None:
    outcome = Outcome(id="GPU003", slug="gpu-memory-taken", status=status)
    assert apply(outcome, [WAIVER], TODAY) is outcome


def test_a_waiver_touches_its_own_check_only() -> None:
    other = Outcome(id="GPU001", slug="mig-uuid", status=Status.FAIL, findings=FAILED.findings)
    assert apply(other, [WAIVER], TODAY) is other


def test_a_renewed_waiver_counts_beside_its_old_self() -> None:
    old = Waiver(id="GPU003", reason="mine", owner="ana", expiry=date(2026, 1, 1))
    for waivers in ([old, WAIVER], [WAIVER, old]):
        assert apply(FAILED, waivers, TODAY).status is Status.SKIP
