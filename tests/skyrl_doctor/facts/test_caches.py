"""Where the caches lie, on a real file system."""

from pathlib import Path

from skyrl_doctor.facts.caches import Caches, caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.mounts import Mount, Mounts
from skyrl_doctor.machine.local import LocalMachine

ROOT = Mount("/", "ext4", "/dev/sda", ("rw",))


def look(home: Path, *mounts: Mount, **environ: str) -> Caches:
    variables = {"HOME": str(home), **environ}
    host = Host(name="n", user="me", uid=7, gid=7, pid=1, cpus=1, system="Linux", python="/p", cwd=str(home), now=0.0)
    found = caches(LocalMachine(variables), Environ(variables), host, Mounts((ROOT, *mounts)))
    assert isinstance(found, Caches)
    return found


def test_a_link_into_a_network_file_system_is_followed(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    (home / "shared").mkdir()
    (home / ".triton").symlink_to("shared")
    nfs = Mount(f"{home}/shared", "nfs4", "filer:/x", ("rw",))
    triton = look(home, nfs).of("Triton")
    assert (triton.path, triton.resolved) == (f"{home}/.triton/cache", f"{home}/shared/cache")
    assert triton.remote == (
        f"{home}/.triton/cache (a symbolic link to {home}/shared/cache) is on nfs4 ({home}/shared)"
    )
    assert not triton.fit


def test_a_relative_path_is_taken_from_the_working_directory(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    assert look(home, TRITON_CACHE_DIR="cache").of("Triton").path == f"{home}/cache"
    assert look(home, TRITON_CACHE_DIR="~/cache").of("Triton").path == f"{home}/~/cache"
    assert look(home, VLLM_CACHE_ROOT="~/cache").of("vLLM").path == f"{home}/cache"


def test_a_file_in_the_way_is_trouble(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    (home / ".triton").write_text("")
    assert look(home).of("Triton").broken == (
        f"{home}/.triton/cache cannot be used: {home}/.triton is a file, not a directory"
    )


def test_an_automounter_tells_nothing(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    triton = look(home, Mount(str(home), "autofs", "auto.home", ())).of("Triton")
    assert triton.unreadable == f"{home}/.triton/cache: the mount table does not name its file system"
    assert not triton.fit


def test_unfit_names_the_paths_as_the_trainers_rule_does(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    found = look(
        home, Mount("/tmp", "tmpfs", "t", ("noexec",)), TRITON_CACHE_DIR="", TMPDIR="/tmp/", VLLM_CACHE_ROOT="/tmp/v"
    )
    assert set(found.unfit) >= {"", "/tmp", "/tmp/v", "/tmp/torchinductor_me"}
