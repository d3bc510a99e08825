"""prime-rl's files: each is compared with the schema of its own program, in the version that is known or fits best."""

from pathlib import Path

import pytest

from plans import found
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan

CLASSES = """
class ModelConfig(BaseModel):
    name: str = "x"

class RLConfig(BaseModel):
    max_steps: int = 1
    orchestrator: OrchestratorConfig = OrchestratorConfig()

class OrchestratorConfig(BaseModel):
    group_size: int = 1
    model: ModelConfig = ModelConfig()
"""


def written(folder: Path, text: str, name: str = "run.toml") -> Plan:
    (folder / name).write_text(text, encoding="utf-8")
    return load(LocalMachine(), (str(folder / name),))


def checkout(folder: Path) -> Path:
    package = folder / "src" / "prime_rl" / "configs"
    package.mkdir(parents=True)
    (package / "rl.py").write_text(CLASSES, encoding="utf-8")
    (folder / "configs").mkdir()
    return folder / "configs"


@pytest.mark.parametrize(
    ("text", "dialect", "model"),
    [
        ("max_steps = 5\n[model]\nname = 'm'\n[orchestrator]\ngroup_size = 4\n", "prime-rl", "m"),
        ("[model]\nname = 'm'\n[data]\nbatch_size = 4\nseq_len = 1024\n[optim]\nlr = 1e-5\n", "prime-rl-part", "m"),
        ("group_size = 4\nbatch_size = 8\n[[train.source]]\nname = 'e'\n", "prime-rl-part", None),
        ("model = 'm'\n[online]\nmax_steps = 5\n[eval]\nskip_first_step = true\n", "prime-rl-part", None),
    ],
)
def test_each_program_has_its_own_schema(tmp_path: Path, text: str, dialect: str, model: str | None) -> None:
    plan = written(tmp_path, text)
    assert (plan.dialect, plan.text("model.path"), plan.problems) == (dialect, model, ())


@pytest.mark.parametrize(
    ("text", "message", "fatal"),
    [
        (
            "[orchestrator]\ngroup_size = 4\ngrup_size = 5\n",
            "no version of prime-rl has the key `orchestrator.grup_size`; did you mean `orchestrator.group_size`?",
            True,
        ),
        (
            "[orchestrator]\ngroup_size = 4\n[chkpt]\n",
            "no version of prime-rl has the key `chkpt`; did you mean `ckpt`?",
            True,
        ),
        (
            "[orchestrator]\ngroup_size = 4\n[deployment]\nnum_train_gpus = 'two'\n",
            "deployment.num_train_gpus = 'two' is not a whole number; prime-rl refuses to start",
            True,
        ),
        (
            "[orchestrator]\ngroup_size = 4\nbrand_new = 5\n",
            "prime-rl's `rl` (2026-08-20 or later) has no key `orchestrator.brand_new`",
            False,
        ),
        (
            "[orchestrator]\ngroup_size = 4\nrollouts_per_example = 5\nmicro_batch_size = 2\n",
            "prime-rl's `rl` (2026-07-29, the newest release that fits) has no key `orchestrator.micro_batch_size`; prime-rl had it from 2025-07-11 until 2025-10-26",
            False,
        ),
    ],
)
def test_an_unknown_key_is_an_error_where_no_version_has_it(
    tmp_path: Path, text: str, message: str, fatal: bool
) -> None:
    """A key that is like no other may be one of a newer version, and a renamed one one of an older version."""
    problem = written(tmp_path, text).problems[0]
    assert (problem.message, problem.fatal) == (message, fatal)


def test_an_unknown_key_is_an_error_of_the_checkout_around_the_file(tmp_path: Path) -> None:
    configs = checkout(tmp_path)
    plan = written(configs, "max_steps = 'many'\n[orchestrator]\nbatch_size = 5\n")
    assert [(problem.message, problem.fatal, problem.location.line) for problem in plan.problems] == [
        ("max_steps = 'many' is not a whole number; prime-rl refuses to start", True, 1),
        (
            f"prime-rl's `rl` (the checkout {tmp_path}) has no key `orchestrator.batch_size`; prime-rl has it since 2025-07-11",
            True,
            3,
        ),
    ]


