"""CFG011."""

from pathlib import Path

import pytest

from plans import alone, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.verl_choices import CHOICES
from verl_trees import write, write_tree

A, R = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


def verl(*words: str) -> Plan:
    return plan(f"python3 -m verl.trainer.main_ppo {' '.join(words)}", "run.sh")


def messages(*words: str) -> list[tuple[str, Severity]]:
    return [(one.message.partition(":")[0], one.severity) for one in found("CFG011", verl(*words))]


def test_names_the_words_and_the_likely_one() -> None:
    assert found("CFG011", verl(f"{A}.loss_agg_mode=token_mean")) == [
        config_finding(
            f"{A}.loss_agg_mode = 'token_mean': verl 0.9.1 (the newest release that knows these keys) has no such word; "
            "expected token-mean, seq-mean-token-sum, seq-mean-token-mean, seq-mean-token-sum-norm, token-sum",
            Location("run.sh", 1, f"{A}.loss_agg_mode"),
            {f"{A}.loss_agg_mode": "token-mean"},
        )
    ]


@pytest.mark.parametrize(
    ("word", "context"),
    [
        ("algorithm.adv_estimator=gea", ""),
        (f"{A}.policy_loss.loss_mode=vanila", ""),
        (f"{A}.strategy=ddp", ""),
        ("critic.strategy=ddp", "algorithm.adv_estimator=gae"),
        (f"{A}.kl_loss_type=k4", f"{A}.use_kl_loss=True"),
        ("algorithm.kl_penalty=k4", "algorithm.use_kl_in_reward=True"),
        ("algorithm.kl_ctrl.type=adaptiv", "algorithm.use_kl_in_reward=True"),
        (f"{A}.optim.lr_scheduler_type=linear", ""),
        (f"{R}.name=vlm", ""),
        ("reward.reward_manager.name=nave", ""),
        (f"{A}.router_replay.mode=R5", ""),
        ("trainer.logger=wandbb", ""),
        (f"{R}.dtype=bf16", f"{R}.name=vllm"),
    ],
)
def test_a_word_that_no_release_has_is_an_error(word: str, context: str) -> None:
    key, _, value = word.partition("=")
    assert messages(word, context) == [(f"{key} = '{value}'", Severity.ERROR)]


@pytest.mark.parametrize("key", CHOICES)
def test_each_word_of_the_newest_release_is_silent(key: str) -> None:
    for word in CHOICES[key].accepted("0.9.1"):
        assert messages(f"++{key}={word}") == []


def test_each_word_of_a_list_is_looked_up() -> None:
    (finding,) = found("CFG011", verl("trainer.logger=[console,wandbb]"))
    assert finding.message.startswith(
        "trainer.logger = ['console', 'wandbb']: verl 0.9.1 (the newest release that knows these keys) has no wandbb; expected console, wandb,"
    )
    assert messages("trainer.logger=[console,wandb]", f"{R}.dtype=bfloat16") == []


@pytest.mark.parametrize(
    ("word", "version", "severities"),
    [
        ("trainer.logger=clearml", "0.4.1", []),
        ("trainer.logger=clearml", "0.3.0.post1", [Severity.ERROR]),
        ("trainer.v1.trainer_mode=asynk", "0.9.1", [Severity.ERROR]),
        ("data.truncation=middlee", "0.6.1", [Severity.ERROR]),
        ("data.truncation=middlee", "0.9.1", [Severity.WARNING]),
        ("data.truncation=middle", "0.9.1", []),
    ],
)
def test_the_words_are_those_of_the_release(word: str, version: str, severities: list[Severity]) -> None:
    machine = RecordedMachine({"environ": {"HOME": "/h"}, "read run.sh": f"python3 -m verl.trainer.main_ppo {word}"})
    made = load(machine, ("run.sh",), verl_version=version)
    assert [one.severity for one in found("CFG011", made)] == severities


def test_a_word_that_no_release_has_is_named_where_the_release_ignores_the_setting() -> None:
    (finding,) = found("CFG011", verl("data.truncation=eror"))
    assert finding.message == (
        "data.truncation = 'eror': no release of verl has this word; expected left, right, middle, error; "
        "verl 0.9.1 (the newest release that knows these keys) ignores it"
    )
    assert finding.remedy is not None
    assert finding.remedy.settings == {"data.truncation": "error"}


