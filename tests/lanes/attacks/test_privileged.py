"""What users can do to what root runs on a node: the sweep of the Epilog, and the names that the TaskProlog needs.

Each attack is tried for real, by two users made for it. They need root, not Podman.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lanes.attacks.users import User, attacker, base, victim
from skyrl_train.cli.app import dispatch
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import leftovers
from skyrl_train.launch.tree_removal import Mount, mounts, remove_tree, unmount
from skyrl_train.node import apply as node_apply
from skyrl_train.node.settings import Directory, Preparation, Setting, TextFile

__all__ = ["attacker", "base", "victim"]
pytestmark = [
    pytest.mark.attacks,
    pytest.mark.skipif(os.getuid() != 0 or not shutil.which("useradd"), reason="needs root, to make two users"),
]
JOB = f"98{os.getpid():08}"


@pytest.fixture
def precious(base: Path) -> Path:
    """Root's directory with a file that must survive."""
    place = base / "precious"
    (place / "below").mkdir(parents=True)
    (place / "below" / "file").write_text("kept")
    return place


def place_of(base: Path, user: User) -> Path:
    return base / f"skyrl-{user.uid}-{JOB}"


def sweep(base: Path, user: User) -> leftovers.Cleared:
    return leftovers.of_dead_job(JOB, user.uid, [str(base)])


def kept(precious: Path) -> bool:
    return (precious / "below" / "file").read_text() == "kept"


