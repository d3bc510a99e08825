"""POD011."""

from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Status
from support import judge

MISSING = Finding(
    message="podman is not in the PATH of cpu-node-03; expected it, because it starts the sandboxes",
    remedy=Remedy(
        kind=RemedyKind.ASK_ADMIN,
        summary="ask for the package podman on every sandbox node, or exclude this node (slurm.exclude)",
        commands=("sbatch --exclude=cpu-node-03 …",),
    ),
)


def test_reproduces_on_a_recording() -> None:
    assert judge("POD011", "no_podman", role=Role.RUNTIME) == Outcome(
        id="POD011", slug="podman-missing", status=Status.FAIL, findings=(MISSING,)
    )


def test_a_machine_of_a_guessed_role_needs_no_podman() -> None:
    outcome = judge("POD011", "no_podman", role=None)
    assert (outcome.status, outcome.reason) == (
        Status.SKIP,
        "podman is not installed here, and the role runtime was not requested",
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD011", "clean_runtime_node", role=Role.RUNTIME).status is Status.PASS