def test_a_word_of_older_releases_alone_is_a_warning() -> None:
    (finding,) = found("CFG011", verl(f"{R}.mode=sync"))
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("expected async; only verl up to 0.6.1 accepts it")


def test_code_of_the_user_may_add_a_word() -> None:
    (finding,) = found("CFG011", verl("algorithm.adv_estimator=mine", "data.custom_cls.path=data.py"))
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("or a word that data.custom_cls.path adds")


@pytest.mark.parametrize(
    ("version", "word", "severity"),
    [
        ("0.9.1", "algorithm.adv_estimator=gea", Severity.ERROR),
        ("0.9.1", f"{R}.name=mine", Severity.ERROR),
        ("0.9.1", "reward.reward_manager.name=mine", Severity.WARNING),
        ("0.6.1", "algorithm.adv_estimator=gea", Severity.WARNING),
    ],
)
def test_a_reward_file_adds_words_only_where_it_is_loaded(version: str, word: str, severity: Severity) -> None:
    name = "reward.custom_reward_function.path" if version == "0.9.1" else "custom_reward_function.path"
    text = f"python3 -m verl.trainer.main_ppo {word} {name}=reward.py"
    machine = RecordedMachine({"environ": {"HOME": "/home/ada"}, "read run.sh": text})
    made = load(machine, ("run.sh",), verl_version=version)
    assert [one.severity for one in found("CFG011", made)] == [severity]


@pytest.mark.parametrize(
    ("word", "file", "source"),
    [
        ("algorithm.adv_estimator=mine", "trainer/ppo/core_algos.py", '@register_adv_est("{}")\n'),
        (f"{A}.policy_loss.loss_mode=mine", "workers/actor/dp_actor.py", 'if loss_mode == "{}":\n    pass\n'),
        (f"{A}.kl_loss_type=mine {A}.use_kl_loss=True", "workers/actor/megatron_actor.py", "KINDS = ['{}']\n"),
        (f"{A}.optim.lr_scheduler_type=mine", "workers/engine/fsdp/transformer_impl.py", 'KINDS = ["{}"]\n'),
    ],
)
def test_a_checkout_has_words_of_its_own(tmp_path: Path, word: str, file: str, source: str) -> None:
    root = write_tree(tmp_path / "fork", "0.9.1")
    script = write(root / "run.sh", f"python3 -m verl.trainer.main_ppo {word}\n")
    for own, expected in (("mine", []), ("other", [Severity.ERROR])):
        write(root / "verl" / file, source.format(own))
        made = load(LocalMachine(), (str(script),))
        assert [one.severity for one in found("CFG011", made)] == expected


@pytest.mark.parametrize(("line", "expected"), [("strategy: own  # ours", []), ("strategy: owner", [Severity.ERROR])])
def test_the_configuration_of_a_checkout_names_its_own_strategy(
    tmp_path: Path, line: str, expected: list[Severity]
) -> None:
    root = write_tree(tmp_path / "fork", "0.9.1")
    script = write(root / "run.sh", "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=own\n")
    write(root / "verl/trainer/config/actor/own_actor.yaml", f"defaults:\n  - actor\n\n{line}\n")
    made = load(LocalMachine(), (str(script),))
    assert [one.severity for one in found("CFG011", made)] == expected


def test_an_unused_setting_and_an_unknown_value_are_silent() -> None:
    assert messages(f"{A}.kl_loss_type=k4", "critic.strategy=ddp", "algorithm.adv_estimator=$ESTIMATOR") == []


def test_other_trainers_are_not_judged() -> None:
    made = plan("python3 -m recipe.dapo.main_dapo algorithm.adv_estimator=mine actor_rollout_ref.rollout.n=2", "run.sh")
    assert verdict("CFG011", made) == (
        Status.SKIP,
        "the configuration is not that of one of verl's own trainers",
    )
    lack = "the rules of this program are not known"
    assert [alone(id_, made).undecided for id_ in ("CFG011", "CFG012")] == [lack, lack]
    skyrl = plan("python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=m", "run.sh")
    assert alone("CFG011", skyrl).undecided == ""
