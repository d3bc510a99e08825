"""What Ray's workers must have in their environment, and how each variable gets there: the one place of that rule. Pure.

A worker has the environment in which `ray start`, or the ray.init() of the driver, was run, and over it the `env_vars` of the
runtime environment. What the driver sets later for itself, no worker ever sees. Ray writes env_vars into its logs, so a
secret is handed on only where it is not there already.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from skyrl_train.contracts.record import record

RUNTIME_URL = "SANDBOX_REMOTE_RUNTIME_API_URL"
RUNTIME_KEYS = ("SANDBOX_API_KEY", "ALLHANDS_API_KEY")
"""The key of a runtime that this launch did not start; the first that is set counts."""
SANDBOXES = (RUNTIME_URL, *RUNTIME_KEYS)
"""Of the sandboxes' runtime, as its clients read it."""
LOGINS = ("WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_MODE", "HF_TOKEN", "HF_HOME", "HF_ENDPOINT")
PROXIES = ("NO_PROXY", "no_proxy")


@record
class Need:
    """A variable that the workers need, and for what. Without a vital one the run fails; without another it may."""

    name: str
    why: str
    vital: bool = False


@record
class Variables(Mapping[str, str]):
    """Variables for workers: texts, as Ray takes no other values. Shown without the values."""

    values_by_name: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def __repr__(self) -> str:
        return f"Variables({', '.join(self)})"


def needs(environ: Mapping[str, str], configured: Iterable[str]) -> tuple[Need, ...]:
    """What the job has that its workers need too: the runtime's address and key, logins, and the configuration's [env]."""
    found = {name: Need(name, "[env] of the configuration", vital=True) for name in configured}
    for names, why, vital in (
        (SANDBOXES, "clients of the sandboxes' runtime read it", True),
        (LOGINS, "loggers and downloads read it", False),
        (PROXIES, "the runtime is reached past the proxy by it", False),
    ):
        found |= {name: Need(name, why, vital) for name in names if environ.get(name) and name not in found}
    return tuple(found.values())


def worker_variables(  # FIX(RUN002)
    environ: Mapping[str, str], configured: Mapping[str, str], inherited: Mapping[str, str]
) -> Variables:
    """The env_vars for ray.init(): every need that the workers do not inherit with this very value.

    `environ` is the driver's environment; `inherited` the one in which Ray was started, empty where nobody knows it.
    """
    wanted = {need.name: configured.get(need.name, environ.get(need.name, "")) for need in needs(environ, configured)}
    return Variables({name: value for name, value in wanted.items() if inherited.get(name) != value})


def runtime_key_variable(environ: Mapping[str, str]) -> str:
    """The variable that holds the key; "" for none."""
    return next((name for name in RUNTIME_KEYS if environ.get(name, "").strip()), "")


def missing(wanted: Iterable[Need], *, inherited: Collection[str], passed: Collection[str]) -> tuple[Need, ...]:
    """What no worker will have."""
    return tuple(need for need in wanted if need.name not in inherited and need.name not in passed)


def fingerprints(variables: Mapping[str, str], names: Iterable[str], salt: str) -> dict[str, str]:
    """Of each variable that is set: a worker tells these, and no value leaves it. For the first task of the driver:

    `ray.get(ray.remote(lambda names, salt: fingerprints(os.environ, names, salt)).remote(list(wanted), salt))`
    """
    import hashlib  # these load OpenSSL, which who asks for the rule alone need not wait for
    import hmac

    return {
        name: hmac.new(salt.encode(), variables[name].encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()
        for name in names
        if name in variables
    }


def unproven(wanted: Mapping[str, str], seen: Mapping[str, str], salt: str) -> tuple[str, ...]:
    """A sentence about each variable that a worker does not have as it should be; none is the proof."""
    expected = fingerprints(wanted, wanted, salt)
    return tuple(
        f"{name} did not reach Ray's workers" if name not in seen else f"{name} has another value in Ray's workers"
        for name, mark in expected.items()
        if seen.get(name) != mark
    )
