"""MOD003."""

from checks.mod.model_not_found import model_not_found
from plans import MIG20, example
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

PLACE = Location("plan.toml", None, "model.path")


def files(name: str, **changes: object) -> ModelFiles:
    fields: dict[str, object] = {
        "name": name,
        "is_local": False,
        "directory": None,
        "config": None,
        "has_tokenizer": False,
        "searched": ("/cache/x",),
    }
    return ModelFiles(**{**fields, **changes})  # type: ignore[arg-type]  # a table of changes


def told(name: str, *, role: Role = Role.GPU, asked: bool = False, **changes: object) -> list[tuple[Severity, str]]:
    made, roles = plan_of(model__path=name), Roles(frozenset({role}), asked)
    return [(finding.severity, finding.message) for finding in model_not_found(made, files(name, **changes), roles)]


def test_what_is_certain_is_an_error() -> None:
    assert told("a/b") == [
        (Severity.WARNING, "a/b is not in the hub's cache (/cache/x); expected it there before the job starts")
    ]
    assert told("a/b", offline="HF_HUB_OFFLINE=1") == [
        (Severity.ERROR, "a/b is not in the hub's cache (/cache/x), and HF_HUB_OFFLINE=1 forbids downloading it")
    ]
    assert told("/m/x", is_local=True, searched=("/m/x",)) == [
        (Severity.ERROR, "/m/x does not exist; expected a model directory")
    ]
    assert told("a/b/c") == [(Severity.ERROR, "'a/b/c' is neither a directory nor a valid name on the hub")]
    assert told("a/b", directory="/d") == [
        (Severity.ERROR, "/d has no readable config.json; expected a model directory")
    ]
    assert told("a/b", directory="/d", config={}) == [
        (Severity.ERROR, "/d has no tokenizer; expected tokenizer.json next to config.json")
    ]
    assert told("a/b", directory="/d", config={}, has_tokenizer=True) == []


def test_a_directory_that_only_the_gpu_node_may_have_is_a_warning() -> None:
    """The same level as that of a missing data file (CFG007)."""
    message = "/m/x does not exist; expected a model directory"
    for role, asked, severity in (
        (Role.LOGIN, False, Severity.WARNING),
        (Role.LOGIN, True, Severity.ERROR),
        (Role.GPU, False, Severity.ERROR),
    ):
        assert told("/m/x", role=role, asked=asked, is_local=True, searched=("/m/x",)) == [(severity, message)]


def test_reproduces_on_a_recording() -> None:
    made: Plan = plan_of(model__path="mistralai/mistral-small-3.2-24b-instruct", env={"HF_HUB_OFFLINE": "1"})
    name = "mistralai/mistral-small-3.2-24b-instruct"
    cache = "/home/trainer/.cache/huggingface/hub/models--mistralai--mistral-small-3.2-24b-instruct"
    assert judge("MOD003", "models_of_the_notes", plan=made) == Outcome(
        id="MOD003",
        slug="model-not-found",
        status=Status.FAIL,
        findings=(
            Finding(
                message=f"{name} is not in the hub's cache ({cache}), and HF_HUB_OFFLINE=1 forbids downloading it",
                location=PLACE,
                remedy=Remedy(
                    kind=RemedyKind.FIX_CONFIG, summary="download the model", commands=(f"hf download {name}",)
                ),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD003", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
