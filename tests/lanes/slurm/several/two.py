"""A trainer job of two nodes, with a stand-in for Ray."""

from contextlib import suppress
from pathlib import Path

from lanes.slurm.lab import processes_with, wait_until
from lanes.slurm.site import CONFIG, Launched, Site
from skyrl_train.launch.directory import Ended, read_ended
from skyrl_train.launch.role import Role

RAY = Path(__file__).parents[1] / "standin_ray"
NODES = ("gpu1", "gpu2")
TWO = CONFIG.replace("[slurm]", "[slurm]\nnodes = 2").replace("train_batch_size = 1", "train_batch_size = 2")
TWO += '[actor]\nppo_mini_batch_size = 2\n[env]\nOF_THE_CONFIG = "1"\n'
WAITS = "bash -c 'touch begun; sleep 600'"


def launch(site: Site, trainer: str, *words: str, config: str = TWO, **more: str) -> Launched:
    path = f"{RAY}:{site.cluster.env['PYTHONPATH']}"
    return site.launch(trainer, *words, config=config, PYTHONPATH=path, **more)


def launch_with_scratch(site: Site, in_the_task_on_gpu2: str) -> Launched:
    """Each node has a place of its own for what its settings make, and every Python of the step on gpu2 runs this first."""
    for node in NODES:
        (site.at / f"scratch_{node}").mkdir()
    (site.at / "sitecustomize.py").write_text(
        "import os, sys\n"
        f"os.environ['TMPDIR'] = {str(site.at)!r} + '/scratch_' + os.environ.get('SLURMD_NODENAME', 'gpu1')\n"
        "if os.environ.get('SLURMD_NODENAME') == 'gpu2' and 'SLURM_PROCID' in os.environ:\n"
        f"    {in_the_task_on_gpu2}\n"
    )
    return site.launch(WAITS, config=TWO, PYTHONPATH=f"{site.at}:{RAY}:{site.cluster.env['PYTHONPATH']}")


def ended(made: Launched) -> Ended:
    """Two looks by the doctor and two Rays take their time on a machine that does other things too."""
    wait_until(lambda: read_ended(str(made.job_dir), Role.TRAINER), f"the trainer tells its end: {made.said}")
    return made.ended(Role.TRAINER)


def of_node(made: Launched, node: str) -> list[int]:
    marks = (f"SKYRL_JOB_DIR={made.job_dir}", f"SLURMD_NODENAME={node}")
    return sorted(set.intersection(*(set(processes_with(mark)) for mark in marks)))


def of_ray(made: Launched, node: str) -> int:
    """The process of a node's Ray."""
    for pid in of_node(made, node):
        with suppress(OSError):
            if "ray.scripts.scripts" in Path(f"/proc/{pid}/cmdline").read_text():
                return pid
    raise AssertionError(f"no Ray on {node}")


def begun(site: Site, made: Launched) -> None:
    wait_until(lambda: (site.at / "begun").exists(), f"the trainer runs: {made.said}{made.log(Role.TRAINER)}")
