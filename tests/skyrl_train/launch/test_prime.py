"""What becomes of a prime-rl TOML: the job's options, what `rl` is given, and what is refused in one sentence."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans import plan
from scripts import complaints_of_bash
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import commands, sidecar
from skyrl_train.launch.prime import NOT_FOR_RL, PrimeRun, prime_run, without
from skyrl_train.launch.render import prime_script

SHIPPED = Path(__file__).parents[3] / "examples"
TODAY = (SHIPPED / "prime-rl" / "two_gpus.toml").read_text()
SLURM = '[slurm]\njob_name = "third try"\npartition = "gpu"\ntime = "1:00:00"\nexclude = "n1,n2"\nnodelist = "n3"\n'
BARE = '[model]\nname = "a/b"\n[orchestrator]\ngroup_size = 2\n'


def made(text: str, cwd: str = "/w") -> PrimeRun:
    found = prime_run(text, cwd=cwd)
    assert found is not None
    return found


def test_the_job_asks_for_what_prime_rls_own_job_asks_for() -> None:
    run = made(TODAY + SLURM)
    assert run.options == (
        "--nodes=1",
        "--ntasks-per-node=1",
        "--gres=gpu:2",
        "--exclusive",
        "--no-requeue",
        "--time=1:00:00",
        "--nodelist=n3",
    )
    assert (run.config.slurm.gpu_partition, run.config.slurm.exclude) == ("gpu", ("n1", "n2"))
    assert run.config.trainer.experiment == "third try"
    assert run.config.model.path == "Qwen/Qwen2.5-7B-Instruct"


def test_rl_is_given_the_same_file_without_what_would_submit_it_again() -> None:
    run = made(TODAY + SLURM)
    assert run.text == TODAY
    assert run.command("/j") == ("uv", "run", "rl", "@", "/j/prime.toml")
    assert made(TODAY).text == TODAY


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        (BARE, 1),
        (BARE + "[inference.vllm]\nenforce_eager = true\n", 2),
        (BARE + "[deployment]\nnum_train_gpus = 3\n[inference.vllm]\n", 4),
        (BARE + "[deployment]\ngpus_per_node = 4\n", 4),
        (BARE + SLURM, 8),
        (BARE + "[deployment]\ngpus_per_node = 2\n" + SLURM, 2),
        ('inference_gpu_ids = [0]\ntrainer_gpu_ids = [0]\n[model]\nname = "a/b"\n', 1),
        ('inference_gpu_ids = [0, 1]\ntrainer_gpu_ids = [2]\n[model]\nname = "a/b"\n', 3),
    ],
)
def test_as_many_gpus_as_the_run_uses(text: str, gpus: int) -> None:
    assert f"--gres=gpu:{gpus}" in made(text).options


def test_the_doctor_counts_the_same_gpus() -> None:
    for text in (BARE, BARE + SLURM, BARE + "[inference.vllm]\nenforce_eager = true\n", TODAY, TODAY + SLURM):
        assert f"--gres=gpu:{plan(text, 'prime.toml').integer('slurm.gpus_per_node')}" in made(text).options


def test_without_a_table_of_slurm_it_is_a_share_of_a_node() -> None:
    assert made(BARE).options == (
        "--nodes=1",
        "--ntasks-per-node=1",
        "--gres=gpu:1",
        "--cpus-per-task=4",
        "--no-requeue",
    )


def test_a_run_config_is_none_of_prime_rls() -> None:
    assert prime_run('[model]\npath = "a/b"\n[slurm]\nnodes = 2\n', cwd="/w") is None
    assert prime_run((SHIPPED / "mig20.toml").read_text(), cwd="/w") is None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[slurm]\ntemplate_path = "a.j2"\n', "`launch` does not support slurm.template_path; use only account,"),
        ("[slurm]\ntime = 60\n", "slurm.time is 60; expected a string"),
        ('[slurm]\ntime = "soon"\n', "slurm.time is 'soon'; expected a time limit"),
        (
            '[deployment]\ntype = "multi_node"\n',
            'deployment.type is "multi_node", but `launch` runs prime-rl on one node',
        ),
        ("[deployment]\nnum_train_gpus = 0\n", "deployment.num_train_gpus is 0; expected a whole number above 0"),
        ("[deployment]\ngpus_per_node = true\n", "deployment.gpus_per_node is True; expected a whole number above 0"),
    ],
)
def test_what_cannot_run_as_one_job_is_refused_in_one_sentence(more: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        made(BARE + more)
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("dry_run = true\n", "dry_run = true would train nothing"),
        ('toml_files = ["a.toml"]\n', "toml_files is not supported"),
        ("deployment = 2\n", "deployment is 2; expected a table"),
        ("slurm = 2\n", "slurm is 2; expected a table"),
        ("trainer_gpu_ids = 0\ninference_gpu_ids = [0]\n", "trainer_gpu_ids is 0; expected a list of whole numbers"),
    ],
)
def test_so_is_what_stands_at_the_top(first: str, said: str) -> None:
    text = BARE if "gpu_ids" not in first else '[model]\nname = "a/b"\n'
    with pytest.raises(UsageError, match=said):
        made(first + text)


def test_the_script_says_the_command_line_in_the_project(tmp_path: Path) -> None:
    text = BARE + '[slurm]\nproject_dir = "my prime"\npre_run_command = "ulimit -n 65536"\n'
    lines = prime_script(made(text, cwd="/w"), "/j b").splitlines()
    assert "cd '/w/my prime'" in lines
    assert lines[-2:] == ["ulimit -n 65536", "exec uv run rl @ '/j b/prime.toml'"]
    assert complaints_of_bash("\n".join(lines) + "\n", tmp_path) == ""


HIDDEN = [
    'slurm = { partition = "a" }\n' + BARE,
    'slurm.partition = "a"\nslurm.time = "1:00"\n' + BARE,
    '"slurm".partition = "a"\n' + BARE,
    BARE + '[ slurm ] # here\npartition = "a"\n[waivers]\nPRM008 = "known"\n[trainer.model]\nseq_len = 3\n',
    BARE + '[slurm]\npre_run_command = """\n echo [a]\n"""\n[trainer.model]\nseq_len = 3\n',
]


@pytest.mark.parametrize("text", HIDDEN)
def test_tables_are_taken_out_however_they_are_written(text: str) -> None:
    left = tomllib.loads(without(text, NOT_FOR_RL))
    whole = tomllib.loads(text)
    assert left == {name: value for name, value in whole.items() if name not in NOT_FOR_RL}


def test_a_table_that_cannot_be_told_from_the_rest_is_refused() -> None:
    text = BARE + '[slurm]\npre_run_command = """\n[trainer]\n"""\n'
    with pytest.raises(UsageError, match=r"cannot be separated from the rest"):
        without(text, NOT_FOR_RL)


LINES = [
    "[slurm]",
    "[model]",
    'a = "b"',
    "slurm.x = 1",
    'x = """',
    '"""',
    "[slurm.y]",
    "[[slurm]]",
    "# [slurm]",
    "b = [",
    "]",
]


@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_nothing_else_is_ever_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    try:
        left = without(text, ("slurm",))
    except UsageError:
        return
    assert tomllib.loads(left) == {name: value for name, value in whole.items() if name != "slurm"}


def test_a_launch_without_a_runtime_is_told_from_one_that_awaits_it(tmp_path: Path) -> None:
    run = made(BARE)
    kept = commands.Commands(runtime=(), trainer=run.payload("/j"), runtime_url=commands.NO_RUNTIME, logs=(run.logs,))
    assert run.logs == "/w/outputs/logs"
    commands.write(str(tmp_path), kept)
    (tmp_path / "config.json").write_text(run.config.model_dump_json())
    assert commands.read(str(tmp_path)).commands == kept


def test_the_watch_reads_the_engines_own_logs_too() -> None:
    run = made(TODAY)
    assert "--logs=/w/outputs/logs" in sidecar.words(run.config, "/j", {}, (run.logs,))
