"""Scripts that a script submits, starts or writes: sbatch with a here-document or --wrap, srun bash FILE, ssh, tmux."""

import pytest

from plans import found
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.assignment import assignment

RUN = "python3 -m verl.trainer.main_ppo data.train_batch_size=96 trainer.nnodes=2"
JOB = f"#!/bin/bash\n#SBATCH --gres=gpu:4\n{RUN}\n"


def plan(text: str, **beside: str) -> Plan:
    """The plan of run.sh, with these files beside it."""
    answers = {f"read {name}": content for name, content in {"run.sh": text, **beside}.items()}
    return load(RecordedMachine({"environ": {"HOME": "/home/ada"}, **answers}), ("run.sh",))


def batch(made: Plan) -> tuple[object, str, int | None]:
    found = made.own["data.train_batch_size"]
    assert found.location is not None
    return found.value, found.location.file, found.location.line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"sbatch <<'EOF'\n{JOB}EOF\n", 4),
        (f"sbatch -N 2 <<EOF\n{JOB}EOF\n", 4),
        (f"cat <<EOF | sbatch\n{JOB}EOF\n", 4),
        (f"cat > job.sh <<'EOF'\n{JOB}EOF\nsbatch job.sh\n", 4),
        (f"cat <<EOF > job.sh && sbatch job.sh\n{JOB}EOF\n", 4),
        (f"tee job.sh <<EOF >/dev/null\n{JOB}EOF\nbash job.sh\n", 4),
        (f"sbatch --gres=gpu:4 --wrap '{RUN}'\n", 1),
        (f'sbatch --gres=gpu:4 --wrap="{RUN}"\n', 1),
        (f"ssh -p 22 node1 'cd /w && {RUN}'\n", 1),
        (f"ssh node1 bash -s <<'EOF'\n{RUN}\nEOF\n", 2),
        (f"tmux new-session -d -s train '{RUN}'\n", 1),
        (f"tmux send-keys -t train '{RUN}' C-m\n", 1),
        (f"bash <<'EOF'\n{RUN}\nEOF\n", 2),
    ],
)
def test_a_script_inside_is_read_at_its_place(text: str, line: int) -> None:
    made = plan(text)
    assert batch(made) == (96, "run.sh", line)
    span = made.own["data.train_batch_size"].span
    assert span is not None
    assert text.encode()[slice(*span)] == b"data.train_batch_size=96"


@pytest.mark.parametrize("start", ["srun bash inner.sh", "bash inner.sh", "./inner.sh", "sbatch -p gpu inner.sh", "exec nice -n 5 bash inner.sh"])  # fmt: skip
def test_a_script_that_is_started_is_read(start: str) -> None:
    made = plan(f"#!/bin/bash\n{start}\n", **{"./inner.sh": JOB, "inner.sh": JOB})
    assert batch(made) == (96, start.split()[-1], 3)


SKYRL = "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen3-8B \\\n  trainer.policy.nonsense=3"
PRIME = "uv run rl @ rl.toml \\\n  --nonsense 3"
VERL = "python3 -m verl.trainer.main_ppo data.train_batch_size=96 \\\n  trainer.nonsense=3"


@pytest.mark.parametrize("run", [VERL, SKYRL])
@pytest.mark.parametrize(
    ("start", "file"),
    [
        ("bash inner.sh", "inner.sh"),
        ("source inner.sh", "inner.sh"),
        ("srun bash inner.sh", "inner.sh"),
        ("sbatch inner.sh", "inner.sh"),
        ("sbatch --wrap 'bash inner.sh'", "inner.sh"),
        ("bash -c 'source inner.sh'", "inner.sh"),
        ("cd below && bash inner.sh", "below/inner.sh"),
        ("cd /w/below\nbash ./inner.sh", "below/inner.sh"),
        ("cd below && bash ../inner.sh", "inner.sh"),
    ],
)
def test_a_problem_lies_in_the_file_that_holds_the_line(start: str, file: str, run: str) -> None:
    text = f"#!/bin/bash\n\n\n{run}\n"
    answers = {f"read {name}": text for name in ("inner.sh", "below/inner.sh")}
    answers |= {"read run.sh": f"#!/bin/bash\n{start}\n"}
    answers["read below/inner.sh" if file == "inner.sh" else "read inner.sh"] = "echo another script\n"
    made = load(RecordedMachine({"environ": {"HOME": "/home/ada", "PWD": "/w"}, **answers}), ("run.sh",))
    nonsense = [problem.location for problem in made.problems if "nonsense" in problem.message]
    assert [(place.file, place.line) for place in nonsense] == [(file, 5)]


def test_an_option_of_a_started_script_lies_in_its_file() -> None:
    toml = "[model]\nname = 'Qwen/Qwen3-8B'\n"
    made = plan("bash inner.sh\n", **{"inner.sh": f"#!/bin/bash\n\n{PRIME}\n", "rl.toml": toml})
    assert made.own["nonsense"].location == Location("inner.sh", 4, "nonsense")


def test_inner_scripts_that_start_each_other_end() -> None:
    with pytest.raises(UsageError, match="starts"):
        plan("bash -c 'bash run.sh'\n" * 100, **{"run.sh": "bash -c 'bash run.sh'\n" * 100})


