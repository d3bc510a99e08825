"""IMG006."""

import pytest

from checks.img.r2e_tests_missing import r2e_tests_missing
from fakes.images import DIRECTORY, IMAGE, MOUNT, NAME, NEEDED, at, stored, unseen
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.images.archived import ArchivedImages
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import RUNNERS, TESTBED, TESTS, StoredImages
from skyrl_train.contracts.tasks.images import TaskImage
from support import judge

NO_TESTS = f"none of {', '.join(TESTS)}"
NO_RUNNER = f"none of {', '.join(RUNNERS)}"
BARE = at(TESTS[0], None)
NOTHING = StoredImages(of_dataset=True)


def finding(lacks: str, of: int = 1, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        message=f"1 of {of} images hold no tests that can be run: {NAME}; wanted /r2e_tests and /testbed/run_tests.sh in each, "
        "since a rollout without tests is masked",
        evidence=(f"{NAME}: {lacks}",),
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="leave these tasks out of the dataset"),
        severity=severity,
    )


def test_finds_an_image_without_tests_or_their_script() -> None:
    assert list(r2e_tests_missing(stored(BARE), None, NEEDED)) == [finding(NO_TESTS)]
    assert list(r2e_tests_missing(stored(at(RUNNERS[0], None)), None, NEEDED)) == [finding(NO_RUNNER)]
    assert list(r2e_tests_missing(stored(BARE, IMAGE), None, NEEDED)) == [finding(NO_TESTS, 2, Severity.WARNING)]


def test_tests_in_the_repository_count() -> None:
    assert list(r2e_tests_missing(stored(at(TESTS[1], DIRECTORY, BARE)), None, NEEDED)) == []


def test_images_of_other_tasks_are_none_of_its_business() -> None:
    other = NeededImages(files=(), rows=1, without=0, named=(TaskImage(NAME, "swe-bench"),), prefix="docker.io/")
    with pytest.raises(NotApplicable):
        list(r2e_tests_missing(stored(BARE), None, other))
    with pytest.raises(NotApplicable):
        list(r2e_tests_missing(stored(at(TESTBED, None, BARE)), None, None))
    assert list(r2e_tests_missing(stored(BARE), None, None)) == [finding(NO_TESTS)]


def test_images_that_will_be_loaded_from_archives_count_too() -> None:
    archived = ArchivedImages(images=(BARE,), of=1)
    assert list(r2e_tests_missing(NOTHING, archived, NEEDED)) == [finding(NO_TESTS)]
    assert list(r2e_tests_missing(stored(IMAGE), archived, NEEDED)) == [finding(NO_TESTS, 2, Severity.WARNING)]
    assert list(r2e_tests_missing(NOTHING, ArchivedImages(images=(IMAGE,), of=1), NEEDED)) == []


def test_archives_that_take_too_long_are_unknown_and_only_where_tasks_want_them() -> None:
    late = ArchivedImages(of=9)
    for needed in (NEEDED, None):
        with pytest.raises(CouldNotLook, match=r"^none of 9 archives of images could be read"):
            list(r2e_tests_missing(NOTHING, late, needed))
    other = NeededImages(files=(), rows=1, without=0, named=(TaskImage(NAME, "swe-bench"),), prefix="docker.io/")
    with pytest.raises(NotApplicable):
        list(r2e_tests_missing(NOTHING, late, other))


def test_what_cannot_be_seen_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"Permission denied$"):
        list(r2e_tests_missing(stored(unseen(TESTS[0])), None, NEEDED))


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG006", "r2e_image_without_tests", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG006", slug="r2e-tests-missing", status=Status.FAIL, findings=(finding(f"{NO_TESTS}; {NO_RUNNER}"),)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG006", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG006", slug="r2e-tests-missing", status=Status.PASS
    )
