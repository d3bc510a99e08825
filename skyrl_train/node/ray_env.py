"""The variables that Ray's workers need, and how each of them gets there. Pure.

A worker has the environment of `ray start`, or of the driver's ray.init(), with the `env_vars` of the runtime environment
over it. Variables that the driver sets later do not reach the workers. Ray writes env_vars into its logs, so a secret is
passed only if the workers do not inherit it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from skyrl_train.contracts.record import record

RUNTIME_URL = "SANDBOX_REMOTE_RUNTIME_API_URL"
RUNTIME_KEYS = ("SANDBOX_API_KEY", "ALLHANDS_API_KEY")
"""Variables with the key of a runtime that this launch did not start; the first that is set counts."""
SANDBOXES = (RUNTIME_URL, *RUNTIME_KEYS)
"""Variables that the clients of the sandbox runtime read."""
LOGINS = ("WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_MODE", "HF_TOKEN", "HF_HOME", "HF_ENDPOINT")
PROXIES = ("NO_PROXY", "no_proxy")


@record
class Need:
    """A variable that the workers need, and why. The run fails without a `vital` one, and may fail without another."""

    name: str
    why: str
    vital: bool = False


@record
class Variables(Mapping[str, str]):
    """Variables for workers. The values are strings, as Ray requires, and never printed."""

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
    """The variables of this job that its workers need: the runtime's address and key, logins, and [env]."""
    found = {name: Need(name, "[env] of the configuration", vital=True) for name in configured}
    for names, why, vital in (
        (SANDBOXES, "the clients of the sandbox runtime read it", True),
        (LOGINS, "loggers and downloads read it", False),
        (PROXIES, "the runtime must be reached without the proxy", False),
    ):
        found |= {name: Need(name, why, vital) for name in names if environ.get(name) and name not in found}
    return tuple(found.values())


def worker_variables(  # FIX(RUN002)
    environ: Mapping[str, str], configured: Mapping[str, str], inherited: Mapping[str, str]
) -> Variables:
    """The env_vars for ray.init(): every needed variable that the workers do not inherit with the right value.

    `environ` is the driver's environment; `inherited` is the one in which Ray was started, empty if unknown.
    """
    wanted = {need.name: configured.get(need.name, environ.get(need.name, "")) for need in needs(environ, configured)}
    return Variables({name: value for name, value in wanted.items() if inherited.get(name) != value})


def runtime_key_variable(environ: Mapping[str, str]) -> str:
    """The name of the variable that holds the key, or "" if none does."""
    return next((name for name in RUNTIME_KEYS if environ.get(name, "").strip()), "")


def missing(wanted: Iterable[Need], *, inherited: Collection[str], passed: Collection[str]) -> tuple[Need, ...]:
    """The needed variables that no worker will have."""
    return tuple(need for need in wanted if need.name not in inherited and need.name not in passed)


def fingerprints(variables: Mapping[str, str], names: Iterable[str], salt: str) -> dict[str, str]:
    """A keyed hash of each variable that is set, so that a worker can prove its value without sending it. Used as:

    `ray.get(ray.remote(lambda names, salt: fingerprints(os.environ, names, salt)).remote(list(wanted), salt))`
    """
    import hashlib  # imported here, since they load OpenSSL, which is slow
    import hmac

    return {
        name: hmac.new(salt.encode(), variables[name].encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()
        for name in names
        if name in variables
    }


def unproven(wanted: Mapping[str, str], seen: Mapping[str, str], salt: str) -> tuple[str, ...]:
    """One sentence for each variable that a worker lacks or has with another value."""
    expected = fingerprints(wanted, wanted, salt)
    return tuple(
        f"{name} did not reach Ray's workers" if name not in seen else f"{name} has another value in Ray's workers"
        for name, digest in expected.items()
        if seen.get(name) != digest
    )
