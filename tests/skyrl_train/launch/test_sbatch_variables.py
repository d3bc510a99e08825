"""sbatch's variables, which it ranks above the options in a script: seen with 30 of them on a real Slurm 22.05."""

from collections.abc import Sequence

import pytest

from skyrl_train.config.load import parse
from skyrl_train.launch.job_requests import Choice, job_requests
from skyrl_train.launch.jobs import jobs, own_options
from skyrl_train.launch.role import Role
from skyrl_train.launch.sbatch_variables import filled, given, report, spelling, without

SITE = {"SBATCH_PARTITION": "gpu", "SBATCH_ACCOUNT": "lab", "SBATCH_QOS": "low"}


@pytest.mark.parametrize(
    ("options", "variables", "expected"),
    [
        ((), SITE, ["--account=lab", "--partition=gpu", "--qos=low"]),
        (("--partition=cpu",), SITE, ["--account=lab", "--qos=low"]),
        (("-pcpu", "-A x", "-q", "--time=5"), SITE, []),
        ((), {"SBATCH_EXCLUSIVE": "", "SBATCH_TIMELIMIT": "9"}, ["--time=9", "--exclusive"]),
        ((), {"SBATCH_EXCLUSIVE": "user"}, ["--exclusive=user"]),
        ((), {"SBATCH_PARTITION": ""}, []),
        ((), {"SBATCH_MEM_PER_NODE": "9", "SBATCH_MEM_PER_CPU": "1"}, ["--mem=9"]),
        (("--mem-per-gpu=3",), {"SBATCH_MEM_PER_NODE": "9", "SBATCH_MEM_PER_CPU": "1"}, []),
        ((), {"SBATCH_GRES": "gpu:1", "SBATCH_ARRAY_INX": "0-3", "SBATCH_EXPORT": "NONE", "SBATCH_WAIT": "1"}, []),
    ],
)
def test_a_variable_fills_in_what_is_left_open(
    options: Sequence[str], variables: dict[str, str], expected: list[str]
) -> None:
    assert [option for _, option in filled(options, variables)] == expected


def test_the_spelling_of_an_option() -> None:
    options = ("--mem=1G", "--mem 1G", "-p gpu", "-pgpu", "-N2", "--exclusive", " --qos=x", "")
    assert [spelling(one) for one in options] == ["--mem", "--mem", "-p", "-p", "-N", "--exclusive", "--qos", ""]


def test_sbatch_gets_no_variable_of_its_own() -> None:
    environ = {"PATH": "/bin", "SBATCH_GRES": "gpu:1", "SLURM_CONF": "/c"}
    assert (given(environ), without(environ)) == ({"SBATCH_GRES": "gpu:1"}, {"PATH": "/bin", "SLURM_CONF": "/c"})


CONFIG = parse('[model]\npath = "a/b"\n[slurm]\ngpu_partition = "big"\nextra = ["--qos=high"]\n')


def test_the_jobs_get_them_as_options() -> None:
    made = jobs(CONFIG, job_dir="/j", work_dir="/w", python="/p", variables={**SITE, "SBATCH_TIMELIMIT": "9"})
    plain = jobs(CONFIG, job_dir="/j", work_dir="/w", python="/p")
    assert [set(one.options) - set(other.options) for one, other in zip(made, plain, strict=True)] == [
        {"--account=lab", "--partition=gpu"},
        {"--account=lab"},
    ]


def test_the_request_that_is_judged_has_them() -> None:
    config = parse('[model]\npath = "a/b"\n[slurm]\ngpu_partition = "big"\naccount = "ours"\nextra = ["--wckey=w"]\n')
    variables = {**SITE, "SBATCH_EXCLUSIVE": ""}
    runtime, trainer = job_requests(config, tuple(Role), variables, has_own_options=False)
    assert (runtime.partition, trainer.partition) == (
        Choice("SBATCH_PARTITION", "gpu"),
        Choice("slurm.gpu_partition", "big"),
    )
    assert (trainer.account, trainer.qos) == (Choice("slurm.account", "ours"), Choice("SBATCH_QOS", "low"))
    assert trainer.gets_whole_node


def test_an_account_in_the_extra_options_decides() -> None:
    config = parse('[model]\npath = "a/b"\n[slurm]\naccount = "ours"\nextra = ["-A theirs"]\n')
    assert [one.account for one in job_requests(config, tuple(Role), SITE, has_own_options=False)] == [None, None]


def said(variables: dict[str, str]) -> list[str]:
    heard: list[str] = []
    report(own_options(CONFIG, "/j", None).items(), variables, heard.append)
    return heard


def test_one_line_says_what_becomes_of_them() -> None:
    assert said({}) == []
    assert said({**SITE, "SBATCH_GRES": "gpu:1", "SBATCH_TIMELIMIT": "9"}) == [
        (
            "sbatch's variables: SBATCH_ACCOUNT as --account=lab (runtime and trainer); SBATCH_PARTITION as --partition=gpu (runtime); "
            "not used: SBATCH_GRES, SBATCH_QOS, SBATCH_TIMELIMIT; the configuration decides, and slurm.extra adds options"
        )
    ]
    assert said({"SBATCH_ACCOUNT": "", "SBATCH_QOS": "", "SBATCH_GRES": ""}) == [
        "sbatch's variables: not used: SBATCH_GRES; the configuration decides, and slurm.extra adds options"
    ]
    assert said({"SBATCH_ACCOUNT": "lab"}) == [
        "sbatch's variables: SBATCH_ACCOUNT as --account=lab (runtime and trainer)"
    ]
