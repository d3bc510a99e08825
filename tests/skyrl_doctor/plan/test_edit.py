"""Edits that change what they must and nothing else."""

import difflib

import pytest

from plans import ROOT, alone, example, plan
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.edit import Proposal, diff, propose
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.structure_only import config_only
from support import registry

V4 = "examples/prime-rl-2025/v4.toml"
LONG = ("examples/skyrl-agent/long_context.conf", "examples/skyrl-agent/long_context.yaml")
BROKEN = "examples/verl/grpo_broken.sh"


def findings(made: Plan, *, least: Severity = Severity.WARNING) -> list[Finding]:
    checks, _ = config_only(registry().checks)
    return [finding for check in checks for finding in alone(check.id, made).findings if finding.severity >= least]


def changed(proposal: Proposal) -> list[str]:
    lines = difflib.ndiff(proposal.old.splitlines(), proposal.new.splitlines())
    return [line for line in lines if line[0] in "+-"]


def texts(*files: str) -> dict[str, str]:
    return {file: (ROOT / file).read_text(encoding="utf-8") for file in files}


def test_the_run_that_hung_gets_the_number_that_fits_and_is_clean() -> None:
    made = example(V4)
    (proposal,) = propose(made, findings(made), texts(V4))
    assert diff(proposal) == (
        f"--- a/{V4}\n+++ b/{V4}\n@@ -20,7 +20,7 @@\n seq_len = 2048\n \n [orchestrator.sampling]\n"
        '-max_tokens = 4000\n+max_tokens = 2048\n \n [[orchestrator.env]]\n id = "html-env"\n'
    )
    assert findings(plan(proposal.new)) == []


def test_two_files_each_at_their_lines() -> None:
    made = example(*LONG)
    conf, task = propose(made, findings(made), texts(*LONG))
    assert changed(conf) == [
        '- RUNTIME_TIME_LIMIT="4:00:00"',
        '+ RUNTIME_TIME_LIMIT="6:00:00"',
        "- BATCH_SIZE=3",
        "+ BATCH_SIZE=4",
        "- MAX_MODEL_LEN=4096",
        "+ MAX_MODEL_LEN=6144",
    ]
    assert changed(task) == [
        "-   num_trajectories: 4",
        "+   num_trajectories: 3",
        "-   max_parallel_agents: 12",
        "+   max_parallel_agents: 7",
    ]


def test_a_shell_value_that_is_a_variable_is_left_to_the_user() -> None:
    made = example(BROKEN, verl_version="0.9.1")
    (proposal,) = propose(made, findings(made), texts(BROKEN))
    assert changed(proposal) == [
        "-     data.train_batch_size=$N \\",
        "+     data.train_batch_size=4 \\",
        "-     actor_rollout_ref.actor.ppo_mini_batch_size=4 \\",
        "+     actor_rollout_ref.actor.ppo_mini_batch_size=3 \\",
        "-     actor_rollout_ref.rollout.max_model_len=4096 \\",
        "+     actor_rollout_ref.rollout.max_model_len=5120 \\",
    ]
    assert proposal.left == (
        f"ray_kwargs.ray_init.num_cpus = 8: add it by hand: ray_kwargs.ray_init.num_cpus is not in {BROKEN}",
    )


def test_a_key_that_is_not_there_goes_under_its_table() -> None:
    text = "[model]  # mine\npath = 'x'\nattention = 'sdpa'\n\n[slurm]\ngpus_per_node = 4\n"
    made = plan(text)
    (proposal,) = propose(made, findings(made), {"run.toml": text})
    assert proposal.new == (
        "[model]  # mine\nremove_padding = false\npath = 'x'\nattention = 'sdpa'\n\n[slurm]\ngpus_per_node = 4\n"
        "\n[actor]\nppo_mini_batch_size = 2\n\n[data]\ntrain_batch_size = 2\n"
    )


def test_texts_keep_their_quotes_and_inline_tables_their_form() -> None:
    text = "[model]\npath = 'x'\n[slurm]\nruntime_time_limit = '1:00:00' # short\n"
    made = plan(text)
    (proposal,) = propose(made, findings(made), {"run.toml": text})
    assert changed(proposal) == [
        "- runtime_time_limit = '1:00:00' # short",
        '+ runtime_time_limit = "6:00:00" # short',
    ]
    third = "examples/prime-rl-2025/v3.toml"
    (proposal,) = propose(example(third), findings(example(third)), texts(third))
    assert changed(proposal) == ['- ac = "selective"', "+ ac = { freq = 1 }"]


@pytest.mark.parametrize("value", ["4", "six", '"x"', "true"])
def test_nothing_else_changes(value: str) -> None:
    text = "# héllo\r\n[model]\r\npath = 'x' # keep\r\n[rollout]\r\nn = 2  # keep\r\n"
    made = plan(text)
    (proposal,) = propose(
        made, [config_finding("x", made.place("rollout.n"), {"rollout.n": value})], {"run.toml": text}
    )
    written = f'"{value}"' if value == "six" else value
    assert proposal.new == text.replace("n = 2", f"n = {written}")


def test_no_finding_changes_nothing() -> None:
    (proposal,) = propose(example(V4), [], texts(V4))
    assert (proposal.new, diff(proposal)) == (proposal.old, "")
