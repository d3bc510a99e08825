"""A running runtime: the address that the launch uses, its answers, and what a few sandboxes of the doctor's own met there."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Role
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.http_query import Fetched
from skyrl_doctor.machine.queries import Stat
from skyrl_doctor.plan.answers import RUNTIME_KEY
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.job_files import KEY, READY, URL, one_url
from skyrl_train.contracts.sandbox.wire import HEALTH, RUNTIME_KEY_HEADER, SESSIONS
from skyrl_train.node.ray_env import RUNTIME_URL, runtime_key_variable

NOBODY_LISTENS = "Connection refused"
PROBE_SESSION = "doctor-probe"
"""The id of a session that does not exist."""
JOB_DIR = "SKYRL_JOB_DIR"
WRONG_KEY = "text doctor-tries-a-wrong-key"
ANSWER_S = 3.0
CANARY_S = 20.0
"""The time for the sandboxes, out of 30 s for the whole examination."""
MOST_SANDBOXES = 32
"""The most sandboxes that are tested at once. More would show nothing new."""


@record
class UrlSource:
    """A text that should be the runtime's URL, and its source."""

    source: str
    text: str


@record
class RuntimeUrls:
    """All sources of the runtime's URL: the configuration, the job directory, the environment."""

    sources: tuple[UrlSource, ...]


@record(kw_only=True)
class RuntimePlace:
    """`source` is the file, key or variable of the URL. `key_from` is the source of the runtime key, "" for none.
    `key_file` is the stat of that source if it is a file.
    """

    url: str
    source: str
    key_from: str = ""
    key_file: Stat | None = None

    @property
    def key_label(self) -> str:
        kind, _, name = self.key_from.partition(" ")
        return {"file": name, "env": f"${name}"}.get(kind, "no key")


@record(kw_only=True)
class ReadyFlag:
    """The ready flag in a job directory, and the health of the runtime that it announces."""

    path: str
    url: str
    health: Fetched

    @property
    def is_stale(self) -> bool:
        """Whether the runtime is certainly gone. A time-out is not enough: the network may be slow."""
        return self.health.status is None and self.health.why == NOBODY_LISTENS


@record(kw_only=True)
class RuntimeAnswers:
    """Answers of the runtime: its health, and a session that does not exist, with and without the right key."""

    place: RuntimePlace
    health: Fetched
    with_key: Fetched
    with_wrong_key: Fetched

    @property
    def takes_any_key(self) -> bool:
        return self.with_wrong_key.status in (200, 404)


@record(kw_only=True)
class Canary:
    """The results of a few test sandboxes. `failures` are pairs of a cause and a sentence. `wrong_key_refused` and
    `has_key` are None if they were not tested.
    """

    asked: int
    worked: int
    failures: tuple[tuple[str, str], ...] = ()
    start_s: tuple[float, ...] = ()
    has_key: bool | None = None
    server_version: str = ""
    wrong_key_refused: bool | None = None
    left: int = 0

    def of(self, *causes: str) -> tuple[str, ...]:
        """The sentences of the failures with these causes."""
        return tuple(text for cause, text in self.failures if cause in causes)

    @property
    def slowest_s(self) -> float:
        return max(self.start_s, default=0.0)


@unknown_if_malformed()
def parse_canary(text: str) -> Canary:
    """Parses the output of children/canary.py."""
    answer = answer_of(text, "canary")
    if "why" in answer:
        raise CouldNotLook(f"canary: {answer.text('why')}")
    start_s = answer.numbers("start_s")
    if min(start_s, default=0.0) < 0:
        raise answer.error("start_s", f"has {min(start_s):g}; expected no negative number")
    return Canary(
        asked=int(answer.number("asked")),
        worked=int(answer.number("worked")),
        failures=tuple((row[0], row[1]) for row in answer.rows("failures", 2)),
        start_s=start_s,
        has_key=answer.flag("has_key", None),
        server_version=answer.text("server_version"),
        wrong_key_refused=answer.flag("wrong_key_refused", None),
        left=int(answer.number("left")),
    )


@probe(limit_s=3.0)
def runtime_urls(machine: Machine, plan: Plan, environ: Environ) -> RuntimeUrls:
    """Collects the URLs; the first one wins."""
    sources: list[UrlSource] = []
    url = plan.text(RUNTIME_KEY)
    if url:
        sources.append(UrlSource(plan.name(RUNTIME_KEY), url))
    job_dir = environ.get(JOB_DIR, "").rstrip("/")
    if job_dir and machine.exists(f"{job_dir}/{READY}"):
        path = f"{job_dir}/{URL}"
        sources.append(UrlSource(path, machine.read(path, limit_bytes=4096)))
    if environ.get(RUNTIME_URL):
        sources.append(UrlSource(f"${RUNTIME_URL}", environ[RUNTIME_URL]))
    if not sources:
        raise NotApplicable("neither the configuration nor a job directory names a running runtime")
    return RuntimeUrls(tuple(sources))


@probe(limit_s=3.0)
def runtime_place(machine: Machine, urls: RuntimeUrls, environ: Environ) -> RuntimePlace:
    first = urls.sources[0]
    url = one_url(first.text)
    if url is None:
        raise CouldNotLook(f"{first.source} contains {first.text[:80]!r}; expected one URL (SLM004)")
    key_from, key_file = _key(machine, environ, environ.get(JOB_DIR, "").rstrip("/"))
    return RuntimePlace(url=url.rstrip("/"), source=first.source, key_from=key_from, key_file=key_file)


@probe(limit_s=ANSWER_S + 1)
def ready_flag(machine: Machine, roles: Roles, urls: RuntimeUrls, environ: Environ) -> ReadyFlag:
    if roles.asked and Role.GPU not in roles:
        raise NotApplicable("the runtime has not started yet; it replaces the flag when it does")
    job_dir = environ.get(JOB_DIR, "").rstrip("/")
    said = [one_url(one.text) for one in urls.sources if one.source == f"{job_dir}/{URL}"]
    url = said[0] if said else None
    if url is None:
        raise NotApplicable("no job directory has a ready flag and a runtime URL")
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
        raise NotApplicable("sandboxes are tested only with --role runtime")
    place = answers.place
    if answers.with_key.status in (None, 401, 403):
        raise CouldNotLook(f"{place.url} rejects the key or does not respond, so no sandbox was tested")
    words = (place.url, place.key_from or "none", _image(needed, stored), str(planned_sandboxes(plan)), f"{CANARY_S:g}")
    done = machine.ask("canary", *words, limit_s=CANARY_S + 7)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_canary(done.out)


def planned_sandboxes(plan: Plan) -> int:
    """The number of sandboxes at once: the rollouts of a step, limited by agent.max_parallel."""
    batch, n = plan.integer("data.train_batch_size"), plan.integer("rollout.n")
    limits = [batch * n] if batch is not None and n is not None else []
    if (parallel := plan.integer("agent.max_parallel")) is not None:
        limits.append(parallel)
    return max(1, min(MOST_SANDBOXES, *limits)) if limits else 1


def _image(needed: NeededImages | None, stored: StoredImages | None) -> str:
    """An image of the dataset. One in the store is preferred, so that no pull is measured."""
    if needed is None or not needed.references:
        raise NotApplicable("the configuration names no dataset, so no image can be tested")
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
