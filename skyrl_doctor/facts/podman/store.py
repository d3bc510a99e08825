"""Where a user's store is: what the files and variables say, and what the store itself holds on to."""

import posixpath
import re
from collections.abc import Iterator, Mapping

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.database_probe import read_database
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.runtime_dir import RuntimeDir, Seen, candidates, decide
from skyrl_doctor.facts.podman.settings import (
    BrokenFile,
    EngineConf,
    StorageConf,
    merged,
    parse_containers_conf,
    parse_storage_conf,
    with_options,
)
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.paths import stat_or_none, text_or_none

STORAGE_CONF = "CONTAINERS_STORAGE_CONF"
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
SITE_STORAGE = ("/etc/containers/storage.conf", "/usr/share/containers/storage.conf")
SITE_ENGINE = ("/usr/share/containers/containers.conf", "/etc/containers/containers.conf")
ENGINE_CONF = "CONTAINERS_CONF"
ENGINE_OVERRIDE = "CONTAINERS_CONF_OVERRIDE"


@record(kw_only=True)
class Places:
    """Absolute paths; `driver` empty is one that no file names."""

    graph_root: str
    run_root: str
    tmp_dir: str
    static_dir: str
    driver: str


@record(kw_only=True)
class PodmanStore:
    """The store of this user in this environment. `configured` are the places that its files and variables name."""

    uid: int
    storage: StorageConf
    engine: EngineConf
    runtime_dir: RuntimeDir | None
    configured: Places
    database: Database
    pause_file: str
    broken: tuple[BrokenFile, ...] = ()

    @property
    def rootless(self) -> bool:
        return self.uid != 0

    @property
    def places(self) -> Places:
        """What Podman uses: the places that its database was made with come before those that are configured."""
        said, asked = self.database, self.configured
        return Places(
            graph_root=said.graph_root or asked.graph_root,
            run_root=said.run_root or asked.run_root,
            tmp_dir=said.tmp_dir or asked.tmp_dir,
            static_dir=asked.static_dir,
            driver=said.driver or asked.driver,
        )

    def require_readable(self) -> None:
        """For those who need to know where the store is."""
        if self.broken:
            first = self.broken[0]
            raise CouldNotLook(f"where the store is stays unknown: {first.path}: {first.why} (POD006)")


def expand(path: str, environ: Mapping[str, str], uid: int) -> str:
    """$UID, $HOME, ${USER} and the like, as storage.conf(5) allows them; an unset variable is empty."""
    named = path.replace("$UID", str(uid))
    expanded = _VARIABLE.sub(lambda match: environ.get(match[1] or match[2], ""), named)
    return posixpath.normpath(expanded) if expanded else ""


def locate(
    *,
    uid: int,
    environ: Mapping[str, str],
    home: str,
    storage: StorageConf,
    engine: EngineConf,
    runtime_dir: RuntimeDir | None,
    major: int | None,
    system_path: bool,
) -> Places:
    """The places that are configured. `system_path`: the storage.conf is the site's, not the user's own."""
    graph, run = _roots(uid, environ, storage, major, system_path=system_path)
    if uid == 0 or runtime_dir is None:
        graph, run, tmp = graph or "/var/lib/containers/storage", run or "/run/containers/storage", "/run/libpod"
    else:
        data = environ.get("XDG_DATA_HOME") or f"{home}/.local/share"
        graph, run = graph or f"{data}/containers/storage", run or f"{runtime_dir.for_store}/containers"
        tmp = f"{runtime_dir.used}/libpod/tmp"
    driver = environ.get("STORAGE_DRIVER") or storage.driver
    return Places(
        graph_root=graph,
        run_root=run,
        tmp_dir=engine.tmp_dir or tmp,
        static_dir=engine.static_dir or f"{graph}/libpod",
        driver="overlay" if driver == "overlay2" else driver,
    )


def _roots(
    uid: int, environ: Mapping[str, str], storage: StorageConf, major: int | None, *, system_path: bool
) -> tuple[str, str]:
    graph, run = expand(storage.graph_root, environ, uid), expand(storage.run_root, environ, uid)
    if uid == 0:
        return graph, run
    rootless = expand(storage.rootless_path, environ, uid)
    # From the site's file, and before Podman 6 from the one that the variable names, a user's store takes one key only.
    narrow = system_path or (STORAGE_CONF in environ and (major is None or major < 6))
    return (rootless, "") if narrow else (graph or rootless, run)


