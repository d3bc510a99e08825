"""IMG002."""

import pytest

from checks.img.reference_malformed import reference_malformed
from fakes.images import DATA, MOUNT, NEEDED
from plans import plan
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_train.contracts.tasks.images import TaskImage
from support import judge

LETTER = "is one letter; a string was probably split where a list was expected"
REMEDY = Remedy(kind=RemedyKind.FIX_CONFIG, summary="correct the names in the dataset, or sandbox.image_prefix")
DROP = Remedy(kind=RemedyKind.FIX_CONFIG, summary="remove these rows: they cannot start a sandbox")

OTHER = Remedy(kind=RemedyKind.FIX_CONFIG, summary="use a data set of tasks with images (`skyrl-train data convert`)")
NO_SANDBOXES = "the configuration has no agent with tasks in sandboxes"
PLAIN = (
    f"python -m verl.trainer.main_ppo data.train_files={DATA}",
    f"python -m skyrl.train.entrypoints.main_base data.train_data=\"['{DATA}']\"",
)


def needed(*names: str, without: int = 0, rows: int = 4, prefix: str = "docker.io/") -> NeededImages:
    named = tuple(TaskImage(name, "r2e-gym") for name in names)
    return NeededImages(files=(DATA,), rows=rows, without=without, named=named, prefix=prefix)


def test_finds_names_that_no_registry_takes() -> None:
    assert list(reference_malformed(needed("a/bc:1", "d"))) == [
        Finding(
            message=f"1 of 2 image names are invalid: 'd': 'd' {LETTER}",
            evidence=(f"'d': 'd' {LETTER}",),
            location=Location(DATA),
            remedy=REMEDY,
        )
    ]


def test_finds_a_prefix_that_is_put_on_twice() -> None:
    (found,) = reference_malformed(needed("a/bc:1", prefix="docker.io/docker.io/"))
    assert found.message == (
        "1 of 1 image names are invalid: 'a/bc:1': names two registries, docker.io and docker.io: a prefix was added twice"
    )


def test_finds_rows_without_an_image() -> None:
    def missing(without: int, severity: Severity, remedy: Remedy) -> Finding:
        return Finding(
            message=f"{without} of 4 rows name no sandbox image; expected one in each",
            location=Location(DATA),
            remedy=remedy,
            severity=severity,
        )

    assert list(reference_malformed(needed("a/bc:1", without=1))) == [missing(1, Severity.WARNING, DROP)]
    assert list(reference_malformed(needed(without=4))) == [missing(4, Severity.ERROR, OTHER)]


def test_good_names_are_no_fault() -> None:
    assert list(reference_malformed(NEEDED)) == []


def test_reproduces_on_a_recording() -> None:
    outcome = judge("IMG002", "dataset_of_letters", plan=MOUNT, role=Role.RUNTIME)
    assert (outcome.status, [found.message for found in outcome.findings]) == (
        Status.FAIL,
        [
            f"15 of 15 image names are invalid: 'n': 'n' {LETTER}",
            "1 of 64 rows name no sandbox image; expected one in each",
        ],
    )


@pytest.mark.parametrize("command", PLAIN)
@pytest.mark.parametrize("role", [None, *Role])
def test_a_run_without_sandboxes_needs_no_image(command: str, role: Role | None) -> None:
    outcomes = [
        judge(check, "dataset_of_letters", plan=plan(command, "run.sh"), role=role) for check in ("IMG002", "IMG005")
    ]
    assert [(outcome.status, outcome.reason) for outcome in outcomes] == [(Status.SKIP, NO_SANDBOXES)] * 2


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG002", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG002", slug="reference-malformed", status=Status.PASS
    )
