"""The environment of the workers."""

from skyrl_doctor.facts.worker_environ import plan_variables, worker_environ
from skyrl_doctor.plan.model import Plan, Value
from support import plan_of


def test_the_plan_s_own_variables_win() -> None:
    plan = plan_of(env={"A": "plan", "N": 1}, env__B="single")
    assert plan_variables(plan) == {"A": "plan", "B": "single"}
    assert worker_environ({"A": "job", "C": "job"}, plan) == {"A": "plan", "B": "single", "C": "job"}


def test_leaves_out_what_cannot_be_told() -> None:
    unknown = Value("env.A", "$(hostname)", unknown="a command writes it")
    assert plan_variables(Plan(("run.sh",), "verl", {"env.A": unknown})) == {}


def test_a_plan_without_any_adds_nothing() -> None:
    assert worker_environ({"A": "job"}, Plan()) == {"A": "job"}
