"""POD009."""

from dataclasses import replace

from checks.pod.database_locked_under_burst import database_locked_under_burst
from fakes.podman_store import STORE
from fakes.runtimes import CANARY, OTHERS, OURS
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

SQLITE = replace(STORE, database=Database(path="/g/db.sql"))
PLACE = Location("plan.toml", None, "agent.max_parallel")
LOCKED = "start (session doctor-canary-3): 500: beginning container create transaction: database is locked [RUN010]"
LOST = Finding(
    message="1 of 4 sandboxes were not made: the database was locked; wanted all",
    evidence=(LOCKED,),
    location=PLACE,
    remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="start fewer at once"),
)


def many(inject: str | None = None) -> Plan:
    own = {} if inject is None else {"sandbox__inject": inject}
    return plan_of(agent__max_parallel=400, data__train_batch_size=64, rollout__n=8, **own)


def test_finds_more_starts_than_the_database_takes() -> None:
    assert list(database_locked_under_burst(many(), SQLITE, None)) == [
        Finding(
            message="400 containers are started at once on Podman's SQLite database; wanted at most 64",
            location=PLACE,
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG, summary="use this setting", settings={"agent.max_parallel": "64"}
            ),
            severity=Severity.WARNING,
        )
    ]


def test_another_database_few_starts_or_our_runtime_are_no_fault() -> None:
    assert list(database_locked_under_burst(many(), STORE, None)) == []
    assert list(database_locked_under_burst(OTHERS, SQLITE, None)) == []
    assert list(database_locked_under_burst(many("mount"), SQLITE, CANARY)) == []
    assert list(database_locked_under_burst(plan_of(model__path="m"), SQLITE, None)) == []


def test_finds_the_error_itself() -> None:
    seen = replace(CANARY, worked=3, failures=(("RUN010", LOCKED),))
    assert list(database_locked_under_burst(OURS, STORE, seen)) == [LOST]


def test_reproduces_on_a_recording() -> None:
    assert judge("POD009", "database_locked_under_burst", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="POD009", slug="database-locked-under-burst", status=Status.FAIL, findings=(LOST,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD009", "clean_runtime_up", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="POD009", slug="database-locked-under-burst", status=Status.PASS
    )
