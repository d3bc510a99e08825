"""Advisories about the versions that the log of a failed run names: for `diagnose`."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skyrl_doctor.core.record import record

if TYPE_CHECKING:
    from skyrl_doctor.logs.cause.root_cause import Diagnosis
    from skyrl_doctor.plan.model import Plan

WIDTH = 80
_ON_VERL = ("verl", "run-config")
"""Dialects of trainers that run on verl, whose version most logs do not name."""


@record
class Advised:
    """One advisory that concerns the run."""

    message: str
    fix: str
    thread: str


def advisories_of_log(versions: Mapping[str, str], diagnosis: "Diagnosis", plan: "Plan | None") -> tuple[Advised, ...]:
    """The advisories that concern these versions and this run; none for a log without an error.

    An advisory that depends on a package's absence, or on a use that nothing shows, is left out.
    """
    if diagnosis.root is None and diagnosis.unknown is None:
        return ()
    from skyrl_doctor.core.errors import CouldNotLook
    from skyrl_doctor.plan.advisories import applies, bad_versions
    from skyrl_doctor.plan.model import Plan
    from skyrl_train.node.advisories import advisories_for

    packages = {**dict.fromkeys(("verl",) if diagnosis.dialect in _ON_VERL else (), ""), **versions}
    plan = plan or Plan()
    try:
        name = plan.text("model.path")
    except CouldNotLook:
        name = None
    return tuple(
        Advised(bad_versions(one, packages), one.fix, one.thread)
        for one in advisories_for(packages)
        if not one.without and applies(one, packages, plan, name, None)
    )


def advised_lines(advised: Sequence[Advised]) -> Iterator[str]:
    """The lines of the text report."""
    if advised:
        yield "Versions in the log that are known to be bad (ENV017):"
    for one in advised:
        yield from textwrap.wrap(f"{one.message}; {one.fix}", WIDTH, initial_indent="  ", subsequent_indent="    ")
        yield f"    {one.thread}"


def advised_data(advised: Sequence[Advised]) -> dict[str, Any]:
    """The key of the JSON report; none without an advisory."""
    listed = [{"message": one.message, "fix": one.fix, "thread": one.thread} for one in advised]
    return {"advisories": listed} if listed else {}