@pytest.mark.parametrize(
    "text",
    [
        f"skyrl-doctor preflight inner.sh && {RUN}\n",
        f"skyrl-doctor gate inner.sh -- {RUN}\n",
        f"skyrl-doctor gate --select CFG inner.sh -- srun {RUN}\n",
        f"srun skyrl-doctor gate inner.sh -- {RUN}\n",
        f"python3 -m skyrl_doctor gate inner.sh -- {RUN}\n",
        f"{RUN}\nskyrl-doctor watch job\nsrun skyrl-doctor preflight inner.sh\n",
        f"bash -c 'skyrl-doctor gate inner.sh -- {RUN}'\n",
    ],
)
def test_the_doctors_own_lines_start_what_stands_behind_them(text: str) -> None:
    other = RUN.replace("96", "32")
    assert batch(plan(text, **{"inner.sh": f"{other}\n"})) == (96, "run.sh", 1)


def test_a_gate_starts_a_script() -> None:
    assert batch(plan("skyrl-doctor gate inner.sh -- bash inner.sh\n", **{"inner.sh": JOB})) == (96, "inner.sh", 3)


@pytest.mark.parametrize("start", ["skyrl-train launch run.toml --dry-run", "srun skyrl-train launch --local run.toml"])
def test_a_launch_of_ours_is_read_by_its_configuration(start: str) -> None:
    toml = "[model]\npath = 'm'\n[data]\ntrain_batch_size = 7\n"
    made = plan(f"skyrl-doctor preflight run.toml\n{start}\n", **{"run.toml": toml})
    found = made.values["data.train_batch_size"]
    assert (found.value, found.location) == (7, Location("run.toml", 4, "data.train_batch_size"))


def test_srun_in_front_of_a_script_starts_what_is_inside() -> None:
    made = plan("#!/bin/bash\nsrun --ntasks=4 bash inner.sh\n", **{"inner.sh": JOB})
    assert made.own["srun"].value == 4


@pytest.mark.parametrize(
    ("text", "gpus", "file", "line"),
    [
        (f"sbatch <<'EOF'\n{JOB}EOF\n", 4, "run.sh", 3),
        (f"sbatch --gres=gpu:8 <<'EOF'\n{JOB}EOF\n", 8, "run.sh", 1),
        (f"sbatch --gres=gpu:2 --wrap '{RUN}'\n", 2, "run.sh", 1),
        ("sbatch inner.sh\n", 4, "inner.sh", 2),
        ("sbatch inner.sh\nsbatch --gres=gpu:1 after.sh\n", 4, "inner.sh", 2),
    ],
)
def test_the_options_of_a_job_are_those_of_its_own_run(text: str, gpus: int, file: str, line: int) -> None:
    made = plan(text, **{"inner.sh": JOB, "after.sh": "#!/bin/bash\necho done\n"})
    found = made.own["#SBATCH --gres"]
    assert found.location is not None
    assert (found.value, found.location.file, found.location.line) == (gpus, file, line)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"sbatch --gres=gpu:2 --wrap '{RUN} trainer.nnodes=1 trainer.n_gpus_per_node=8'\n", "sbatch --gres"),
        (f"#!/bin/bash\n#SBATCH --gres=gpu:2\n{RUN} trainer.nnodes=1 trainer.n_gpus_per_node=8\n", "#SBATCH --gres"),
    ],
)
def test_a_finding_names_an_option_of_sbatch_as_it_stands(text: str, name: str) -> None:
    (finding,) = found("SLM005", plan(text))
    assert finding.message.endswith(f"expected 8 in {name}")
    assert finding.location is not None
    assert finding.location.key == name
    assert finding.remedy is not None
    assert finding.remedy.settings == {}  # the node may have fewer
    assert assignment(name, "gpu:8") == f"{name}=gpu:8"


def test_a_job_gets_the_variables_of_slurm_and_of_its_submission() -> None:
    text = "export BS=96\nsbatch --export=ALL,N=3 <<'EOF'\n#SBATCH --nodes=2\npython3 -m verl.trainer.main_ppo data.train_batch_size=$BS trainer.nnodes=$SLURM_NNODES actor_rollout_ref.rollout.n=$N\nEOF\n"
    made = plan(text)
    values = [made.own[key].value for key in ("data.train_batch_size", "trainer.nnodes", "actor_rollout_ref.rollout.n")]
    assert values == [96, 2, 3]


def test_an_unquoted_here_document_has_the_variables_of_its_script() -> None:
    text = 'for BS in 96; do\nsbatch <<EOF\npython3 -m verl.trainer.main_ppo data.train_batch_size=$BS "trainer.experiment_name=a\\$b"\nEOF\ndone\n'
    made = plan(text)
    assert (made.own["data.train_batch_size"].value, made.own["trainer.experiment_name"].unknown) == (
        96,
        "b is not set here",
    )


def test_a_yaml_that_the_script_writes_is_composed() -> None:
    text = (
        "mkdir -p conf\ncat > conf/mine.yaml <<EOF\nhydra:\n  searchpath:\n    - pkg://verl.trainer.config\n"
        "defaults:\n  - ppo_trainer\n  - _self_\ndata:\n  train_batch_size: 96\nEOF\n"
        "python3 -m verl.trainer.main_ppo --config-path $PWD/conf --config-name mine trainer.nodes=2\n"
    )
    text = text.replace("conf/mine", "/w/conf/mine").replace("$PWD/conf", "/w/conf")
    made = plan(text)
    assert made.own["data.train_batch_size"].value == 96
    assert [problem.location.key for problem in made.problems] == ["trainer.nodes"]


def test_a_script_that_is_not_here_is_named() -> None:
    with pytest.raises(UsageError, match=r"line 2 starts /w/inner\.sh, which cannot be read from here"):
        plan("#!/bin/bash\nsrun --container-image=x.sqsh bash /w/inner.sh\n")


def test_scripts_that_start_each_other_end() -> None:
    with pytest.raises(UsageError, match="starts"):
        plan("bash b.sh\n", **{"run.sh": "bash b.sh\n", "b.sh": "bash run.sh\n"})
