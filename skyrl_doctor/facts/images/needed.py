"""The images that the plan's dataset names."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.training_rows import TrainingRows
from skyrl_doctor.plan.answers import NO_SANDBOXES, has_sandboxes
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.references import BadReferenceError, Reference, parse_reference
from skyrl_train.contracts.tasks.images import TaskImage

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


@probe(limit_s=1.0)
def needed_images(plan: Plan, environ: Environ, rows: TrainingRows) -> NeededImages:
    """The images in the rows of the plan's dataset, for a run with agents in sandboxes."""
    if not has_sandboxes(plan):
        raise NotApplicable(NO_SANDBOXES)
    if rows.unread:
        raise CouldNotLook(rows.unread)
    return NeededImages(
        files=rows.files, rows=rows.count, without=rows.without, named=rows.images, prefix=prefix_of(plan, environ)
    )


def prefix_of(plan: Plan, environ: Environ) -> str:
    """The prefix for a name without a registry."""
    prefix = plan.text(PREFIX_KEY)
    return environ.get(PREFIX_VARIABLE, DEFAULT_PREFIX) if prefix is None else prefix
