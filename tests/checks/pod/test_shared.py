"""The remedies that Podman's failures share."""

from checks.pod.shared import is_own, isolate, quoted, reset_or_isolate
from fakes.podman_store import BASE, STORE, store
from skyrl_doctor.core.model import Remedy, RemedyKind
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.database import Database

ISOLATE = Remedy(
    kind=RemedyKind.FIX_ENV,
    summary="give the job a store of its own",
    commands=('eval "$(skyrl-doctor env --shell)"',),
    settings={
        "XDG_RUNTIME_DIR": f"{BASE}/run",
        "XDG_DATA_HOME": f"{BASE}/data",
        "XDG_CONFIG_HOME": f"{BASE}/config",
        "CONTAINERS_CONF": f"{BASE}/containers.conf",
        "CONTAINERS_STORAGE_CONF": f"{BASE}/storage.conf",
    },
    safe=True,
)


def test_isolation_names_what_env_exports() -> None:
    assert isolate(STORE, Environ({"SLURM_JOB_ID": "4711"})) == ISOLATE


def test_only_the_job_s_own_store_is_reset() -> None:
    own, other, none = (Environ({"SLURM_JOB_ID": job}) for job in ("4711", "4712", ""))
    assert [is_own(STORE, environ) for environ in (own, other, none)] == [True, False, False]
    assert reset_or_isolate(STORE, own, before=("mv a b",)).commands == ("mv a b", "podman system reset --force")
    assert reset_or_isolate(STORE, other, before=("mv a b",)).kind is RemedyKind.FIX_ENV


def test_outside_of_slurm_the_own_store_is_the_one_that_isolation_makes() -> None:
    made = store(database=Database(path="x", graph_root="/tmp/skyrl-1000-local/podman/graph"))
    assert (is_own(made, Environ({})), is_own(STORE, Environ({}))) == (True, False)


def test_commands_can_be_pasted() -> None:
    assert quoted("rm", "/tmp/a b") == "rm '/tmp/a b'"
