"""What a dead job left is taken away, and nothing of another's."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skyrl_train.cli.app import dispatch
from skyrl_train.launch import leftovers, strays
from skyrl_train.launch.marks import marked
from skyrl_train.process import Child, start, wait_until
from skyrl_train.procfs import lives

OURS, OTHER = f"99{os.getpid():08}1", f"99{os.getpid():08}2"
"""Of this run's worker alone: what belongs to a job is looked for, and ended, on the whole machine."""


@pytest.fixture
def sleeper() -> Iterator[list[Child]]:
    made: list[Child] = []
    yield made
    for child in made:
        child.end(1)


def sleeps(made: list[Child], **environ: str) -> int:
    """A process that went its own way, with this environment."""
    made.append(start(["sleep", "600"], env=environ))
    return made[-1].pid


def test_the_processes_of_the_job_end_and_no_others(sleeper: list[Child]) -> None:
    of_job = sleeps(sleeper, SLURM_JOB_ID=OURS)
    others = [sleeps(sleeper, SLURM_JOB_ID=OTHER), sleeps(sleeper, NOTE=f"SLURM_JOB_ID={OURS}"), sleeps(sleeper)]
    epilog = sleeps(sleeper, SLURM_JOB_ID=OURS, SLURM_SCRIPT_CONTEXT="epilog_slurmd")
    assert strays.end(strays.of_job(OURS, os.getuid())) == [of_job]
    assert wait_until(lambda: not lives(of_job), 120)
    assert all(lives(pid) for pid in (*others, epilog))


def test_the_job_of_another_user_is_not_ours(sleeper: list[Child]) -> None:
    pid = sleeps(sleeper, SLURM_JOB_ID=OURS)
    assert strays.end(strays.of_job(OURS, os.getuid() + 1)) == []
    assert lives(pid)


