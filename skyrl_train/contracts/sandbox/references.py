"""Names of container images, parsed as registries do and refused with a reason that the user can act on (IMG002).

A name passes through several hands before Podman sees it: a data set's column, a prefix, a mirror. Each mistake on the
way (a list taken apart into letters, a prefix put on twice, a second tag) becomes a pull of something else, or minutes
of retries; here it is one sentence.
"""

import re

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.record import record

HUB = "docker.io"
HUB_NAMESPACE = "library"
_HUB_ALIASES = ("index.docker.io", "registry-1.docker.io", "registry.hub.docker.com")
_TRANSPORTS = ("docker", "docker-archive", "docker-daemon", "oci", "oci-archive", "dir", "containers-storage")
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*")
_DOMAIN = re.compile(r"(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::[0-9]{1,5})?")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-f]{32,}")
_HEX_OF = {"sha256": 64, "sha384": 96, "sha512": 128}
_LONGEST = 255


class BadReferenceError(UsageError):
    """A name that no registry takes: what is wrong with it."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"image {name[:160]!r}: {why}")
        self.name = name
        self.why = why


@record(kw_only=True)
class Reference:
    """A whole name. `tag` and `digest` are empty where the name has none; then Podman takes the tag `latest`."""

    registry: str
    path: str
    tag: str = ""
    digest: str = ""

    @property
    def repository(self) -> str:
        return f"{self.registry}/{self.path}"

    @property
    def is_hub(self) -> bool:
        return self.registry == HUB

    @property
    def pinned(self) -> bool:
        """Whether the name means the same bytes tomorrow."""
        return bool(self.digest)

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.repository}{tag}{f'@{self.digest}' if self.digest else ''}"

    @property
    def stored_as(self) -> str:
        """What Podman writes into its store: the default tag spelt out, and no tag beside a digest."""
        if self.digest:
            return f"{self.repository}@{self.digest}"
        return f"{self.repository}:{self.tag or 'latest'}"


def parse_reference(name: object, *, prefix: str = f"{HUB}/") -> Reference:  # FIX(IMG002)
    """Raises BadReferenceError. `prefix` is put before names that lack a registry, as `sandbox.image_prefix` says."""
    if not isinstance(name, str):
        raise BadReferenceError(
            repr(name), f"is a {type(name).__name__}; expected a string such as docker.io/user/name:tag"
        )
    _shape(name)
    whole = name if _names_registry(name) else _prefixed(name, prefix)
    rest, _, digest = whole.partition("@")
    if digest or whole.endswith("@"):
        _digest(name, digest)
    registry, _, path_and_tag = rest.partition("/")
    path, colon, tag = path_and_tag.partition(":")
    if colon:
        _tag(name, tag)
    if not _DOMAIN.fullmatch(registry):
        raise BadReferenceError(name, f"{registry!r} is not a registry; expected a host name, with or without a port")
    registry = HUB if registry.lower() in _HUB_ALIASES else registry.lower()
    _path(name, registry, path)
    if registry == HUB and "/" not in path:
        path = f"{HUB_NAMESPACE}/{path}"
    return Reference(registry=registry, path=path, tag=tag, digest=digest)


def fault_of(name: object, *, prefix: str = f"{HUB}/") -> str:
    """Why a name cannot be used; empty where it can."""
    try:
        parse_reference(name, prefix=prefix)
    except BadReferenceError as fault:
        return fault.why
    return ""


def _names_registry(name: str) -> bool:
    """The rule of every client: what stands before the first slash is a host if it looks like one."""
    first, slash, _ = name.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")


def _shape(name: str) -> None:
    if not name.strip():
        raise BadReferenceError(name, "is empty; expected a name such as docker.io/user/name:tag")
    if name != name.strip() or any(char.isspace() for char in name):
        raise BadReferenceError(name, "contains white space; check for a log line or an unquoted list in it")
    if name[0] in "-[('\"" and not re.match(r"\[[0-9A-Fa-f:]+\][:/]", name):
        raise BadReferenceError(name, f"begins with {name[0]!r}: an option, or a list written as one string")
    transport, colon, rest = name.partition(":")
    if colon and transport in _TRANSPORTS and (rest.startswith("/") or transport not in ("oci", "docker", "dir")):
        raise BadReferenceError(name, f"begins with the transport {transport}:, which is not part of an image name")
    if name.lower().startswith(("http://", "https://")):
        raise BadReferenceError(name, "is a URL; expected registry/name:tag without http://")


def _prefixed(name: str, prefix: str) -> str:
    if not prefix:
        raise BadReferenceError(
            name, "names no registry, and no prefix does; Podman does not guess one. Write docker.io/…"
        )
    if "/" not in prefix:
        raise BadReferenceError(
            name, f"gets the prefix {prefix!r}, which has no slash at its end; expected {prefix + '/'!r}"
        )
    if not _names_registry(prefix):
        raise BadReferenceError(
            name, f"gets the prefix {prefix!r}, which names no registry; expected one such as 'docker.io/'"
        )
    return prefix + name


def _path(name: str, registry: str, path: str) -> None:
    if not path:
        raise BadReferenceError(name, "names a registry and no image")
    parts = path.split("/")
    if path != path.lower():
        raise BadReferenceError(name, f"has upper-case letters in {path!r}; registries accept only lower-case letters")
    wrong = next((part for part in parts if not _COMPONENT.fullmatch(part)), None)
    if wrong is not None:
        raise BadReferenceError(
            name,
            f"{wrong!r} is not a valid part of a name; expected letters and digits, with '.', '_' or '-' between them",
        )
    if len(path) > _LONGEST:
        raise BadReferenceError(name, f"has {len(path)} characters; registries accept at most {_LONGEST}")
    if parts[0] == registry or (registry == HUB and "." in parts[0]):
        raise BadReferenceError(name, f"names two registries, {registry} and {parts[0]}: a prefix was added twice")
    if registry == HUB and len(path.removeprefix(f"{HUB_NAMESPACE}/")) == 1:
        raise BadReferenceError(
            name, f"{parts[-1]!r} is one letter; a string was probably split where a list was expected"
        )


def _tag(name: str, tag: str) -> None:
    if ":" in tag:
        raise BadReferenceError(name, f"has two tags, {' and '.join(tag.split(':')[:2])}")
    if not _TAG.fullmatch(tag):
        fault = f"{tag!r} is not a tag" if tag else "ends where a tag should follow"
        raise BadReferenceError(name, f"{fault}; expected 1 to 128 letters, digits, '_', '.' or '-'")


def _digest(name: str, digest: str) -> None:
    algorithm, _, digits = digest.partition(":")
    if not _DIGEST.fullmatch(digest):
        raise BadReferenceError(name, f"{digest[:90]!r} is not a digest; expected sha256: and 64 digits of 0-9 and a-f")
    expected = _HEX_OF.get(algorithm)
    if expected is not None and len(digits) != expected:
        raise BadReferenceError(name, f"its {algorithm} digest has {len(digits)} digits; expected {expected}")
