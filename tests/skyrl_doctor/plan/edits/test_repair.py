"""Edits that change what they must and nothing else."""

import difflib

import pytest

from plans import ROOT, judged, plan, repaired
from skyrl_doctor.core.model import Status
from skyrl_doctor.plan.edits.proposal import Proposal, diff
from skyrl_doctor.plan.edits.repair import Found, repair
from skyrl_doctor.plan.findings import config_finding

V4 = "examples/prime-rl-2025/v4.toml"
LONG = ("examples/skyrl-agent/long_context.conf", "examples/skyrl-agent/long_context.yaml")
BROKEN = "examples/verl/grpo_broken.sh"


def failed(text: str, file: str = "run.toml") -> list[str]:
    return [outcome.id for outcome in judged({file: text}) if outcome.status is Status.FAIL]


def changed(proposal: Proposal) -> list[str]:
    lines = difflib.ndiff(proposal.old.splitlines(), proposal.new.splitlines())
    return [line for line in lines if line[0] in "+-"]


def texts(*files: str) -> dict[str, str]:
    return {file: (ROOT / file).read_text(encoding="utf-8") for file in files}


def test_the_run_that_hung_gets_the_number_that_fits_and_is_clean() -> None:
    (proposal,) = repaired(texts(V4)).proposals
    assert diff(proposal) == (
        f"--- a/{V4}\n+++ b/{V4}\n@@ -20,7 +20,7 @@\n seq_len = 2048\n \n [orchestrator.sampling]\n"
        '-max_tokens = 4000\n+max_tokens = 2048\n \n [[orchestrator.env]]\n id = "html-env"\n'
    )
    assert failed(proposal.new) == ["PRM007"]  # a notice


def test_two_files_each_at_their_lines() -> None:
    conf, task = repaired(texts(*LONG)).proposals
    assert changed(conf) == [
        '- RUNTIME_TIME_LIMIT="4:00:00"',
        '+ RUNTIME_TIME_LIMIT="6:00:00"',
        "- BATCH_SIZE=3",
        "+ BATCH_SIZE=4",
        "- MAX_MODEL_LEN=4096",
        "+ MAX_MODEL_LEN=12288",
    ]
    assert changed(task) == [
        "-   num_trajectories: 4",
        "+   num_trajectories: 3",
        "-   max_parallel_agents: 12",
        "+   max_parallel_agents: 7",
    ]


def test_a_shell_value_that_is_a_variable_is_left_to_the_user() -> None:
    made = repaired(texts(BROKEN))
    (proposal,) = made.proposals
    assert changed(proposal) == [
        "-     actor_rollout_ref.rollout.max_model_len=4096 \\",
        "+     actor_rollout_ref.rollout.max_model_len=5120 \\",
    ]
    assert [reason for _, reason in made.left] == ["change it by hand: the file has data.train_batch_size=$N"]


VARIABLES = """LEN=${LEN:-4096}
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.max_prompt_length=1024 data.max_response_length=$LEN \\
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.max_model_len=4096 \\
    actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.rollout.n=8
"""


@pytest.mark.parametrize("use", ["$LEN", "${LEN}", '"$LEN"'])
def test_the_default_of_a_variable_that_is_used_once_is_edited(use: str) -> None:
    (proposal,) = repaired({"run.sh": VARIABLES.replace("$LEN \\", f"{use} \\")}).proposals
    assert changed(proposal) == ["- LEN=${LEN:-4096}", "+ LEN=${LEN:-3072}"]


@pytest.mark.parametrize(
    "more", ["echo $LEN\n", "LEN=8\n", "read LEN\n", "for LEN in 1 2; do true; done\n", "export LEN=${LEN:-4096}\n"]
)
def test_the_default_of_a_variable_with_another_use_is_left(more: str) -> None:
    (proposal,) = repaired({"run.sh": more + VARIABLES}).proposals
    assert "LEN=${LEN:-4096}" in proposal.new


def test_a_key_that_is_not_there_goes_under_its_table() -> None:
    text = "[model]  # mine\npath = 'x'\nattention = 'sdpa'\n\n[slurm]\ngpus_per_node = 4\n"
    (proposal,) = repaired({"run.toml": text}).proposals
    assert proposal.new == (
        "[model]  # mine\npath = 'x'\nattention = 'sdpa'\nremove_padding = false\n\n[slurm]\ngpus_per_node = 4\n"
        "\n[data]\ntrain_batch_size = 2\n\n[actor]\nppo_mini_batch_size = 2\n"
    )


def test_texts_keep_their_quotes_and_inline_tables_their_form() -> None:
    text = "[model]\npath = 'x'\n[slurm]\nruntime_time_limit = '1:00:00' # short\n"
    (proposal,) = repaired({"run.toml": text}).proposals
    assert changed(proposal) == [
        "- runtime_time_limit = '1:00:00' # short",
        '+ runtime_time_limit = "6:00:00" # short',
    ]
    third = "examples/prime-rl-2025/v3.toml"
    (proposal,) = repaired(texts(third)).proposals
    assert changed(proposal) == ['- ac = "selective"', "+ ac = { freq = 1 }"]


@pytest.mark.parametrize("value", ["4", "six", '"x"', "true"])
def test_nothing_else_changes(value: str) -> None:
    text = "# héllo\r\n[model]\r\npath = 'x' # keep\r\n[rollout]\r\nn = 2  # keep\r\n"
    made = plan(text)
    found = Found("CFG003", config_finding("x", made.place("rollout.n"), {"rollout.n": value}))
    (proposal,) = repair(
        [found], {"run.toml": text}, lambda texts: plan(texts["run.toml"]), lambda _: (), allow_new=True
    ).proposals
    written = f'"{value}"' if value == "six" else value
    assert proposal.new == text.replace("n = 2", f"n = {written}")


def test_no_finding_changes_nothing() -> None:
    (proposal,) = repair([], texts(V4), lambda _: plan(""), judged).proposals
    assert (proposal.new, diff(proposal)) == (proposal.old, "")
