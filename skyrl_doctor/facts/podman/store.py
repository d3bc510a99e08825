"""Where a user's store is: what the files and variables say, and what the store itself holds on to."""

import posixpath
import re
from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.runtime_dir import RuntimeDir
from skyrl_doctor.facts.podman.settings import BrokenFile, EngineConf, StorageConf

STORAGE_CONF = "CONTAINERS_STORAGE_CONF"
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


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
