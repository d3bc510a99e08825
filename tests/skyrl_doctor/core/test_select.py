"""Selection by id, slug and family, and by role."""

from collections.abc import Iterator

import pytest

from skyrl_doctor.core.check import Check, check
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Finding, Outcome, Role, Status
from skyrl_doctor.core.select import select


def mig_uuid() -> Iterator[Finding]:
    yield from ()


def store_locked() -> Iterator[Finding]:
    yield from ()


GPU = check("GPU001", roles=[Role.GPU], fix="operator: a test")(mig_uuid)
POD = check("POD007", roles=[Role.RUNTIME], fix="operator: a test")(store_locked)
CHECKS: list[Check] = [GPU, POD]


def ids(*, wanted: tuple[str, ...] = (), ignored: tuple[str, ...] = (), roles: set[Role]) -> list[str]:
    return [check.id for check in select(CHECKS, wanted=wanted, ignored=ignored, roles=roles).run]


def test_the_role_decides_where_nothing_is_asked_for() -> None:
    assert ids(roles={Role.GPU}) == ["GPU001"]
    assert ids(roles=set(Role)) == ["GPU001", "POD007"]
    assert select(CHECKS, roles={Role.GPU}).skipped == (
        Outcome(
            id="POD007",
            slug="store-locked",
            status=Status.SKIP,
            reason="runtime-node check; this looks like a GPU node (override with --role runtime)",
        ),
    )


@pytest.mark.parametrize("name", ["POD007", "pod007", "store-locked", "STORE-LOCKED", " POD007 "])
def test_a_check_asked_for_by_name_runs_in_any_role(name: str) -> None:
    assert ids(wanted=(name,), roles={Role.GPU}) == ["POD007"]


def test_a_family_runs_where_the_role_calls_for_it() -> None:
    assert ids(wanted=("POD",), roles={Role.GPU}) == []
    assert ids(wanted=("POD", "gpu"), roles=set(Role)) == ["GPU001", "POD007"]


def test_ignored_wins() -> None:
    assert ids(wanted=("GPU", "POD"), ignored=("mig-uuid",), roles=set(Role)) == ["POD007"]


@pytest.mark.parametrize("name", ["GPU001", "mig-uuid", "gpu"])
def test_a_check_that_is_left_out_is_no_unknown_name(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} examines the machine, so --structure-only leaves it out"):
        select([POD], wanted=(name,), roles=set(Role), left_out=CHECKS)
    assert select([POD], ignored=(name,), roles=set(Role), left_out=CHECKS).run == (POD,)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("GPU002", "no check has the id, slug or family 'GPU002'; did you mean GPU001?"),
        ("mig-uid", "no check has the id, slug or family 'mig-uid'; did you mean mig-uuid?"),
        ("uuid", "no check has the id, slug or family 'uuid'; did you mean mig-uuid?"),
        ("zzz", "no check has the id, slug or family 'zzz'; run `skyrl-doctor list` to see all checks"),
        ("", "no check has the id, slug or family ''; run `skyrl-doctor list` to see all checks"),
    ],
)
def test_an_unknown_name_is_one_sentence(name: str, said: str) -> None:
    for kind in ("wanted", "ignored"):
        with pytest.raises(UsageError) as raised:
            select(CHECKS, roles=set(Role), **{kind: (name,)})
        assert str(raised.value) == said
