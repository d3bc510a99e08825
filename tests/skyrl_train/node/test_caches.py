"""Where caches lie, and the cure for bad places."""

import pytest

from skyrl_train.node.caches import Cache, cache_settings, caches, is_of_job, is_shared_by_jobs, scratch_candidates
from skyrl_train.node.settings import Directory, Preparation


def paths(**environ: str) -> dict[str, str]:
    return {cache.program: cache.path for cache in caches(environ, home="/home/me/", user="me")}


def test_the_defaults() -> None:
    assert paths() == {
        "Triton": "/home/me/.triton/cache",
        "vLLM": "/home/me/.cache/vllm",
        "Inductor": "/tmp/torchinductor_me",
        "FlashInfer": "/home/me/.cache/flashinfer",
    }


def test_each_programs_own_variables() -> None:
    assert paths(
        TRITON_HOME="/th", XDG_CACHE_HOME="/xdg", TMPDIR="/t", LOGNAME="a:b", FLASHINFER_WORKSPACE_BASE="/f"
    ) == {
        "Triton": "/th/.triton/cache",
        "vLLM": "/xdg/vllm",
        "Inductor": "/t/torchinductor_a_b",
        "FlashInfer": "/f/.cache/flashinfer",
    }
    assert paths(TRITON_CACHE_DIR="/tc", TRITON_HOME="/th", VLLM_CACHE_ROOT="~/v", TORCHINDUCTOR_CACHE_DIR="~/i") == {
        "Triton": "/tc",
        "vLLM": "/home/me/v",
        "Inductor": "~/i",
        "FlashInfer": "/home/me/.cache/flashinfer",
    }


def test_set_and_empty_is_set() -> None:
    found = paths(TRITON_CACHE_DIR="", VLLM_CACHE_ROOT="", TORCHINDUCTOR_CACHE_DIR="", XDG_CACHE_HOME="", TMPDIR="")
    assert (found["Triton"], found["vLLM"], found["Inductor"]) == ("", "", "")
    assert paths(TRITON_HOME="", XDG_CACHE_HOME="")["Triton"] == ".triton/cache"
    assert {cache.path for cache in caches({}, home="", user="me")} == {
        "/.triton/cache",
        "/.cache/vllm",
        "/tmp/torchinductor_me",
        "/.cache/flashinfer",
    }


@pytest.mark.parametrize(
    ("path", "own"),
    [("/t/4711/x", True), ("/t/job-4711", True), ("/t/47110", False), ("/t/14711/x", False), ("/t", False)],
)
def test_a_path_of_this_job(path: str, own: bool) -> None:
    assert is_of_job(path, "4711") == own


def test_sharing_is_a_matter_of_jobs() -> None:
    cache = Cache(program="vLLM", variable="V", decided_by="V", path="/x", frail=True)
    sturdy = Cache(program="Triton", variable="T", decided_by="T", path="/x")
    assert [is_shared_by_jobs(cache, job) for job in ("1", None, "")] == [True, False, False]
    assert not is_shared_by_jobs(sturdy, "1")


def test_scratch_is_the_jobs_own_first() -> None:
    assert scratch_candidates({"SLURM_TMPDIR": "/st/", "TMPDIR": "/t"}) == ("/st", "/t", "/tmp")
    assert scratch_candidates({"TMPDIR": "relative", "SLURM_TMPDIR": "/"}) == ("/tmp",)


def prepared(*unfit: str, job_id: str | None = "31", **environ: str) -> Preparation:
    return cache_settings(environ, home="/home/me", user="me", uid=7, job_id=job_id, unfit=unfit)


def values(preparation: Preparation) -> dict[str, str | None]:
    return {setting.name: setting.value for setting in preparation.settings}


def test_caches_in_unfit_places_move_into_a_directory_of_the_job() -> None:
    moved = prepared(
        "/home/me/.triton/cache", "/home/me/.cache/vllm", "/t", TMPDIR="/t", TORCHINDUCTOR_CACHE_DIR="/i/31"
    )
    assert values(moved) == {"TRITON_CACHE_DIR": "/tmp/skyrl-7-31/triton", "VLLM_CACHE_ROOT": "/tmp/skyrl-7-31/vllm"}
    assert moved.directories == (
        Directory(path="/tmp/skyrl-7-31"),
        Directory(path="/tmp/skyrl-7-31/triton"),
        Directory(path="/tmp/skyrl-7-31/vllm"),
    )
    assert [(setting.name, setting.cures) for setting in moved.settings] == [
        ("TRITON_CACHE_DIR", "ENV002"),
        ("VLLM_CACHE_ROOT", "ENV010"),
    ]


def test_in_a_job_frail_caches_become_its_own_and_settling_twice_changes_nothing() -> None:
    first = values(prepared())
    assert first == {
        "VLLM_CACHE_ROOT": "/tmp/skyrl-7-31/vllm",
        "TORCHINDUCTOR_CACHE_DIR": "/tmp/skyrl-7-31/inductor",
    }
    assert prepared(**{name: value or "" for name, value in first.items()}) == Preparation()
    assert prepared(job_id=None) == Preparation()


def test_an_empty_variable_is_mended() -> None:
    assert values(prepared(job_id=None, TRITON_CACHE_DIR="")) == {"TRITON_CACHE_DIR": "/tmp/skyrl-7/triton"}


def test_nothing_moves_where_no_place_is_fit() -> None:
    assert prepared("/home/me/.triton/cache", "/t", "/tmp", TMPDIR="/t") == Preparation()
