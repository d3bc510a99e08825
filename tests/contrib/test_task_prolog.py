"""The TaskProlog: which jobs get settings, and how often the doctor runs for them."""

import subprocess

import pytest

from contrib.site_node import Node, directory, job

COUNTS = 'echo "$*" >>{at}/asked; echo export WORDS=mine; echo export CUDA_VISIBLE_DEVICES=0; echo trouble >&2'
SLICE = {"CUDA_VISIBLE_DEVICES": "MIG-a"}


def settings_of(node: Node, site: str = "", **environ: str) -> list[str]:
    """The lines that a task gets, without the mark of the job."""
    node.settings(f"DOCTOR={node.program('doctor', COUNTS.format(at=node.at))}\n{site}")
    done = node.run("taskprolog.sh", **environ)
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if not line.startswith("export SKYRL_DOCTOR_SET=")]


def asked(node: Node) -> list[str]:
    path = node.at / "asked"
    return path.read_text().splitlines() if path.exists() else []


ALL = ["export WORDS=mine", "export CUDA_VISIBLE_DEVICES=0"]


@pytest.mark.parametrize(
    ("site", "environ", "role"),
    [
        ("", {}, None),
        ("", SLICE, None),
        ("", {"SKYRL_DOCTOR_ENV": "gpu"}, "gpu"),
        ("", {"SKYRL_DOCTOR_ENV": "runtime"}, "runtime"),
        ("", {"SKYRL_DOCTOR_ENV": "yes"}, None),
        ("GPU_PARTITIONS='mig rl'", {"SLURM_JOB_PARTITION": "rl", **SLICE}, "gpu"),
        ("GPU_PARTITIONS='mig rl'", {"SLURM_JOB_PARTITION": "rl"}, None),
        ("GPU_PARTITIONS='mig rl'", {"SLURM_JOB_PARTITION": "r", **SLICE}, None),
        ("GPU_PARTITIONS='mig rl'", {"SLURM_JOB_PARTITION": "rl", "SKYRL_DOCTOR_ENV": "off", **SLICE}, None),
        ("GPU_ACCOUNTS=lab", {"SLURM_JOB_ACCOUNT": "lab", **SLICE}, "gpu"),
        ("GPU_ACCOUNTS=lab", SLICE, None),
        ("RUNTIME_PARTITIONS=boxes", {"SLURM_JOB_PARTITION": "boxes"}, "runtime"),
        ("RUNTIME_PARTITIONS=boxes", {"SLURM_JOB_PARTITION": "cpu"}, None),
        ("RUNTIME_ACCOUNTS=lab", {"SLURM_JOB_ACCOUNT": "lab"}, "runtime"),
    ],
)
def test_only_a_job_that_asks_or_that_the_site_names_gets_settings(
    node: Node, site: str, environ: dict[str, str], role: str | None
) -> None:
    with job(**environ) as variables:
        assert settings_of(node, site, **variables) == (ALL if role else [])
        assert asked(node) == ([f"env --taskprolog --role {role} --deadline 10"] if role else [])
        assert directory(variables["SLURM_JOB_ID"]).exists() == (role is not None)


def test_outside_a_job_nothing_is_made(node: Node) -> None:
    for job_id in ("", "../1", "7 8"):
        assert settings_of(node, SKYRL_DOCTOR_ENV="gpu", SLURM_JOB_ID=job_id) == []
    assert asked(node) == []


def test_a_job_that_gets_nothing_starts_no_program(node: Node) -> None:
    """A program that is started costs each task of each user time: here none is in the PATH."""
    with job(PATH="/nowhere", **SLICE) as variables:
        assert settings_of(node, "GPU_PARTITIONS=rl", **variables) == []
        done = node.run("taskprolog.sh", **variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_doctor_runs_once_for_all_tasks_of_a_node(node: Node) -> None:
    slow = COUNTS.format(at=node.at) + f"; while [ ! -e {node.at}/all ]; do sleep 0.01; done"
    with job(SKYRL_DOCTOR_ENV="gpu", **SLICE) as variables:
        node.settings(f"DOCTOR={node.program('doctor', slow)}")
        script, env = str(node.at / "taskprolog.sh"), node.env(variables)
        tasks = [subprocess.Popen([script], env=env, stdout=subprocess.PIPE, text=True) for _ in range(8)]
        (node.at / "all").touch()
        printed = {task.communicate(timeout=300)[0] for task in tasks}
    assert len(asked(node)) == 1
    (text,) = printed
    assert text.splitlines()[:2] == ALL


def test_a_doctor_that_fails_is_waited_for_once(node: Node) -> None:
    with job(SKYRL_DOCTOR_ENV="gpu") as variables:
        node.settings(f"DOCTOR={node.program('doctor', f'echo x >>{node.at}/asked; echo export HALF=1; exit 3')}")
        assert [node.run("taskprolog.sh", **variables).stdout for _ in range(3)] == ["", "", ""]
    assert asked(node) == ["x"]


def test_a_later_step_keeps_what_the_script_changed(node: Node) -> None:
    with job(SKYRL_DOCTOR_ENV="gpu", **SLICE) as variables:
        assert settings_of(node, **variables) == ALL
        done = node.run("taskprolog.sh", **variables)
        mark = done.stdout.splitlines()[-1].removeprefix("export SKYRL_DOCTOR_SET=")
        assert mark == f"{variables['SLURM_JOB_ID']}@n1"
        assert settings_of(node, **variables, SKYRL_DOCTOR_SET=mark) == ALL[1:]
        assert settings_of(node, **variables, SKYRL_DOCTOR_SET="77@n1") == ALL  # of the job that submitted this one
        assert len(asked(node)) == 1
        other = {**variables, "CUDA_VISIBLE_DEVICES": "MIG-b"}
        assert settings_of(node, **other, SKYRL_DOCTOR_SET=mark) == ALL[1:]
        assert len(asked(node)) == 2


def test_a_directory_under_another_name_is_not_used(node: Node) -> None:
    with job(SKYRL_DOCTOR_ENV="gpu") as variables:
        place = directory(variables["SLURM_JOB_ID"])
        (node.at / "theirs").mkdir()
        place.symlink_to(node.at / "theirs")
        try:
            assert settings_of(node, **variables) == []
        finally:
            place.unlink()
    assert list((node.at / "theirs").iterdir()) == []
