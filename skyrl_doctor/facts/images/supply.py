"""The sources of images besides the store: archives and registries."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.plan.model import Plan

ARCHIVE_KEY = "sandbox.image_archive"
LIMIT_S = 3.0


@record(kw_only=True)
class ImageSupply:
    """`archive` is the directory that the plan names, or "". `archives` are its file names, None if there is no such
    directory. `logins` are the registries with a stored login.
    """

    archive: str = ""
    archives: frozenset[str] | None = None
    logins: tuple[str, ...] = ()


@unknown_if_malformed()
def parse_logins(text: str) -> tuple[str, ...]:
    """Parses the output of children/registry_logins.py."""
    return answer_of(text, "registry logins").texts("logins")


@probe(limit_s=LIMIT_S + 2)
def image_supply(machine: Machine, plan: Plan, environ: Environ) -> ImageSupply:
    """Looks for archives of images and for logins of registries."""
    archive = plan.text(ARCHIVE_KEY) or ""
    names = unless_absent(lambda: machine.listdir(archive)) if archive else None
    files = login_files(environ)
    done = machine.ask("registry_logins", *files, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    return ImageSupply(
        archive=archive, archives=None if names is None else frozenset(names), logins=parse_logins(done.out)
    )


def login_files(environ: Environ) -> tuple[str, ...]:
    """The files in which Podman looks for logins, in its order."""
    only = environ.get("REGISTRY_AUTH_FILE")
    if only:
        return (only,)
    home, runtime = environ.get("HOME", ""), environ.get("XDG_RUNTIME_DIR", "")
    config = environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    docker = environ.get("DOCKER_CONFIG") or (f"{home}/.docker" if home else "")
    places = (
        f"{runtime}/containers/auth.json" if runtime else "",
        f"{config}/containers/auth.json" if config else "",
        f"{docker}/config.json" if docker else "",
    )
    return tuple(place for place in places if place)
