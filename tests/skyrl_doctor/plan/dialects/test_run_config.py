"""RunConfig as the doctor reads it, held against RunConfig itself."""

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects import schema
from skyrl_doctor.plan.dialects.run_config import read
from skyrl_doctor.plan.model import Problem
from skyrl_doctor.plan.source import Source
from skyrl_train.config.load import ConfigError, shaped
from skyrl_train.config.run import RunConfig
from skyrl_train.config.schema import text

MODEL = "[model]\npath = 'x'\n"


def test_the_shipped_schema_is_that_of_run_config() -> None:
    with open(schema.FILE, encoding="utf-8") as file:
        assert file.read() == text(), (
            "python -m skyrl_train.config.schema > skyrl_doctor/plan/defaults/run_config.schema.json"
        )


def test_every_default_is_run_configs() -> None:
    found = read(Source("f", MODEL)).values
    config = json.loads(RunConfig.model_validate_json('{"model": {"path": "x"}}').model_dump_json())
    flat = {
        f"{table}.{name}": value for table, body in config.items() if table != "env" for name, value in body.items()
    }
    flat["env"] = {}
    assert {key: value.value for key, value in found.items()} == flat


def test_every_problem_has_its_line() -> None:
    body = "[rollout]\nmax_token = 3\nn = 'two'\n[slrum]\nnodes = 1\n[slurm]\nnodes = 0\ntrainer_time_limit = 'soon'\n"
    found = read(Source("f.toml", "agent = 3\n" + body))
    assert found.problems == (
        Problem(message="`agent` must be a table", location=Location("f.toml", 1, "agent")),
        Problem(
            message="unknown setting `rollout.max_token`; did you mean `rollout.max_tokens`?",
            location=Location("f.toml", 3, "rollout.max_token"),
            moves={"rollout.max_token": "rollout.max_tokens"},
        ),
        Problem(message="rollout.n = 'two': expected a whole number", location=Location("f.toml", 4, "rollout.n")),
        Problem(
            message="unknown setting `slrum`; did you mean `slurm`?",
            location=Location("f.toml", 5, "slrum"),
            moves={"slrum": "slurm"},
        ),
        Problem(message="slurm.nodes = 0: expected at least 1", location=Location("f.toml", 8, "slurm.nodes")),
        Problem(
            message=f"slurm.trainer_time_limit = 'soon': expected the form {schema.rules()['slurm.trainer_time_limit']['pattern']}",
            location=Location("f.toml", 9, "slurm.trainer_time_limit"),
        ),
        Problem(
            message="model.path is not set; set it to a model directory with config.json and tokenizer, or the name of a model in the local Hugging Face cache",
            location=Location("f.toml", None, "model.path"),
        ),
    )


def test_a_name_of_another_framework_is_a_hint_and_no_edit() -> None:
    found = read(Source("f.toml", MODEL + "[actor]\nlearning_rate = 1e-6\n[trainer]\nnum_gpus = 8\n"))
    assert [(problem.message, dict(problem.moves)) for problem in found.problems] == [
        ("unknown setting `actor.learning_rate`; did you mean `actor.lr`?", {}),
        ("unknown setting `trainer.num_gpus`; did you mean `slurm.gpus_per_node`?", {}),
    ]


def test_variables_for_the_workers() -> None:
    found = read(Source("f.toml", MODEL + "[env]\nA = 'b'\n"))
    assert found.values["env"].value == {"A": "b"}
    assert found.values["env.A"].location == Location("f.toml", 4, "env.A")
    assert read(Source("f.toml", MODEL + "[env]\nA = 3\n")).problems == (
        Problem(message="env = {'A': 3}: A: expected a string", location=Location("f.toml", 3, "env")),
    )


def test_waivers_are_the_doctors() -> None:
    assert read(Source("f.toml", MODEL + "[waivers.GPU003]\nreason = 'x'\n")).problems == ()


LEAVES = st.sampled_from(sorted(schema.rules())).filter(lambda key: key != "env")
VALUES = (
    st.integers(-3, 1 << 17)
    | st.floats(-2, 2)
    | st.booleans()
    | st.text("ab:1", max_size=5)
    | st.lists(st.text("ab", max_size=2), max_size=2)
    | st.sampled_from(["sdpa", "grpo", "6:00:00", "1-2", "http://a:1", "uv run", "x"])
    | st.just(["terminal"])
)


@given(LEAVES, VALUES)
def test_accepts_what_run_config_accepts(key: str, value: Any) -> None:
    table, _, name = key.partition(".")
    body: dict[str, Any] = {"model": {"path": "x"}}
    body.setdefault(table, {})[name] = value
    try:
        shaped(body)
        is_good = True
    except ConfigError:
        is_good = False
    ours = schema.why_invalid(value, schema.rules()[key]) is None
    assert ours == is_good, re.sub(r"\s+", " ", f"{key} = {value!r}")
