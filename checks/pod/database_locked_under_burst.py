"""More containers start at once than Podman's database can handle.

## What it does
If another runtime starts the sandboxes and the store's database is SQLite (Podman 4.8 and later), compares the number
of rollouts that run at once with a safe limit. If test sandboxes were started (`--role runtime` with a running
runtime), looks for the error itself.

## Why it breaks training
Each podman process opens the database and waits a limited time for the lock. In a burst of some hundred starts the
last ones wait too long: their containers are not created, and their rollouts are lost.

## How to fix
Start fewer at once. `skyrl-train runtime serve` uses a few threads and retries after this error.

## Example
    Error: beginning container create transaction: database is locked
"""

from collections.abc import Iterator

from checks.img.shared import inject_of
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.facts.runtime import Canary
from skyrl_doctor.plan.findings import config_finding, finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.burst import LOCKED, burst_violations

CAUSE = "more containers started at once than Podman's database can handle; start fewer at a time"

FEWER = "Start fewer containers at the same time, and start the failed ones again. A store on a local disk answers faster than one on a network file system (`podman info -f '{{.Store.GraphRoot}}'`)."

SIGNATURES = (
    Signature(
        pattern=r"(?:container|transaction|podman).{0,80}database is locked",
        sample="Error: beginning container create transaction: database is locked",
        explain=CAUSE,
        remedy=FEWER,
        versions="podman",
    ),
    Signature(
        pattern=r"\bdatabase is locked\b",
        sample="Error: retrieving container ab12: database is locked",
        explain=CAUSE,
        remedy=FEWER,
        versions="podman",
        unless=r"(?i:mlflow|wandb|optuna|alembic|sqlalchemy|jupyter)",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:podman|container|libpod)\b.{0,60}\bdatabase\b.{0,40}\block(?:ed)?\b",
    sample="Error: podman's database stayed locked for 60 s",
    explain=CAUSE,
    versions="any",
)

KEY = "agent.max_parallel"
SQLITE = "db.sql"


@check("POD009", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/runtime/podman/api.py")
def database_locked_under_burst(plan: Plan, store: PodmanStore, canary: Canary | None) -> Iterator[Finding]:
    locked = [text for _, text in canary.failures if LOCKED in text] if canary is not None else []
    if locked and canary is not None:
        yield config_finding(
            f"{len(locked)} of {canary.asked} sandboxes were not created, because the database was locked; expected all",
            plan.place(KEY),
            summary="start fewer at once",
            evidence=tuple(locked[:3]),
        )
        return
    if inject_of(plan) is None:
        batch, n, parallel = plan.integer("data.train_batch_size"), plan.integer("rollout.n"), plan.integer(KEY)
        asked = [batch * n] if batch is not None and n is not None else []
        at_once = min([*asked, *([parallel] if parallel is not None else [])], default=0)
        for violation in burst_violations(sqlite=store.database.path.endswith(SQLITE), at_once=at_once):
            yield finding(plan, violation)
