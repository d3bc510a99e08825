"""The images that the plan's dataset names."""

import json

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.references import BadReferenceError, Reference, parse_reference
from skyrl_train.contracts.tasks.images import COLUMNS, HOLDERS, TaskImage, image_of

WHO = "dataset images"
LIMIT_S = 12.0
PREFIX_KEY, PREFIX_VARIABLE = "sandbox.image_prefix", "EVAL_DOCKER_IMAGE_PREFIX"
DEFAULT_PREFIX = "docker.io/"


@record
class BadName:
    """A name that no registry accepts, and why."""

    name: str
    why: str


@record(kw_only=True)
class NeededImages:
    """`named` has the images in the order of first use. `without` counts the rows that name no image."""

    files: tuple[str, ...]
    rows: int
    without: int
    named: tuple[TaskImage, ...]
    prefix: str

    @property
    def references(self) -> dict[str, Reference]:
        """The valid references by their name in the store, each once."""
        found: dict[str, Reference] = {}
        for image in self.named:
            try:
                reference = parse_reference(image.name, prefix=self.prefix)
            except BadReferenceError:
                continue
            found.setdefault(reference.stored_as, reference)
        return found

    @property
    def bad(self) -> tuple[BadName, ...]:
        found: dict[str, str] = {}
        for image in self.named:
            try:
                parse_reference(image.name, prefix=self.prefix)
            except BadReferenceError as error:
                found.setdefault(image.name, error.why)
        return tuple(BadName(name, why) for name, why in found.items())

    def sources(self, stored_as: str) -> frozenset[str]:
        """The data sources of the tasks that use an image."""
        return frozenset(image.source for image in self.named if self._stored_as(image.name) == stored_as)

    def _stored_as(self, name: str) -> str:
        try:
            return parse_reference(name, prefix=self.prefix).stored_as
        except BadReferenceError:
            return ""


@unknown_if_malformed()
def parse_needed(text: str, *, prefix: str) -> NeededImages:
    """Parses the output of children/dataset_images.py."""
    answer = answer_of(text, WHO)
    if "why" in answer:
        raise CouldNotLook(f"{WHO}: {answer.text('why')[:400]}")
    files = answer.objects("files")
    rows = [row for file in files for row in file.values("found")]
    return NeededImages(
        files=tuple(file.text("file", "") for file in files),
        rows=sum(file.integer("rows", at_least=0) for file in files),
        without=sum(file.integer("without", at_least=0) for file in files),
        named=tuple(dict.fromkeys(image for row in rows if (image := image_of(row)) is not None)),
        prefix=prefix,
    )


@probe(limit_s=LIMIT_S + 1)
def needed_images(machine: Machine, plan: Plan, environ: Environ) -> NeededImages:
    """Reads the image names of the plan's dataset with the training interpreter."""
    files = tuple(expand_home(file, environ) for file in plan.texts("data.train_files") or ())
    if not files:
        raise NotApplicable("the configuration names no dataset")
    for file in files:
        try:
            machine.stat(file)
        except Absent as error:  # it may exist on another node
            raise NotApplicable(f"dataset {error}") from None
    spec = json.dumps({"files": files, "columns": COLUMNS, "holders": HOLDERS}, sort_keys=True)
    python = plan.text("python.interpreter") or environ.get("UV_PYTHON")
    done = machine.ask("dataset_images", spec, python=python if python and "/" in python else None, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_needed(done.out, prefix=prefix_of(plan, environ))


def prefix_of(plan: Plan, environ: Environ) -> str:
    """The prefix for a name without a registry."""
    prefix = plan.text(PREFIX_KEY)
    return environ.get(PREFIX_VARIABLE, DEFAULT_PREFIX) if prefix is None else prefix
