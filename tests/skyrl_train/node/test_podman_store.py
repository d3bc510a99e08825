"""The store of a job."""

import tomllib

import pytest

from skyrl_train.node.podman_store import (
    belongs_to_job,
    job_directory,
    job_store,
    kernel_has_rootless_overlay,
    storage_conf_text,
    store_pointer,
)
from skyrl_train.node.settings import Directory, Preparation, Setting, TextFile

OWN = "/tmp/skyrl-1000-4711/podman"
STORAGE = f"""[storage]
driver = "overlay"
graphroot = "{OWN}/graph"
rootless_storage_path = "{OWN}/graph"
runroot = "{OWN}/run/containers"
"""
ENGINE = '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nlock_type = "file"\n'


def test_a_job_has_a_store_of_its_own() -> None:
    assert job_store(uid=1000, job_id="4711") == Preparation(
        settings=(
            Setting(
                name="XDG_RUNTIME_DIR", value=f"{OWN}/run", cures="POD001", why="the pause process belongs to this job"
            ),
            Setting(
                name="XDG_DATA_HOME",
                value=f"{OWN}/data",
                cures="POD002",
                why="the data is never in a shared home directory",
            ),
            Setting(
                name="XDG_CONFIG_HOME", value=f"{OWN}/config", cures="POD002", why="the networks belong to this job"
            ),
            Setting(
                name="CONTAINERS_CONF", value=f"{OWN}/containers.conf", cures="POD005", why="the job has its own locks"
            ),
            Setting(
                name="CONTAINERS_STORAGE_CONF",
                value=f"{OWN}/storage.conf",
                cures="POD006",
                why="the job has a new store",
            ),
        ),
        directories=tuple(
            Directory(path=path)
            for path in (
                "/tmp/skyrl-1000-4711",
                OWN,
                f"{OWN}/run",
                f"{OWN}/data",
                f"{OWN}/config",
                f"{OWN}/graph",
            )
        ),
        files=(
            TextFile(path=f"{OWN}/storage.conf", text=STORAGE),
            TextFile(path=f"{OWN}/containers.conf", text=ENGINE),
        ),
    )


def test_two_jobs_share_nothing() -> None:
    first, second = (job_store(uid=1000, job_id=job_id) for job_id in ("1", "11"))
    shared = {setting.value for setting in first.settings} & {setting.value for setting in second.settings}
    assert shared == set()
    assert job_directory(uid=7, job_id=None, base="/scratch/") == "/scratch/skyrl-7-local/podman"


def test_what_the_user_had_goes_along() -> None:
    found = job_store(
        uid=1000,
        job_id="1",
        mount_program="/usr/bin/fuse-overlayfs",
        additional_image_stores=["/shared/images"],
        site_conf=['[engine]\nruntime = "runc"\n'],
        auth_file="/home/me/auth.json",
    )
    assert found.settings[-1] == Setting(
        name="REGISTRY_AUTH_FILE", value="/home/me/auth.json", cures="IMG009", why="keeps the registry logins"
    )
    storage, engine = (tomllib.loads(file.text) for file in found.files)
    assert storage["storage"]["options"] == {
        "additionalimagestores": ["/shared/images"],
        "overlay": {"mount_program": "/usr/bin/fuse-overlayfs"},
    }
    assert engine["engine"]["runtime"] == "runc"


def test_a_path_with_any_letter_stays_one_text() -> None:
    assert tomllib.loads(storage_conf_text('/a"b\\c é', "/r"))["storage"]["graphroot"] == '/a"b\\c é'


@pytest.mark.parametrize(
    ("release", "has"),
    [
        ("5.11.0", True),
        ("5.10.0-8-amd64", False),
        ("6.18.44-fc", True),
        ("4.18.0-348.el8.x86_64", True),
        ("4.18.0-305.el8.x86_64", False),
        ("4.18.0-553.16.1.el8_10.x86_64", True),
        ("3.10.0-1160.el7.x86_64", False),
        ("", None),
        ("unknown", None),
    ],
)
def test_which_kernels_mount_overlay_for_users(release: str, has: bool | None) -> None:
    assert kernel_has_rootless_overlay(release) is has


@pytest.mark.parametrize(
    ("path", "belongs"),
    [
        ("/tmp/podman-me-4711", True),
        ("/scratch/4711/graph", True),
        ("/scratch/job4711/graph", True),
        ("/tmp/14711", False),
        ("/tmp/47110/x", False),
        ("/tmp/a4711/x", False),
        ("/tmp/4711a", False),
    ],
)
def test_a_store_belongs_to_the_job_whose_number_it_bears(path: str, belongs: bool) -> None:
    assert belongs_to_job(path, "4711") is belongs


def test_a_store_elsewhere_is_named_in_the_jobs_directory_on_the_node() -> None:
    assert store_pointer(uid=1000, job_id="77", base="/tmp/") == Preparation()
    assert store_pointer(uid=1000, job_id="77", base="/scratch") == Preparation(
        directories=(Directory(path="/tmp/skyrl-1000-77"),),
        files=(TextFile(path="/tmp/skyrl-1000-77/store_base", text="/scratch\n"),),
    )
