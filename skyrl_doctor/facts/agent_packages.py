"""The agent packages of the training interpreter: records and templates of the SDK, and our own records."""

from collections.abc import Mapping

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan

LIMIT_S = 15.0
AGENT_CLASS = "agent_cls"


@record
class AgentClass:
    """The agent class of the plan. `templates` are those next to its module; `overrides`: the class sets its own prompt files."""

    directory: str
    templates: tuple[str, ...]
    overrides: bool


@record(kw_only=True)
class AgentPackages:
    """`sdk` is the version of openhands-sdk, empty if it is not installed. `required` lists the fields without a default
    of each SDK record. `own_records` is "ok", "missing", "stay" (no Ray) or an error message.
    """

    python: str
    sdk: str
    required: Mapping[str, tuple[str, ...]]
    templates: tuple[str, ...]
    templates_at: str
    own_records: str
    agent: AgentClass | None = None


@unknown_if_malformed()
def parse_agent_packages(text: str, python: str) -> AgentPackages:
    """Parses the output of children/agent_packages.py."""
    answer = answer_of(text, f"agent packages under {python}")
    own = answer.inner_or_none("agent")
    return AgentPackages(
        python=python,
        sdk=answer.text("sdk"),
        required=answer.named_lists("records"),
        templates=answer.texts("templates"),
        templates_at=answer.text("templates_at"),
        own_records=answer.text("own_records"),
        agent=None if own is None else AgentClass(own.text("directory"), own.texts("templates"), own.flag("overrides")),
    )


@probe(limit_s=LIMIT_S + 1)
def agent_packages(machine: Machine, plan: Plan, python: TrainingPython) -> AgentPackages:
    """Asks the training interpreter about the SDK, its templates and our records."""
    if python.problem:
        raise CouldNotLook(f"{python.label}: {python.problem}")
    named = plan.own[AGENT_CLASS].value if AGENT_CLASS in plan.own else None
    words = [named] if isinstance(named, str) and named.replace(".", "").replace("_", "").isalnum() else []
    done = machine.ask("agent_packages", *words, python=python.path, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_agent_packages(done.out, python.path)
