"""POD002 and the search for the store against real podman: what it says of itself, and stores that were moved."""

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lanes.podman.conftest import JOB_ID, NewLab, load
from lanes.podman.lab import Lab
from skyrl_doctor.core.model import Outcome, Severity, Status
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.podman.program import podman
from skyrl_doctor.facts.podman.store import Places, PodmanStore, podman_store
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.podman_store import job_directory

pytestmark = pytest.mark.podman
CLEAN = Outcome(id="POD002", slug="storage-stale-or-on-nfs", status=Status.PASS)
ISOLATE = ('eval "$(skyrl-doctor env --shell)"',)


def seen(lab: Lab) -> PodmanStore:
    def look() -> PodmanStore:
        machine = LocalMachine(lab.env)
        return podman_store(machine, podman(machine, Plan(), Roles(frozenset(), asked=False)))

    found = lab.child(look)
    assert isinstance(found, PodmanStore)
    return found


def said(lab: Lab) -> dict[str, str]:
    """What podman itself says; it makes the store while it is at it."""
    done = lab.podman("info", "--format", "json")
    assert done.returncode == 0, done.stdout
    store = json.loads(done.stdout[done.stdout.index("{") :])["store"]
    return {"graph": store["graphRoot"], "run": store["runRoot"], "driver": store["graphDriverName"]}


def as_podman_says(places: Places) -> dict[str, str]:
    return {"graph": places.graph_root, "run": places.run_root, "driver": places.driver}


def conf(lab: Lab, path: str, *lines: str) -> None:
    file = lab.base / path
    file.parent.mkdir(parents=True, exist_ok=True)
    for directory in file.relative_to(lab.base).parents:
        os.chown(lab.base / directory, lab.user.uid, lab.user.gid)
    file.write_text("\n".join(['[storage]\ndriver = "overlay"', *lines]).replace("BASE", str(lab.base)) + "\n")


