"""skyrl-train config."""

import json
import re
import tomllib

import pytest

from skyrl_train.cli.app import dispatch
from skyrl_train.config.load import shaped
from skyrl_train.config.reference import settings, tables


def out(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert dispatch(["config", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "key", ["rollout.n", "actor_rollout_ref.rollout.n", "generator.n_samples_per_prompt", "orchestrator.group_size"]
)
def test_a_key_by_our_name_and_by_that_of_a_framework(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert out(capsys, "explain", key).splitlines()[:7] == [
        "rollout.n",
        "  meaning  Rollouts for each prompt.",
        "  type     integer, at least 1",
        "  default  2",
        "  verl     actor_rollout_ref.rollout.n",
        "  skyrl    generator.n_samples_per_prompt",
        "  prime-rl orchestrator.group_size",
    ]


def test_a_key_that_init_alone_translates_has_its_names_too(capsys: pytest.CaptureFixture[str]) -> None:
    lines = out(capsys, "explain", "trainer.save_every_steps").splitlines()
    assert [line.split() for line in lines if line.split()[0] in ("verl", "skyrl", "prime-rl")] == [
        ["verl", "trainer.save_freq"],
        ["skyrl", "trainer.ckpt_interval"],
        ["prime-rl", "ckpt.interval"],
    ]


def test_the_checks_that_read_a_key_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "  checks   CFG006" in out(capsys, "explain", "rollout.tool_call_parser").splitlines()


def test_a_table_explains_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "explain", "rollout")
    assert [line for line in text.splitlines() if line.startswith("rollout.")] == [
        one.key for one in settings() if one.table == "rollout"
    ]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("rollout.max_tokns", "rollout.max_tokens"),
        ("rolout.n", "rollout.n"),
        ("actor.learning_rate", "actor.lr"),
    ],
)
def test_a_mistyped_key_names_what_was_meant(key: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["config", "explain", key]) == 2
    assert re.search(rf"unknown setting '{key}'; did you mean {meant}\b", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["learning", "rate"], ["actor.lr", "critic.lr"]),
        (["learning rate"], ["actor.lr", "critic.lr"]),
        (["max_tokens"], ["rollout.max_tokens"]),
        (["num_gpus"], ["slurm.gpus_per_node"]),
        (["time", "limit"], ["slurm.trainer_time_limit", "slurm.runtime_time_limit"]),
    ],
)
def test_words_find_settings(words: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "explain", *words)
    assert [line for line in text.splitlines() if line and not line.startswith(" ")] == expected


def test_the_defaults_are_a_file_that_changes_nothing_and_each_line_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "defaults")
    assert shaped({**tomllib.loads(text)}) == shaped({"model": {"path": "…"}})
    uncommented = re.sub(r"^# (\w+ = (?!…))", r"\1", text, flags=re.MULTILINE)
    assert shaped(tomllib.loads(uncommented)) == shaped({"model": {"path": "…"}})
    assert len(re.findall(r"^# \w+ = ", text, flags=re.MULTILINE)) == len(settings()) - 2  # model.path and env


def test_the_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(out(capsys, "schema"))["title"] == "skyrl-train run configuration"


def test_without_a_key_the_tables_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = out(capsys, "explain").splitlines()
    assert lines[0] == f"model      The model. ({sum(one.table == 'model' for one in settings())} keys)"
    assert [line.split()[0] for line in lines if line[:1].isalpha()] == list(tables())
    assert lines[-1] == "`skyrl-train config explain TABLE` explains its keys"
