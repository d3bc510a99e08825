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
"""A session that nobody has: a good runtime knows none of this name."""
JOB_DIR = "SKYRL_JOB_DIR"
WRONG_KEY = "text doctor-tries-a-wrong-key"
ANSWER_S = 3.0
CANARY_S = 20.0
"""For the sandboxes, of the 30 s that an examination has."""
MOST = 32
"""At a time. More tell nothing that these do not."""


@record
class SaidUrl:
    """A text that is to be the runtime's URL, and who says it."""

    said_by: str
    text: str


@record
class RuntimeUrls:
    """All that name the runtime's address: the configuration, the environment, the job directory."""

    said: tuple[SaidUrl, ...]


@record(kw_only=True)
class RuntimePlace:
    """`said_by` names the file, key or variable that the URL is from. `key_from` is what the machine takes the key from,
    "" for none; `key_file` is that file's stat, where it is a file that is there.
    """

    url: str
    said_by: str
    key_from: str = ""
    key_file: Stat | None = None

    @property
    def key_shown(self) -> str:
        kind, _, name = self.key_from.partition(" ")
        return {"file": name, "env": f"${name}"}.get(kind, "no key")


@record(kw_only=True)
class ReadyFlag:
    """A job directory's flag that a runtime is ready, and what came of asking that runtime."""

    path: str
    url: str
    health: Fetched

    @property
    def is_stale(self) -> bool:
        """Only where it is certain: that nothing came back may be the network's fault."""
        return self.health.status is None and self.health.why == NOBODY_LISTENS


@record(kw_only=True)
class RuntimeAnswers:
    """What it said: of its health, and of a session that nobody has, by three callers."""

    place: RuntimePlace
    health: Fetched
    with_key: Fetched
    with_wrong_key: Fetched

    @property
    def takes_any_key(self) -> bool:
        return self.with_wrong_key.status in (200, 404)


@record(kw_only=True)
class Canary:
    """What sandboxes of the doctor's own met. `failures` are causes with a sentence each; `wrong_key_refused` and
    `has_key` are None where that was not seen.
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
        """The sentences of these causes."""
        return tuple(text for cause, text in self.failures if cause in causes)

    @property
    def slowest_s(self) -> float:
        return max(self.start_s, default=0.0)


@unknown_if_malformed()
def parse_canary(text: str) -> Canary:
    """The answer of children/canary.py."""
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
    """Collects them in the order in which they count."""
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