VARIANTS: dict[str, tuple[str, tuple[str, ...], Mapping[str, str | None]]] = {
    "the variable's file, rootless_storage_path": (
        "storage.conf",
        ('rootless_storage_path = "BASE/own/$UID/${USER}"', 'runroot = "BASE/never"', 'graphroot = "BASE/never"'),
        {"USER": "somebody"},
    ),
    "the variable's file, graphroot alone": ("storage.conf", ('graphroot = "BASE/other"',), {}),
    "the user's file": (
        "home/.config/containers/storage.conf",
        ('graphroot = "BASE/mine"', 'runroot = "BASE/myrun"', 'rootless_storage_path = "BASE/never"'),
        {"CONTAINERS_STORAGE_CONF": None, "XDG_CONFIG_HOME": None},
    ),
    "the user's file, rootless_storage_path": (
        "config/containers/storage.conf",
        ('rootless_storage_path = "$HOME/mine"',),
        {"CONTAINERS_STORAGE_CONF": None},
    ),
    "the user's file, no place": ("config/containers/storage.conf", (), {"CONTAINERS_STORAGE_CONF": None}),
    "no XDG_DATA_HOME": (
        "config/containers/storage.conf",
        (),
        {"CONTAINERS_STORAGE_CONF": None, "XDG_DATA_HOME": None},
    ),
    "an empty XDG_RUNTIME_DIR": ("storage.conf", (), {"XDG_RUNTIME_DIR": "", "TMPDIR": "BASE/data"}),
    "no XDG_RUNTIME_DIR": ("storage.conf", (), {"XDG_RUNTIME_DIR": None, "TMPDIR": "BASE/data"}),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_finds_the_store_where_podman_has_it(stocked: NewLab, name: str) -> None:
    """Before the store is made, and after."""
    lab = stocked()
    path, lines, changes = VARIANTS[name]
    conf(lab, path, *lines)
    changes = {name: value and value.replace("BASE", str(lab.base)) for name, value in changes.items()}
    lab.kill_all()
    other = lab.but(**changes)
    before = seen(other)
    truth = said(other)
    after = seen(other)
    lab.ends.append(lambda: end_strays(lab, after.pause_file))
    assert as_podman_says(before.places) == truth
    assert as_podman_says(after.places) == truth
    assert (Path(after.pause_file).exists(), Path(after.places.tmp_dir, "alive").exists()) == (True, True)
    assert Path(after.database.path).exists()


def end_strays(lab: Lab, pause_file: str) -> None:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
        os.kill(int(Path(pause_file).read_text()), 9)


def messages(outcome: Outcome) -> list[tuple[str, Severity]]:
    return [(finding.message, finding.severity) for finding in outcome.findings]


@pytest.fixture
def private(lab: Lab, lane_user: object) -> Iterator[Lab]:
    """The lab in a job whose own store `isolate` makes, and which is taken away again."""
    mine = lab.but(SLURM_JOB_ID=JOB_ID)
    yield mine
    own = Path(job_directory(uid=lab.user.uid, job_id=JOB_ID))
    isolated = isolate(mine)
    isolated.kill_all()
    shutil.rmtree(own.parent, ignore_errors=True)


def isolate(lab: Lab) -> Lab:
    """What `eval "$(skyrl-doctor env --shell)"` does, for the runtime node's role."""
    script = lab.command_line("env", "--role", "runtime", "--shell") + "env -0\n"
    done = lab.run(["bash", "-c", script])
    assert done.returncode == 0, done.stdout
    env = dict(pair.split("=", 1) for pair in done.stdout.split("\0") if "=" in pair)
    return lab.but(**env)


def store_of(lab: Lab) -> dict[str, object]:
    return {path: found for path, found in lab.listing().items() if path.startswith((str(lab.graph), str(lab.xdg)))}


def test_a_store_of_the_job_is_one_of_its_own(private: Lab, image_archive: Path) -> None:
    """The cure, whatever the store before: containers run in it, no lock is shared, nothing of the old one changes."""
    before = store_of(private)
    mine = isolate(private)
    load(mine, image_archive)
    segment = Path(f"/dev/shm/libpod_rootless_lock_{private.user.uid}")
    segment.unlink(missing_ok=True)
    assert mine.sandbox().returncode == 0
    mine.detached("one")
    assert not segment.exists()  # nor does the process that cleans up after a container make one
    own = job_directory(uid=private.user.uid, job_id=JOB_ID)
    places = seen(mine).places
    assert places == Places(
        graph_root=f"{own}/graph",
        run_root=f"{own}/run/containers",
        tmp_dir=f"{own}/run/libpod/tmp",
        static_dir=f"{own}/graph/libpod",
        driver="overlay",
    )
    assert os.listdir(f"{places.tmp_dir}/locks")
    assert as_podman_says(places) == said(mine)
    assert store_of(private) == before
    for check_id in ("POD001", "POD002", "POD005", "POD006", "POD007", "POD008"):
        assert mine.doctor(check_id).findings == ()


def test_a_store_that_was_moved_is_found_and_isolation_heals(private: Lab, image_archive: Path) -> None:
    private.kill_all()
    old, new = private.graph, private.base / "elsewhere"
    old.rename(new)
    private.storage_conf.write_text(private.storage_conf.read_text().replace(str(old), str(new)))
    found = private.doctor("POD002")
    seen_moved = f"the store in {new} was created in {old}, and Podman still uses that directory"
    assert messages(found) == [(f"{seen_moved}; expected a store that was not moved", Severity.ERROR)]
    assert private.sandbox().returncode == 125
    assert [finding.remedy.commands for finding in found.findings if finding.remedy] == [ISOLATE]
    mine = isolate(private)
    load(mine, image_archive)
    assert (mine.sandbox().returncode, mine.doctor("POD002")) == (0, CLEAN)


def test_another_xdg_runtime_dir_alone_isolates_nothing(private: Lab) -> None:
    second = private.base / "xdg2"
    second.mkdir(mode=0o700)
    os.chown(second, private.user.uid, private.user.gid)
    other = private.but(XDG_RUNTIME_DIR=str(second))
    pinned = f"the store was created with the run root {private.xdg}/containers, which Podman still uses"
    assert messages(other.doctor("POD002")) == [(f"{pinned}; expected {second}/containers", Severity.WARNING)]
    assert said(other)["run"] == f"{private.xdg}/containers"


def test_an_xdg_runtime_dir_that_cannot_be_made_again_is_an_error(private: Lab) -> None:
    """The store was made on another node, or by a job whose directory is gone."""
    private.kill_all()
    gone, second = private.xdg, private.base / "xdg2"
    gone.rename(second)
    os.chmod(private.base, 0o755)
    os.chown(private.base, 0, 0)
    other = private.but(XDG_RUNTIME_DIR=str(second))
    found = other.doctor("POD002")
    refused = other.sandbox()
    os.chown(private.base, private.user.uid, private.user.gid)
    assert (refused.returncode == 0, [severity for _, severity in messages(found)]) == (False, [Severity.ERROR])


def test_another_driver_is_found(lab: Lab) -> None:
    lab.storage_conf.write_text(lab.storage_conf.read_text().replace('"overlay"', '"vfs"'))
    pinned = "the store was created with the driver 'overlay', which Podman still uses"
    assert messages(lab.doctor("POD002")) == [
        (f"{pinned}; expected 'vfs' as set by {lab.storage_conf}", Severity.WARNING)
    ]
    assert "overwritten by graph driver" in lab.podman("ps").stdout


def test_a_runtime_dir_of_somebody_else_is_found_and_podman_refuses_it(lab: Lab) -> None:
    if lab.user.is_self:
        pytest.skip("needs root, to make a directory of another user")
    foreign = lab.base / "foreign"
    foreign.mkdir(mode=0o755)
    other = lab.but(XDG_RUNTIME_DIR=str(foreign))
    assert messages(other.doctor("POD002"))[0][1] is Severity.ERROR
    assert other.sandbox().returncode != 0


def test_dead_containers_of_earlier_jobs_are_found_and_isolation_heals(private: Lab) -> None:
    private.detached("earlier", "true")
    private.podman("wait", "earlier")
    private.detached("alive")
    later = private.but(SLURM_JOB_START_TIME=str(int(time.time()) + 100))
    seen_old = "the store has 1 dead containers that are older than this job, such as 'earlier'; expected none"
    assert messages(later.doctor("POD002")) == [(seen_old, Severity.WARNING)]
    assert isolate(later).doctor("POD002") == CLEAN


def test_a_full_disk_is_found_and_space_heals(stocked: NewLab, image_archive: Path) -> None:
    lab = stocked()
    if lab.user.is_self:
        pytest.skip("needs root, to mount a small file system")
    small = lab.base / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=777", "tmpfs", small], check=True)
    lab.ends.append(lambda: subprocess.run(["umount", "-l", small], check=False))
    lab.kill_all()
    conf(lab, "storage.conf", 'graphroot = "BASE/small/graph"', 'rootless_storage_path = "BASE/small/graph"')
    load(lab, image_archive)
    subprocess.run(["dd", "if=/dev/zero", f"of={small}/filler", "bs=64k"], check=False, capture_output=True)
    (found, severity), *_ = messages(lab.doctor("POD002"))
    assert (found, severity) == (
        f"0.0 GiB are free for the store {small}/graph; expected 5 GiB, because one sandbox image has 1-5 GiB",
        Severity.ERROR,
    )
    refused = lab.sandbox()
    assert (refused.returncode != 0, "no space left on device" in refused.stdout) == (True, True)
    (small / "filler").unlink()
    assert lab.sandbox().returncode == 0
