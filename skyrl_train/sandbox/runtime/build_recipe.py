"""Reads the recipe of POST /build and finds what would reach outside the build: other images, the host or the network.

Podman builds with the server's rights. Mounts of RUN reach the host's files on old releases, ADD of an address is loaded
outside the sandbox although the build has no network, and FROM and COPY --from take files of the host as images. None of
these is needed to build from a directory, so they are refused on every release.
"""

import re
from collections.abc import Iterator

from skyrl_train.contracts.sandbox.references import BadReferenceError, parse_reference

MOST_RECIPE = 1 << 20
_MOST_LINES = 10_000
_TRANSPORT = re.compile(
    r"(?:docker|docker-archive|docker-daemon|oci|oci-archive|dir|containers-storage|ostree|sif|tarball):", re.IGNORECASE
)
_REMOTE = re.compile(r"://|git@|\.git(?:[#/\s]|$)|github\.com", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*[\"']?[A-Za-z_]")
_STRANGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]")
_COPY_FLAGS = ("--from=", "--chown=", "--chmod=", "--link")
_ADD_FLAGS = ("--chown=", "--chmod=", "--link")


def problems(data: bytes) -> Iterator[str]:
    """Why the recipe is refused; nothing if it is accepted."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        yield "it is not UTF-8"
        return
    if len(data) > MOST_RECIPE or text.count("\n") > _MOST_LINES:
        yield f"it is longer than {MOST_RECIPE >> 20} MiB or {_MOST_LINES} lines"
    elif strange := _STRANGE.search(text):
        yield f"it holds the character {strange[0]!r}"
    elif re.search(r"^[ \t]*#[ \t]*escape[ \t]*=[ \t]*[^\\\s]", text, re.MULTILINE | re.IGNORECASE):
        yield "it sets another escape character"
    else:
        yield from _instruction_problems(text)


def _instruction_problems(text: str) -> Iterator[str]:
    stages: set[str] = set()
    lines = {line.strip() for line in text.split("\n")}
    for whole in _instructions(text):
        yield from _problem(whole, stages)
        lines.discard(whole)
    for line in sorted(lines):  # where a release ends a line earlier than we do, the rest is an instruction
        yield from _problem(line, stages)


def _instructions(text: str) -> Iterator[str]:
    """Each instruction on one line: joined where a line ends with a backslash, without comments."""
    parts: list[str] = []
    for line in text.split("\n"):
        words = line.strip()
        if words.startswith("#") or (parts and not words):
            continue
        parts.append(words.removesuffix("\\"))
        if not words.endswith("\\"):
            yield "".join(parts).strip()
            parts = []
    if parts:
        yield "".join(parts).strip()


def _problem(line: str, stages: set[str]) -> Iterator[str]:
    name, _, rest = line.partition(" ")
    name, _, after = name.partition("\t")
    rest = f"{after} {rest}".strip()
    match name.upper():
        case "FROM":
            yield from _from_problem(rest, stages)
        case "COPY":
            yield from _copy_problem(rest, stages)
        case "ADD":
            yield from _add_problem(rest)
        case "RUN":
            yield from _run_problem(rest)
        case "ONBUILD":
            yield "ONBUILD is not supported: it would act in later builds from this image"


def _from_problem(rest: str, stages: set[str]) -> Iterator[str]:
    words = rest.split()
    flags = [word for word in words if word.startswith("--")]
    base, *alias = [word for word in words if not word.startswith("--")] or [""]
    if any(not flag.startswith("--platform=") for flag in flags):
        yield f"FROM {flags[0][:80]} is not supported"
    elif base.lower() not in stages and base != "scratch":
        yield from _image_problem(base)
    if len(alias) == 2 and alias[0].upper() == "AS":
        stages.add(alias[1].lower())


def _image_problem(base: str) -> Iterator[str]:
    if _TRANSPORT.match(base) or re.search(r"[$\"'\\]", base):
        yield f"FROM {base[:100]}: expected the name of an image, without variables and transports"
        return
    try:
        parse_reference(base)
    except BadReferenceError as error:
        yield f"FROM: {error}"


def _copy_problem(rest: str, stages: set[str]) -> Iterator[str]:
    for flag in _flags(rest):
        if not flag.startswith(_COPY_FLAGS):
            yield f"COPY {flag[:80]} is not supported"
        source = flag.removeprefix("--from=").lower()
        if flag.startswith("--from=") and source not in stages and not (source.isascii() and source.isdigit()):
            yield f"COPY {flag[:100]}: expected an earlier stage of this recipe"
    if _HEREDOC.search(rest):
        yield "a heredoc is not supported: put the file into the context"


def _add_problem(rest: str) -> Iterator[str]:
    plain = re.sub(r"[\"'\\]", "", rest)
    for flag in _flags(rest):
        if not flag.startswith(_ADD_FLAGS):
            yield f"ADD {flag[:80]} is not supported"
    if _REMOTE.search(plain) or "$" in plain:
        yield "ADD takes only files of the context here, without addresses and variables"
    if _HEREDOC.search(rest):
        yield "a heredoc is not supported: put the file into the context"


def _run_problem(rest: str) -> Iterator[str]:
    if rest.startswith("--"):
        yield f"RUN {rest.split()[0][:80]} is not supported: mounts and networks reach outside the build"
    if _HEREDOC.match(rest):
        yield "a heredoc is not supported: put the file into the context"


def _flags(rest: str) -> Iterator[str]:
    for word in rest.split():
        if not word.startswith("--"):
            return
        yield word
