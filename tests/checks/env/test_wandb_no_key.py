"""ENV005."""

import pytest

from checks.env.wandb_no_key import wandb_no_key
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.facts.wandb import Credential, WandbLogin
from skyrl_doctor.plan.model import Plan, Value
from support import judge, plan_of, recorded

PLACE = Location("plan.toml", None, "trainer.logger")
PLAN = plan_of(trainer__logger=["console", "wandb"])
LOG_IN = Remedy(
    kind=RemedyKind.FIX_ENV,
    summary="`wandb login --relogin`, or to log offline `export WANDB_MODE=offline`",
)
NO_KEY = Finding(
    message="wandb has no key for api.wandb.ai: WANDB_API_KEY is not set, and /home/trainer/.netrc does not exist; run `wandb login`, or set WANDB_MODE=offline",
    location=PLACE,
    remedy=LOG_IN,
)
BAD_KEY = Finding(
    message="the key for api.wandb.ai from /home/trainer/.netrc is a placeholder; expected a complete key as https://wandb.ai/authorize shows it",
    location=PLACE,
    remedy=LOG_IN,
)


def login(
    *, host: str = "api.wandb.ai", mode: str | None = None, credential: Credential | None = None, note: str = ""
) -> WandbLogin:
    url = f"https://{host}" if host else "node:8080"
    return WandbLogin(
        url=url,
        host=host,
        url_from="WANDB_BASE_URL",
        mode=mode,
        mode_from="WANDB_MODE",
        credential=credential,
        note=note,
    )


def test_finds_a_missing_key_and_a_bad_one() -> None:
    assert list(wandb_no_key(login(note="/home/trainer/.netrc does not exist"), PLAN)) == [NO_KEY]
    bad = Credential("/home/trainer/.netrc", "is a placeholder")
    assert list(wandb_no_key(login(credential=bad), PLAN)) == [BAD_KEY]
    assert list(wandb_no_key(login(credential=Credential("WANDB_API_KEY")), PLAN)) == []


@pytest.mark.parametrize("mode", ["offline", "disabled", "dryrun"])
def test_some_modes_need_no_key(mode: str) -> None:
    assert list(wandb_no_key(login(mode=mode), PLAN)) == []


@pytest.mark.parametrize("mode", ["online", "shared", "run"])
def test_others_do(mode: str) -> None:
    assert list(wandb_no_key(login(mode=mode, note="/home/trainer/.netrc does not exist"), PLAN)) == [NO_KEY]


@pytest.mark.parametrize("mode", ["", "OFFLINE", " offline", "none"])
def test_finds_a_mode_that_wandb_refuses(mode: str) -> None:
    message = f"WANDB_MODE sets the mode {mode!r}; expected one of online, offline, shared, disabled, dryrun, run, in lower case"
    remedy = Remedy(kind=RemedyKind.FIX_ENV, summary="set a mode that wandb knows", settings={"WANDB_MODE": "online"})
    good = Credential("WANDB_API_KEY")
    assert list(wandb_no_key(login(mode=mode, credential=good), PLAN)) == [
        Finding(message=message, location=PLACE, remedy=remedy)
    ]


def test_finds_a_server_that_wandb_refuses() -> None:
    message = "WANDB_BASE_URL sets the server 'node:8080'; expected a URL that starts with https:// or http://"
    remedy = Remedy(kind=RemedyKind.FIX_ENV, summary="correct the server's URL")
    assert list(wandb_no_key(login(host=""), PLAN)) == [Finding(message=message, location=PLACE, remedy=remedy)]


def test_a_plan_may_log_offline_by_itself() -> None:
    plan = plan_of(trainer__logger=["wandb"], trainer__wandb_offline=True)
    assert list(wandb_no_key(login(), plan)) == []


def test_points_at_the_line_of_the_plan() -> None:
    place = Location("run.toml", 12, "trainer.logger")
    plan = Plan(("run.toml",), "run-config", {"trainer.logger": Value("trainer.logger", ["wandb"], place)})
    assert [finding.location for finding in wandb_no_key(login(note="…"), plan)] == [place]


@pytest.mark.parametrize(("machine", "finding"), [("wandb_no_key", NO_KEY), ("wandb_placeholder_key", BAD_KEY)])
def test_reproduces_on_a_recording(machine: str, finding: Finding) -> None:
    assert judge("ENV005", machine, plan=PLAN, role=Role.LOGIN) == Outcome(
        id="ENV005", slug="wandb-no-key", status=Status.FAIL, findings=(finding,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV005", "clean_gpu_node", plan=PLAN).status is Status.PASS


@pytest.mark.parametrize("plan", [Plan(), plan_of(trainer__logger=["console"])])
def test_does_not_apply_without_wandb(plan: Plan) -> None:
    assert judge("ENV005", "wandb_no_key", plan=plan).status is Status.SKIP


def test_is_unknown_where_the_child_gives_no_answer() -> None:
    wedged = recorded("clean_gpu_node").but({"ask wandb_login own-python": {"timed_out": True}})
    assert judge("ENV005", wedged, plan=PLAN).status is Status.UNKNOWN