def test_the_caller_and_its_parents_stay() -> None:
    words = f"from skyrl_train.launch import strays; print(strays.end(strays.of_job('{OURS}', {os.getuid()})))"
    shell = f'"{sys.executable}" -c "{words}"; echo lived'
    done = subprocess.run(["sh", "-c", shell], env={"SLURM_JOB_ID": OURS}, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\nlived\n", done.stderr


def test_podmans_own_processes_are_known_by_their_store(sleeper: list[Child]) -> None:
    place = f"/tmp/skyrl-{os.getuid()}-{OURS}"
    conmons = [sleeps(sleeper, XDG_RUNTIME_DIR=f"{place}/podman/run"), sleeps(sleeper, CONTAINERS_CONF=f"{place}/c")]
    others = [
        sleeps(sleeper, XDG_RUNTIME_DIR=f"{place}9/podman/run"),
        sleeps(sleeper, XDG_RUNTIME_DIR=f"{place}/podman/run", SLURM_JOB_ID=OTHER),  # submitted from the job
    ]
    assert strays.end(strays.serving([place], os.getuid())) == conmons
    assert all(map(lives, others))


def test_a_job_that_was_submitted_from_a_payload_is_not_the_payloads(
    sleeper: list[Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", OURS)
    marks = {"SKYRL_JOB_DIR": f"/w/{OURS}"}
    own = [sleeps(sleeper, **marks, SLURM_JOB_ID=OURS), sleeps(sleeper, **marks)]
    sleeps(sleeper, **marks, SLURM_JOB_ID=OTHER)
    assert marked(marks) == sorted(own)


def in_a_mount_namespace(made: list[Child], script: str) -> int:
    """A process among mounts of its own, as a container's; root alone may make one everywhere."""
    words = ["unshare", "--mount", "sh", "-c", f"{script} && echo there && exec sleep 600"]
    reader, writer = os.pipe()
    made.append(start(words, env={"PATH": os.defpath}, stdout=writer))
    os.close(writer)
    with open(reader, "rb") as out:
        if out.readline() != b"there\n":
            pytest.skip("no mount namespace can be made here")
    return made[-1].pid


def test_a_sandbox_is_known_by_what_is_mounted_in_it(tmp_path: Path, sleeper: list[Child]) -> None:
    place = tmp_path / f"skyrl-{os.getuid()}-{OURS}"
    (place / "root").mkdir(parents=True)
    (tmp_path / "aim").mkdir()
    sandbox = in_a_mount_namespace(sleeper, f"mount --bind {place}/root {tmp_path}/aim")
    neighbour = in_a_mount_namespace(sleeper, "true")
    seer = in_a_mount_namespace(sleeper, f"mount -t tmpfs none {place}/root")  # as if the host had made it
    belongs = strays.inside([str(place)], os.getuid())
    assert [belongs(pid) for pid in (sandbox, neighbour, seer)] == [True, False, False]
    assert not strays.inside([str(place)], os.getuid() + 1)(sandbox)
    assert not strays.inside([f"{tmp_path}/skyrl-{os.getuid()}-9"], os.getuid())(sandbox)


def test_what_the_host_has_mounted_is_nobodys_sandbox(tmp_path: Path, sleeper: list[Child]) -> None:
    """It shows in every mount namespace."""
    place = tmp_path / f"skyrl-{os.getuid()}-{OURS}"
    (tmp_path / "aim").mkdir()
    place.mkdir()
    if subprocess.run(["mount", "--bind", place, tmp_path / "aim"], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        neighbour = in_a_mount_namespace(sleeper, "true")
        assert not strays.inside([str(place)], os.getuid())(neighbour)
    finally:
        subprocess.run(["umount", tmp_path / "aim"], check=True)


def test_directories_go_whatever_is_in_them(tmp_path: Path) -> None:
    place = tmp_path / f"skyrl-{os.getuid()}-{OURS}"
    (place / "read-only" / "below").mkdir(parents=True)
    (place / "read-only" / "below" / "file").touch()
    (place / "read-only" / "below").chmod(0o500)
    (place / "read-only").chmod(0o000)
    kept = tmp_path / f"skyrl-{os.getuid()}-{OTHER}"
    kept.mkdir(mode=0o500)
    (place / "link").symlink_to(kept)
    done = leftovers.of_dead_job(OURS, os.getuid(), [str(tmp_path)])
    assert (done.directories, done.troubles) == ([str(place)], [])
    assert kept.stat().st_mode & 0o777 == 0o500
    assert leftovers.of_dead_job(OURS, os.getuid(), [str(tmp_path)]) == leftovers.Cleared()


def test_a_link_and_a_directory_of_another_user_stay(tmp_path: Path) -> None:
    aim = tmp_path / "aim"
    aim.mkdir()
    (tmp_path / f"skyrl-{os.getuid()}-{OURS}").symlink_to(aim)
    foreign = tmp_path / f"skyrl-{os.getuid() + 1}-{OURS}"
    foreign.mkdir()
    for uid in (os.getuid(), os.getuid() + 1):
        assert leftovers.of_dead_job(OURS, uid, [str(tmp_path)]).directories == []
    assert aim.exists()
    assert foreign.exists()


def test_mount_points_are_found_below_the_directories_alone() -> None:
    table = (
        "22 1 0:20 / / rw - ext4 /dev/a rw\n"
        "30 22 0:21 / /tmp/skyrl-1-7/a rw - tmpfs t rw\n"
        "31 30 0:22 / /tmp/skyrl-1-7/a/b\\040c rw - tmpfs t rw\n"
        "32 22 0:23 / /tmp/skyrl-1-77 rw - tmpfs t rw\n"
        "damaged\n"
    )
    assert leftovers.mounts_below(["/tmp/skyrl-1-7"], table) == ["/tmp/skyrl-1-7/a/b c", "/tmp/skyrl-1-7/a"]


def test_sweep_tells_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str], sleeper: list[Child]) -> None:
    pid = sleeps(sleeper, SLURM_JOB_ID=OURS)
    place = tmp_path / f"skyrl-{os.getuid()}-{OURS}"
    place.mkdir()
    assert dispatch(["sweep", OURS, "--over", "--base", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"ended 1 process: {pid}\nremoved {place}\n"
    assert dispatch(["sweep", OURS, "--over", "--base", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["*"], "'*' is not a job id"),
        ([OURS, "--base", "tmp"], "expected absolute paths"),
        ([OURS], f"job {OURS} is RUNNING; expected a finished job"),
        (
            [OTHER],
            f"cannot find out whether job {OTHER} has finished: scontrol refused: it hangs; pass --over if it has",
        ),
    ],
    ids=["no id", "a relative base", "it runs", "nobody answers"],
)
def test_sweep_refuses(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scontrol = tmp_path / "scontrol"
    answers = f"case $4 in {OURS}) echo JobState=RUNNING;; *) echo it hangs >&2; exit 1;; esac"
    scontrol.write_text(f"#!/bin/sh\n{answers}\n")
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert dispatch(["sweep", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.fixture
def pointed(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """The job's directory on the node, and its store elsewhere, which the directory names."""
    own, store = Path(f"/tmp/skyrl-{os.getuid()}-{OURS}"), tmp_path / "stores" / f"skyrl-{os.getuid()}-{OURS}"
    (store / "podman" / "graph").mkdir(parents=True)
    own.mkdir(mode=0o700)
    (own / "store_base").write_text(f"{store.parent}\n")
    yield own, store
    subprocess.run(["rm", "-rf", str(own)], check=True)


def test_a_store_elsewhere_is_removed_with_the_job(pointed: tuple[Path, Path]) -> None:
    own, store = pointed
    (store.parent / "another").mkdir()
    done = leftovers.of_dead_job(OURS, os.getuid())
    assert (done.directories, done.troubles) == ([str(store), str(own)], [])
    assert [path.name for path in store.parent.iterdir()] == ["another"]


def test_the_end_of_the_job_removes_it_too(pointed: tuple[Path, Path]) -> None:
    own, store = pointed
    assert leftovers.of_this_job({"SLURM_JOB_ID": OURS}) == []
    assert (own.exists(), store.exists()) == (False, False)


def test_a_store_that_cannot_be_removed_can_still_be_found(
    pointed: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, store = pointed
    removed = leftovers.remove
    monkeypatch.setattr(
        leftovers, "remove", lambda path, uid: "it is busy" if path == str(store) else removed(path, uid=uid)
    )
    assert leftovers.of_dead_job(OURS, os.getuid()).troubles == ["it is busy"]
    assert (own / "store_base").exists()


@pytest.mark.parametrize("text", ["", "\n", "relative\n", "{stores}/../stores\n", "{link}\n", "\0\n", "x" * 9000])
def test_a_pointer_that_is_not_plain_names_nothing(pointed: tuple[Path, Path], tmp_path: Path, text: str) -> None:
    own, store = pointed
    (tmp_path / "link").symlink_to(store.parent)
    (own / "store_base").write_text(text.format(stores=store.parent, link=tmp_path / "link"))
    assert leftovers.stores_elsewhere(str(own), os.getuid()) == []
    assert leftovers.stores_elsewhere(str(own), os.getuid() + 1) == []


def test_a_pointer_that_is_a_link_or_a_pipe_is_not_read(pointed: tuple[Path, Path], tmp_path: Path) -> None:
    own, store = pointed
    (tmp_path / "text").write_text(f"{store.parent}\n")
    (own / "store_base").unlink()
    (own / "store_base").symlink_to(tmp_path / "text")
    assert leftovers.stores_elsewhere(str(own), os.getuid()) == []
    (own / "store_base").unlink()
    os.mkfifo(own / "store_base")
    assert leftovers.stores_elsewhere(str(own), os.getuid()) == []
