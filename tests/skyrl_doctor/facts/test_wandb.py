"""The answer of the wandb child."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.wandb import Credential, WandbLogin, parse_login, wandb
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine, Recorder
from skyrl_doctor.plan.model import Plan
from support import plan_of, recorded

ANSWER = {
    "url": "https://api.wandb.ai",
    "url_from": "",
    "host": "api.wandb.ai",
    "mode": None,
    "mode_from": "",
    "credentials": [["/home/trainer/.netrc", ""]],
    "note": "",
}


def test_reads_an_answer() -> None:
    assert parse_login(json.dumps(ANSWER)) == WandbLogin(
        url="https://api.wandb.ai", host="api.wandb.ai", credential=Credential("/home/trainer/.netrc")
    )
    without = {**ANSWER, "credentials": [], "mode": "offline", "mode_from": "WANDB_MODE", "note": "none"}
    assert parse_login(json.dumps(without)) == WandbLogin(
        url="https://api.wandb.ai", host="api.wandb.ai", mode="offline", mode_from="WANDB_MODE", note="none"
    )


@pytest.mark.parametrize(
    "change",
    [{"credentials": None}, {"credentials": [["x"]]}, {"credentials": [[1, 2]]}, {"host": None}, {"mode": 1}],
)
def test_what_is_no_answer_is_not_looked(change: dict[str, object]) -> None:
    with pytest.raises(CouldNotLook, match=r"^wandb_login probe: \S+ (is missing|is .*; expected .*)$"):
        parse_login(json.dumps({**ANSWER, **change}))


@given(
    st.text() | st.dictionaries(st.sampled_from(sorted(ANSWER)), st.none() | st.text() | st.integers()).map(json.dumps)
)
def test_no_garbage_is_a_login(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_login(text)


CLEAN = recorded("clean_gpu_node")
PLAN = plan_of(trainer__logger=["console", "wandb"])
ASK = "ask wandb_login own-python"


def test_asks_where_the_plan_names_wandb() -> None:
    login = WandbLogin(url="https://api.wandb.ai", host="api.wandb.ai", credential=Credential("/home/trainer/.netrc"))
    assert wandb(CLEAN, PLAN) == login
    assert wandb(CLEAN, plan_of(trainer__logger="tracking")) == login


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (Plan(), "no configuration was given"),
        (plan_of(model__path="m"), "the configuration names no logger"),
        (plan_of(trainer__logger=[]), "trainer.logger is empty"),
        (plan_of(trainer__logger=["console", "tensorboard"]), "trainer.logger is console, tensorboard"),
    ],
)
def test_does_not_ask_otherwise(plan: Plan, why: str) -> None:
    with pytest.raises(NotApplicable, match=why):
        wandb(RecordedMachine({}, strict=True), plan)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"timed_out": True}, "timed out after 5 s"),
        ({"rc": 1, "err": ["Traceback", "OSError: no home"]}, "OSError: no home"),
        ({"rc": 0, "out": ["hello"]}, "wandb_login probe printed no JSON object"),
    ],
)
def test_no_answer_is_not_looked(answer: dict[str, object], why: str) -> None:
    with pytest.raises(CouldNotLook, match=why):
        wandb(CLEAN.but({ASK: answer}), PLAN)


def test_a_bundle_holds_no_key(tmp_path_factory: pytest.TempPathFactory) -> None:
    home, bundle = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("bundle")
    (home / ".netrc").write_text("machine api.wandb.ai login user password tiny1\nmachine other login u password p2\n")
    machine = Recorder(LocalMachine({"HOME": str(home), "PATH": "/usr/bin:/bin"}))
    found = wandb(machine, PLAN)
    machine.write(str(bundle), about={})
    machine.close()
    assert found == WandbLogin(
        url="https://api.wandb.ai",
        host="api.wandb.ai",
        credential=Credential(f"{home}/.netrc", "has 5 characters; a key has at least 40"),
    )
    kept = (bundle / "machine.json").read_text()
    assert "tiny1" not in kept
    assert '"p2"' not in kept


def test_the_plan_s_own_variables_reach_the_child() -> None:
    machine = LocalMachine({"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"})
    found = wandb(machine, plan_of(trainer__logger=["wandb"], env__WANDB_MODE="offline"))
    machine.close()
    assert found == WandbLogin(
        url="https://api.wandb.ai",
        host="api.wandb.ai",
        mode="offline",
        mode_from="WANDB_MODE",
        note="/nonexistent/.netrc does not exist",
    )
