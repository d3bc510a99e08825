"""The programs that a script starts, behind every kind of wrapper."""

import pytest

from skyrl_doctor.plan.inner_scripts import with_inner_commands
from skyrl_doctor.plan.launches import launches
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import read_script


def started(text: str) -> list[tuple[str, int, tuple[str, ...]]]:
    script = read_script(Source("run.sh", text), {})
    with_inner_commands(script, text)
    found = launches(script)
    return [(launch.module, launch.line, tuple(word.text for word in launch.words)) for launch in found]


@pytest.mark.parametrize(
    "command",
    [
        "python -m pack.main a=1",
        "python3.12 -u -m pack.main a=1",
        "/opt/env/bin/python -m pack.main a=1",
        "A=1 env B=2 nohup python -m pack.main a=1 &",
        "uv run --isolated --extra gpu --with x==1 -m pack.main a=1",
        "uv run --frozen python -m pack.main a=1",
        "torchrun --nproc_per_node 8 -m pack.main a=1",
        "python -m torch.distributed.run --nproc_per_node 8 -m pack.main a=1",
        "accelerate launch --config_file x.yaml pack/main.py a=1",
        "srun --nodes=2 python pack/main.py a=1",
        "ray job submit --address=$ADDRESS --no-wait -- python3 -m pack.main a=1",
        'bash -c "python -m pack.main a=1"',
        "bash -lc 'cd /x && python -m pack.main a=1'",
        "docker run --rm image python -m pack.main a=1",
        "timeout 3h python pack/main.py a=1 2>&1 | tee log",
        "$PYTHON -m pack.main a=1",
    ],
)
def test_finds_the_program_behind_its_wrappers(command: str) -> None:
    assert started(f"{command}\n") == [("pack.main", 1, ("a=1",))]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("uv run rl @ a.toml", "rl"),
        ("vllm serve model --port 8000", "vllm"),
        ("./my_trainer --lr 1", "./my_trainer"),
        ("bash other.sh a=1", "bash other.sh"),
        ("uv run pytest -s -m slow tests", "pytest"),
        ("sbatch job.sh", "job.sh"),
    ],
)
def test_finds_a_command(command: str, name: str) -> None:
    script = read_script(Source("run.sh", command), {})
    assert [launch.name for launch in launches(script)] == [name]


def test_what_prepares_or_prints_starts_nothing() -> None:
    text = """
        set -ex
        export A=1
        mkdir -p out && cd out
        echo python -m pack.main a=1
        pip install pack
        python -m pip install pack
        python -c "import torch"
        ray stop --force
        conda activate train
        module load cuda
        nvidia-smi
        uv sync --all-extras
        pkill -f pack.main.py
    """
    assert started(text) == []