def mount(words: str) -> None:
    if subprocess.run(["mount", *words.split()], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")


def mount_at(point: Path) -> Mount:
    return next(one for one in mounts(Path("/proc/self/mountinfo").read_text()) if one.point == str(point))


def test_a_link_instead_of_the_directory(base: Path, precious: Path, attacker: User) -> None:
    attacker.run(f"ln -s {precious} {place_of(base, attacker)}")
    sweep(base, attacker)
    assert kept(precious)


def test_a_link_in_the_directory(base: Path, precious: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    attacker.run(f"mkdir -p {place}/a; ln -s {precious} {place}/a/l; ln -s {precious}/below/file {place}/f")
    assert sweep(base, attacker).directories == [str(place)]
    assert kept(precious)


def test_a_directory_swapped_for_a_link_while_it_is_removed(base: Path, precious: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    swap = f"mkdir -p {place}/d; while :; do mkdir -p {place}/d/e; mv {place}/d {place}/o; ln -s {precious} {place}/d; rm {place}/d; mv {place}/o {place}/d; mkdir -p {place}; done"
    child = attacker.start("sh", "-c", swap)
    try:
        for _ in range(50):
            remove_tree(str(place), attacker.uid)
    finally:
        child.kill()
        child.wait()
    assert kept(precious)


def test_a_parent_swapped_for_a_link_before_an_unmount(base: Path, precious: Path, attacker: User) -> None:
    mount(f"-t tmpfs none {precious}")
    (precious / "below").mkdir()
    (precious / "below" / "file").write_text("kept")
    place = place_of(base, attacker)
    attacker.run(f"mkdir {place}; ln -s {base} {place}/up")
    seen = Mount(mount_at(precious).number, f"{place}/up/precious", "fuse", f"user_id={attacker.uid}")
    assert not unmount(seen, attacker.uid)
    assert kept(precious)


def test_another_mount_at_the_place_that_was_seen(base: Path, precious: Path, attacker: User) -> None:
    mount(f"-t tmpfs none {precious}")
    (precious / "below").mkdir()
    (precious / "below" / "file").write_text("kept")
    seen = Mount(mount_at(precious).number + 10_000, str(precious), "fuse", f"user_id={attacker.uid}")
    assert not unmount(seen, attacker.uid)
    assert kept(precious)


def test_the_mount_that_was_meant_is_unmounted(base: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    attacker.run(f"mkdir -p {place}/m")
    mount(f"-t tmpfs none {place}/m")
    seen = mount_at(place / "m")
    assert unmount(seen._replace(kind="fuse.x", options=f"rw,user_id={attacker.uid}"), attacker.uid)
    assert not os.path.ismount(place / "m")


def test_a_mount_of_root_below_a_directory_that_the_user_renames(base: Path, attacker: User) -> None:
    attacker.run(f"mkdir -p {base}/mine/disk")
    mount(f"-t tmpfs none {base}/mine/disk")
    (base / "mine/disk/file").write_text("kept")
    attacker.run(f"mv {base}/mine {place_of(base, attacker)}")
    done = sweep(base, attacker)
    assert (done.mounts, len(done.troubles)) == ([], 1)
    assert (place_of(base, attacker) / "disk/file").read_text() == "kept"


def test_a_mount_that_arrives_after_the_look_at_the_mounts(base: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    attacker.run(f"mkdir -p {place}/disk")
    mount(f"-t tmpfs none {place}/disk")
    (place / "disk/file").write_text("kept")
    assert not remove_tree(str(place), attacker.uid)
    assert (place / "disk/file").read_text() == "kept"


def test_a_bind_mount_of_the_same_disk(base: Path, precious: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    attacker.run(f"mkdir -p {place}/b")
    mount(f"--bind {precious} {place}/b")
    sweep(base, attacker)
    remove_tree(str(place), attacker.uid)
    assert kept(precious)


def test_a_fuse_mount_of_another_user(base: Path, precious: Path, attacker: User, victim: User) -> None:
    mount(f"-t tmpfs none {precious}")
    seen = mount_at(precious)._replace(kind="fuse.sshfs", options=f"user_id={victim.uid}")
    assert not unmount(seen, attacker.uid)
    assert os.path.ismount(precious)


def test_the_directory_of_another_user(base: Path, attacker: User, victim: User) -> None:
    victim.run(f"mkdir {place_of(base, attacker)}; touch {place_of(base, attacker)}/file")
    assert sweep(base, attacker).directories == []
    assert (place_of(base, attacker) / "file").exists()


def test_a_directory_whose_name_begins_like_that_of_another_job(base: Path, attacker: User, victim: User) -> None:
    victim.run(f"mkdir {place_of(base, attacker)}.x {place_of(base, victim)}")
    assert sweep(base, attacker).directories == []
    assert place_of(base, victim).is_dir()


def test_a_file_instead_of_the_directory(base: Path, attacker: User) -> None:
    attacker.run(f"touch {place_of(base, attacker)}")
    assert sweep(base, attacker).troubles == []


def test_a_hard_link_to_a_file_of_root(base: Path, precious: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    attacker.run(f"mkdir {place}")
    os.link(precious / "below" / "file", place / "h")
    sweep(base, attacker)
    assert kept(precious)


def test_a_fifo_that_nobody_writes(base: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    attacker.run(f"mkdir {place}; mkfifo {place}/p {place}/d; chmod 0 {place}")
    assert sweep(base, attacker).directories == [str(place)]


def test_directories_that_are_too_deep(base: Path, attacker: User) -> None:
    place = place_of(base, attacker)
    attacker.run(f"mkdir {place}; cd {place}; i=0; while [ $i -lt 600 ]; do mkdir d; cd d; i=$((i+1)); done")
    assert len(sweep(base, attacker).troubles) == 1


def test_a_job_id_that_is_a_path(base: Path, precious: Path, attacker: User) -> None:
    for job in ("../precious", "*", "", "1/../../x", "\u0661"):
        with pytest.raises(ValueError, match="not a job id"):
            leftovers.of_dead_job(job, attacker.uid, [str(base)])
    assert kept(precious)


def test_a_process_of_another_user_with_the_number_of_the_job(base: Path, attacker: User, victim: User) -> None:
    child = victim.start("sleep", "60", SLURM_JOB_ID=JOB, XDG_RUNTIME_DIR=f"{place_of(base, attacker)}/x")
    try:
        assert sweep(base, attacker).processes == []
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_a_user_sweeps_for_another(victim: User) -> None:
    child = os.fork()
    if child == 0:
        os.setresuid(victim.uid + 1, victim.uid + 1, victim.uid + 1)
        try:
            os._exit(dispatch(["sweep", JOB, "--over", "--uid", str(victim.uid)]))
        except UsageError:
            os._exit(2)
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2


def test_modules_in_the_working_directory(base: Path, attacker: User) -> None:
    attacker.run(
        f'for name in json argparse site glob shutil; do echo \'open("{base}/ran", "w")\' >{base}/$name.py; done'
    )
    program = Path(sys.executable).with_name("skyrl-train")
    words = [str(program), "sweep", JOB, "--over", "--uid", str(attacker.uid), "--base", str(base)]
    subprocess.run(words, cwd=base, check=True, timeout=60, env={"PATH": os.defpath})
    assert not (base / "ran").exists()


def settings_for(base: Path, user: User) -> Preparation:
    place = place_of(base, user)
    return Preparation(
        settings=(
            Setting(name="X", value=f"{place}/x", cures="", why=""),
            Setting(name="Y", value="1", cures="", why=""),
        ),
        directories=(Directory(path=f"{place}/x"),),
        files=(TextFile(path=f"{place}/x/f", text=f"path={place}/y"),),
    )


def moved_as(user: User, base: Path) -> Preparation:
    """What the TaskProlog makes of the settings, as this user."""
    os.setegid(user.uid)
    os.seteuid(user.uid)
    real, node_apply.os.getuid = os.getuid, os.geteuid
    try:
        preparation = node_apply.moved(settings_for(base, user))
        node_apply.apply(preparation)
    finally:
        node_apply.os.getuid = real
        os.seteuid(0)
        os.setegid(0)
    return preparation


@pytest.mark.parametrize(
    "taken",
    ["mkdir {place}", "ln -s /etc {place}", "touch {place}", "mkdir {place}; mkdir {place}.x; chmod 777 {place}.x"],
)
def test_a_name_that_another_user_took_costs_no_setting(base: Path, attacker: User, victim: User, taken: str) -> None:
    place = place_of(base, victim)
    attacker.run(taken.format(place=place))
    first = moved_as(victim, base)
    value = first.settings[0].value or ""
    assert value.startswith(f"{place}.")
    assert (os.stat(value).st_uid, os.stat(value).st_mode & 0o777) == (victim.uid, 0o700)
    assert Path(value, "f").read_text() == f"path={os.path.dirname(value)}/y"
    assert moved_as(victim, base) == first
    assert sweep(base, victim).directories == [os.path.dirname(value)]


def test_the_path_is_a_link_when_it_is_opened(base: Path, attacker: User) -> None:
    attacker.run(f"mkdir {base}/own; touch {base}/own/file; ln -s own {place_of(base, attacker)}")
    assert not remove_tree(str(place_of(base, attacker)), attacker.uid)
    assert (base / "own/file").exists()


def test_the_path_is_of_another_user_when_it_is_opened(base: Path, attacker: User, victim: User) -> None:
    victim.run(f"mkdir {place_of(base, attacker)}; touch {place_of(base, attacker)}/file")
    assert not remove_tree(str(place_of(base, attacker)), attacker.uid)
    assert (place_of(base, attacker) / "file").exists()