def test_a_number_that_the_checkout_refuses_is_one_error(tmp_path: Path) -> None:
    configs = checkout(tmp_path)
    source = tmp_path / "src" / "prime_rl" / "configs" / "rl.py"
    source.write_text(CLASSES.replace("group_size: int = 1", "group_size: int = Field(8, ge=4)"), encoding="utf-8")
    plan = written(configs, "[orchestrator]\ngroup_size = 3\n[orchestrator.model]\nname = 'x'\n")
    assert [(one.message, one.location.line, one.fatal) for one in plan.problems] == [
        (
            (
                "orchestrator.group_size = 3 is not a whole number of at least 4, which prime-rl "
                f"(the checkout {tmp_path}) expects"
            ),
            2,
            True,
        )
    ]
    none = written(configs, "[orchestrator]\ngroup_size = 0\n[orchestrator.model]\nname = 'x'\n")
    assert ([one.fatal for one in none.problems], found("CFG010", none)) == ([True], [])


def test_a_number_that_every_version_refuses_is_an_error_without_a_checkout(tmp_path: Path) -> None:
    plan = written(tmp_path, "max_steps = 5\n[orchestrator]\ngroup_size = 4\n[ckpt]\ninterval = 5\nkeep_last = 0\n")
    message = "ckpt.keep_last = 0 is not a whole number of at least 1; prime-rl refuses to start"
    assert [(one.message, one.location.line, one.fatal) for one in plan.problems] == [(message, 6, True)]


def test_what_the_checkout_takes_is_no_problem(tmp_path: Path) -> None:
    plan = written(checkout(tmp_path), "[orchestrator]\ngroup_size = 4\n[orchestrator.model]\nname = 'x'\n")
    assert (plan.problems, plan.schema) == ((), f"prime-rl of the checkout {tmp_path}")


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("batch_size = 8\n", (1, "orchestrator.group_size", False)),
        ("group_size = 4\n", (4, "orchestrator.group_size", True)),
        ("[[orchestrator.train.source]]\ngroup_size = 8\n", (8, "orchestrator.train.source[0].group_size", True)),
        ("[[orchestrator.train.source]]\ngroup_size = 8\n[[orchestrator.train.source]]\nname = 'b'\n", None),
    ],
)
def test_a_prompt_has_one_rollout_by_default(tmp_path: Path, text: str, group: tuple[int, str, bool] | None) -> None:
    found = written(tmp_path, f"[deployment]\ntype = 'single_node'\n[orchestrator]\n{text}").find("rollout.n")
    assert (found and (found.value, found.own, found.written)) == group


def test_an_unknown_toml_is_refused(tmp_path: Path) -> None:
    for text in ("[project]\nname = 'x'\n[tool.ruff]\nline-length = 100\n", "[agent_server]\nport = 1\n"):
        with pytest.raises(UsageError, match=r"unknown TOML; expected a RunConfig or a configuration of prime-rl$"):
            written(tmp_path, text)


def test_a_table_that_takes_any_key_does_not_make_a_file_of_its_program(tmp_path: Path) -> None:
    """orchestrator took any key below `model` once; a misspelled key of a trainer's file is none of its keys."""
    text = '[model]\nname = "m"\nmax_len = 2048\n[optim]\nlr = 1e-6\n[ckpt]\ninterval = 10\n'
    messages = [problem.message for problem in written(tmp_path, text, "trainer.toml").problems]
    assert [message.partition("; ")[0] for message in messages] == [
        "prime-rl's `trainer` (2026-08-20 or later) has no key `model.max_len`"
    ]


ATTENTION = """
[model]
name = 'org/model'
[orchestrator]
group_size = 8
[trainer.model]
attn = 'flash_attn_3'
"""


def test_a_misspelt_word_names_the_one_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "rl.toml").write_text(ATTENTION, encoding="utf-8")
    (problem,) = load(LocalMachine(), (str(tmp_path / "rl.toml"),)).problems
    assert problem.message.endswith("; prime-rl refuses to start; did you mean 'flash_attention_3'?")
    assert problem.remedy == "set trainer.model.attn to 'flash_attention_3', if you mean that"
