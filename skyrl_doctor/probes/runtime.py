"""Finds the running runtime that the launch will use, asks it, and tries it where that was asked for."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Role
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.runtime import (
    PROBE_SESSION,
    Canary,
    ReadyFlag,
    RuntimeAnswers,
    RuntimePlace,
    RuntimeUrls,
    SaidUrl,
    parse_canary,
)
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.questions import Stat
from skyrl_doctor.plan.answers import RUNTIME_KEY
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.job_files import KEY, READY, URL, one_url
from skyrl_train.contracts.sandbox.wire import HEALTH, RUNTIME_KEY_HEADER, SESSIONS
from skyrl_train.node.ray_env import RUNTIME_URL, runtime_key_variable

JOB_DIR = "SKYRL_JOB_DIR"
WRONG_KEY = "text doctor-tries-a-wrong-key"
ANSWER_S = 3.0
CANARY_S = 20.0
"""For the sandboxes, of the 30 s that an examination has."""
MOST = 32
"""At a time. More tell nothing that these do not."""


@probe(limit_s=3.0)
def runtime_urls(machine: Machine, plan: Plan, environ: Environ) -> RuntimeUrls:
    """In the order in which they count."""
    said: list[SaidUrl] = []
    url = plan.text(RUNTIME_KEY)
    if url:
        said.append(SaidUrl(plan.name(RUNTIME_KEY), url))
    job_dir = environ.get(JOB_DIR, "").rstrip("/")
    if job_dir and machine.exists(f"{job_dir}/{READY}"):
        path = f"{job_dir}/{URL}"
        said.append(SaidUrl(path, machine.read(path, limit_bytes=4096)))
    if environ.get(RUNTIME_URL):
        said.append(SaidUrl(f"${RUNTIME_URL}", environ[RUNTIME_URL]))
    if not said:
        raise NotApplicable("no running runtime is named: neither by the configuration nor by a job directory")
    return RuntimeUrls(tuple(said))


@probe(limit_s=3.0)
def runtime_place(machine: Machine, urls: RuntimeUrls, environ: Environ) -> RuntimePlace:
    first = urls.said[0]
    url = one_url(first.text)
    if url is None:
        raise CouldNotLook(f"{first.said_by} holds {first.text[:80]!r}; wanted one URL alone (SLM004)")
    key_from, key_file = _key(machine, environ, environ.get(JOB_DIR, "").rstrip("/"))
    return RuntimePlace(url=url.rstrip("/"), said_by=first.said_by, key_from=key_from, key_file=key_file)


@probe(limit_s=ANSWER_S + 1)
def ready_flag(machine: Machine, roles: Roles, urls: RuntimeUrls, environ: Environ) -> ReadyFlag:
    if roles.asked and Role.GPU not in roles:
        raise NotApplicable("the runtime is yet to start, and replaces the flag")
    job_dir = environ.get(JOB_DIR, "").rstrip("/")
    said = [one_url(one.text) for one in urls.said if one.said_by == f"{job_dir}/{URL}"]
    url = said[0] if said else None
    if url is None:
        raise NotApplicable("no job directory says that its runtime is ready, and where")
    return ReadyFlag(
        path=f"{job_dir}/{READY}", url=url, health=machine.get(f"{url.rstrip('/')}{HEALTH}", limit_s=ANSWER_S)
    )


@probe(limit_s=3 * ANSWER_S + 1)
def runtime_answers(machine: Machine, place: RuntimePlace) -> RuntimeAnswers:
    session = f"{place.url}{SESSIONS}/{PROBE_SESSION}"
    with_key = (
        machine.get(session, limit_s=ANSWER_S, key_header=RUNTIME_KEY_HEADER, key_from=place.key_from)
        if place.key_from
        else machine.get(session, limit_s=ANSWER_S)
    )
    return RuntimeAnswers(
        place=place,
        health=machine.get(f"{place.url}{HEALTH}", limit_s=ANSWER_S),
        with_key=with_key,
        with_wrong_key=machine.get(session, limit_s=ANSWER_S, key_header=RUNTIME_KEY_HEADER, key_from=WRONG_KEY),
    )


@probe(limit_s=CANARY_S + 8)
def canary(
    machine: Machine,
    plan: Plan,
    roles: Roles,
    answers: RuntimeAnswers,
    needed: NeededImages | None,
    stored: StoredImages | None,
) -> Canary:
    if not roles.asked or Role.RUNTIME not in roles:
        raise NotApplicable("sandboxes are tried where --role runtime asks for it")
    place = answers.place
    if answers.with_key.status in (None, 401, 403):
        raise CouldNotLook(f"{place.url} does not take the key, or does not answer: no sandbox was tried")
    words = (place.url, place.key_from or "none", _image(needed, stored), str(planned(plan)), f"{CANARY_S:g}")
    done = machine.ask("canary", *words, limit_s=CANARY_S + 7)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_canary(done.out)


def planned(plan: Plan) -> int:
    """Sandboxes at once: the rollouts of a step, as far as the agent lets them."""
    batch, n = plan.integer("data.train_batch_size"), plan.integer("rollout.n")
    wanted = [batch * n] if batch is not None and n is not None else []
    parallel = plan.integer("agent.max_parallel")
    return max(1, min([MOST, *wanted, *([parallel] if parallel is not None else [])])) if wanted or parallel else 1


def _image(needed: NeededImages | None, stored: StoredImages | None) -> str:
    """One of the dataset's, and one that is here, so that no pull is measured."""
    if needed is None or not needed.references:
        raise NotApplicable("the configuration names no dataset whose image could be tried")
    here = stored.all_names if stored is not None else frozenset()
    names = needed.references
    return str(names[next((name for name in names if name in here), next(iter(names)))])


def _key(machine: Machine, environ: Environ, job_dir: str) -> tuple[str, Stat | None]:
    path = f"{job_dir}/{KEY}"
    found = unless_absent(lambda: machine.stat(path)) if job_dir else None
    if found is not None:
        return f"file {path}", found
    name = runtime_key_variable(environ)
    return (f"env {name}" if name else ""), None
