"""IMG002: which names registries take, and what is wrong with the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.sandbox.references import BadReferenceError, Reference, fault_of, parse_reference

SHA = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("name", "whole", "stored"),
    [
        ("namanjain12/pandas_final:ab12", "docker.io/namanjain12/pandas_final:ab12", None),
        ("docker.io/namanjain12/pandas_final:ab12", "docker.io/namanjain12/pandas_final:ab12", None),
        ("index.docker.io/a/bc:1", "docker.io/a/bc:1", None),
        ("ubuntu", "docker.io/library/ubuntu", "docker.io/library/ubuntu:latest"),
        ("ubuntu:22.04", "docker.io/library/ubuntu:22.04", None),
        ("localhost/box:latest", "localhost/box:latest", None),
        ("localhost:5000/box", "localhost:5000/box", "localhost:5000/box:latest"),
        ("[::1]:5000/box:1", "[::1]:5000/box:1", None),
        ("registry.site:5000/a/b/cc:v1", "registry.site:5000/a/b/cc:v1", None),
        ("mirror.site/docker.io/library/ubuntu:1", "mirror.site/docker.io/library/ubuntu:1", None),
        (f"ghcr.io/org/name@sha256:{SHA}", f"ghcr.io/org/name@sha256:{SHA}", None),
        (f"ghcr.io/org/name:1@sha256:{SHA}", f"ghcr.io/org/name:1@sha256:{SHA}", f"ghcr.io/org/name@sha256:{SHA}"),
        (
            "docker.io/xingyaoww/r2e-namanjain12/pandas_final:x",
            "docker.io/xingyaoww/r2e-namanjain12/pandas_final:x",
            None,
        ),
        ("oci/name:1", "docker.io/oci/name:1", None),
        ("docker:27", "docker.io/library/docker:27", None),
        ("ghcr.io/org/x:1", "ghcr.io/org/x:1", None),  # one letter is a name where the rest is not
    ],
)
def test_reads_names(name: str, whole: str, stored: str | None) -> None:
    reference = parse_reference(name)
    assert (str(reference), reference.stored_as) == (whole, stored or whole)


def test_the_parts_of_a_name() -> None:
    assert parse_reference("a/bc:1") == Reference(registry="docker.io", path="a/bc", tag="1")
    assert [parse_reference(name).pinned for name in ("a/bc:1", f"a/bc@sha256:{SHA}")] == [False, True]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("d", "'d' is one letter; a string was probably split where a list was expected"),
        ("docker.io/library/d", "'d' is one letter; a string was probably split where a list was expected"),
        ("/", "'' is not a valid part of a name; expected letters and digits, with '.', '_' or '-' between them"),
        ("", "is empty; expected a name such as docker.io/user/name:tag"),
        ("  ", "is empty; expected a name such as docker.io/user/name:tag"),
        ("a/bc:1\n", "contains white space; check for a log line or an unquoted list in it"),
        ("['a/bc:1']", "begins with '[': an option, or a list written as one string"),
        ("--privileged", "begins with '-': an option, or a list written as one string"),
        (
            "Namanjain12/Pandas:1",
            "has upper-case letters in 'Namanjain12/Pandas'; registries accept only lower-case letters",
        ),
        ("a/bc:1:2", "has two tags, 1 and 2"),
        ("a/bc:", "ends where a tag should follow; expected 1 to 128 letters, digits, '_', '.' or '-'"),
        ("a/bc:x/y", "'x/y' is not a tag; expected 1 to 128 letters, digits, '_', '.' or '-'"),
        ("a//bc", "'' is not a valid part of a name; expected letters and digits, with '.', '_' or '-' between them"),
        (
            "a/b__-c",
            "'b__-c' is not a valid part of a name; expected letters and digits, with '.', '_' or '-' between them",
        ),
        ("docker.io/docker.io/a/bc", "names two registries, docker.io and docker.io: a prefix was added twice"),
        ("docker.io/ghcr.io/a/bc", "names two registries, docker.io and ghcr.io: a prefix was added twice"),
        ("ghcr.io/ghcr.io/a/bc", "names two registries, ghcr.io and ghcr.io: a prefix was added twice"),
        ("docker.io/", "names a registry and no image"),
        ("docker://a/bc", "begins with the transport docker:, which is not part of an image name"),
        ("docker-archive:/x.tar", "begins with the transport docker-archive:, which is not part of an image name"),
        ("https://docker.io/a/bc", "is a URL; expected registry/name:tag without http://"),
        ("a/bc@sha256:12", "'sha256:12' is not a digest; expected sha256: and 64 digits of 0-9 and a-f"),
        (f"a/bc@sha256:{SHA[:-1]}", "its sha256 digest has 63 digits; expected 64"),
        (
            f"a/bc@sha256:{SHA.upper()}",
            f"'sha256:{SHA.upper()}' is not a digest; expected sha256: and 64 digits of 0-9 and a-f",
        ),
        ("a/bc@", "'' is not a digest; expected sha256: and 64 digits of 0-9 and a-f"),
        ("bad_host.io/a/bc", "'bad_host.io' is not a registry; expected a host name, with or without a port"),
        (None, "is a NoneType; expected a string such as docker.io/user/name:tag"),
        (["a/bc:1"], "is a list; expected a string such as docker.io/user/name:tag"),
    ],
)
def test_says_what_is_wrong(name: object, why: str) -> None:
    assert fault_of(name) == why


def test_a_prefix_goes_before_names_without_a_registry_only() -> None:
    assert str(parse_reference("a/bc:1", prefix="mirror.site/hub/")) == "mirror.site/hub/a/bc:1"
    assert str(parse_reference("ghcr.io/a/bc:1", prefix="mirror.site/hub/")) == "ghcr.io/a/bc:1"
    assert (
        fault_of("a/bc", prefix="docker.io")
        == "gets the prefix 'docker.io', which has no slash at its end; expected 'docker.io/'"
    )
    assert fault_of("a/bc", prefix="hub/") == (
        "gets the prefix 'hub/', which names no registry; expected one such as 'docker.io/'"
    )
    assert fault_of("a/bc", prefix="") == (
        "names no registry, and no prefix does; Podman does not guess one. Write docker.io/…"
    )


@given(st.one_of(st.text(max_size=300), st.from_regex(r"[a-zA-Z0-9./:@_-]{1,80}", fullmatch=True)))
def test_any_text_is_read_or_refused_and_what_is_read_reads_again(text: str) -> None:
    try:
        reference = parse_reference(text)
    except BadReferenceError:
        return
    assert parse_reference(str(reference)) == reference
    assert not any(char.isspace() for char in str(reference))