@probe(limit_s=5.0)
def podman_store(machine: Machine, podman: Podman) -> PodmanStore:
    """Finds the user's store as Podman finds it: variables, files, run-time directory, then the store's own database."""
    environ, uid = machine.environ(), machine.identity().uid
    home = environ.get("HOME") or _home(machine, uid)
    config_home = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    storage = _storage_conf(machine, environ, uid, config_home)
    engine, broken = _engine_conf(machine, environ, uid, config_home)
    if isinstance(storage, BrokenFile):
        broken, storage = (storage, *broken), StorageConf()
    runtime = _runtime_dir(machine, environ, uid, podman.major) if uid else None
    configured = locate(
        uid=uid,
        environ=environ,
        home=home,
        storage=storage,
        engine=engine,
        runtime_dir=runtime,
        major=podman.major,
        system_path=storage.path in SITE_STORAGE,
    )
    database = read_database(
        machine,
        graph_root=configured.graph_root,
        static_dir=configured.static_dir,
        engine=engine,
        major=podman.major,
    )
    # From Podman 5 on, the pause process is looked for below XDG_RUNTIME_DIR, wherever the rest was moved.
    own_tmp = f"{runtime.used}/libpod/tmp" if runtime and podman.major is not None and podman.major >= 5 else ""
    return PodmanStore(
        uid=uid,
        storage=storage,
        engine=engine,
        runtime_dir=runtime,
        configured=configured,
        database=database,
        pause_file=f"{own_tmp or database.tmp_dir or configured.tmp_dir}/pause.pid",
        broken=broken,
    )


def _home(machine: Machine, uid: int) -> str:
    lines = (line.split(":") for line in machine.read("/etc/passwd").splitlines())
    home = next((fields[5] for fields in lines if len(fields) >= 7 and fields[2] == str(uid)), "")
    if not home:
        raise CouldNotLook(f"HOME is not set, and /etc/passwd names no home of uid {uid}")
    return home


def _storage_conf(machine: Machine, environ: Mapping[str, str], uid: int, config_home: str) -> StorageConf | BrokenFile:
    named = environ.get(STORAGE_CONF)
    own = () if uid == 0 else (f"{config_home}/containers/storage.conf",)
    for path in (named,) if named is not None else (*own, *SITE_STORAGE):
        text = text_or_none(machine, path) if path else None
        if text is not None:
            found = parse_storage_conf(path, text)
            options = environ.get("STORAGE_OPTS")
            return with_options(found, options) if options and isinstance(found, StorageConf) else found
    return StorageConf() if named is None else BrokenFile(named or f"{STORAGE_CONF}=''", "there is no such file")


def _engine_conf(
    machine: Machine, environ: Mapping[str, str], uid: int, config_home: str
) -> tuple[EngineConf, tuple[BrokenFile, ...]]:
    whole, broken = EngineConf(), []
    for path, must_exist in _engine_files(machine, environ, uid, config_home):
        text = text_or_none(machine, path)
        if text is None and must_exist:
            broken.append(BrokenFile(path, "there is no such file"))
        found = parse_containers_conf(path, text) if text is not None else EngineConf()
        if isinstance(found, BrokenFile):
            broken.append(found)
        else:
            whole = merged(whole, found)
    return whole, tuple(broken)


def _engine_files(
    machine: Machine, environ: Mapping[str, str], uid: int, config_home: str
) -> Iterator[tuple[str, bool]]:
    only = environ.get(ENGINE_CONF)
    own = () if uid == 0 else (f"{config_home}/containers/containers.conf",)
    for path in (only,) if only else (*SITE_ENGINE, *own):
        yield path, bool(only)
        if not only and path not in SITE_ENGINE[:1]:
            names = unless_absent(lambda at=path: machine.listdir(f"{at}.d")) or ()  # type: ignore[misc]  # loop value
            yield from ((f"{path}.d/{name}", False) for name in names if name.endswith(".conf"))
    override = environ.get(ENGINE_OVERRIDE)
    if override:
        yield override, True


def _runtime_dir(machine: Machine, environ: Mapping[str, str], uid: int, major: int | None) -> RuntimeDir:
    asked = environ.get("XDG_RUNTIME_DIR")
    seen = {path: _seen(machine, path) for path in candidates(asked, uid)}
    tmp = (environ.get("TMPDIR") or "/tmp").rstrip("/")  # noqa: S108 -- Podman's own default
    return decide(asked, uid=uid, tmp=tmp, major=major, seen=seen)


def _seen(machine: Machine, path: str) -> Seen | None:
    found = stat_or_none(machine, path)
    return None if found is None else Seen(found.kind == "dir", found.uid, found.mode)
