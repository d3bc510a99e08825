"""The recipe of a derived image, and the name under which it is found again."""

import dataclasses

import pytest

from skyrl_train.contracts.sandbox.references import BadReferenceError, parse_reference
from skyrl_train.sandbox.derive import BuildOptions, cache_key, containerfile, derived_image
from skyrl_train.sandbox.inject import InjectionError

BASE, DIGEST = "docker.io/namanjain12/pandas_final:0123", "sha256:" + "0" * 64
OPTIONS = BuildOptions(sdk_version="1.58.0")


def test_the_binary_is_copied_out_of_the_published_image() -> None:
    key = cache_key(DIGEST, OPTIONS)
    assert containerfile(BASE, DIGEST, OPTIONS) == (
        "FROM ghcr.io/openhands/agent-server:1.58.0-python AS server\n"
        f"FROM {BASE}\n"
        "COPY --from=server /usr/local/bin/openhands-agent-server /usr/local/bin/openhands-agent-server\n"
        "ENTRYPOINT []\n"
        f'LABEL skyrl.derived.base="{DIGEST}"\n'
        'LABEL skyrl.derived.sdk-version="1.58.0"\n'
        'LABEL skyrl.derived.target="binary-minimal"\n'
        f'LABEL skyrl.derived.key="{key}"\n'
    )
    assert derived_image(DIGEST, OPTIONS) == f"localhost/skyrl-derived:{key}"
    parse_reference(derived_image(DIGEST, OPTIONS))


@pytest.mark.parametrize(
    ("change", "copied"),
    [
        ({"target": "source"}, "COPY --from=server /agent-server /agent-server"),
        ({"target": "source", "from_context": True}, "COPY --chown=0:0 agent-server /agent-server"),
        ({"server_image": "localhost/server:1"}, "COPY --from=server /usr/local/bin/openhands-agent-server /usr/local/bin/openhands-agent-server"),
    ],
)  # fmt: skip
def test_what_else_can_be_copied(change: dict[str, object], copied: str) -> None:
    options = dataclasses.replace(OPTIONS, **change)  # type: ignore[arg-type]
    assert copied in containerfile(BASE, DIGEST, options).splitlines()
    assert cache_key(DIGEST, options) != cache_key(DIGEST, OPTIONS)


def test_the_same_bytes_under_another_name_are_the_same_image() -> None:
    assert cache_key(DIGEST, OPTIONS) == cache_key(DIGEST, BuildOptions(sdk_version="1.58.0"))
    others = [("sha256:" + "1" * 64, OPTIONS), (DIGEST, BuildOptions(sdk_version="1.57.0"))]
    assert len({cache_key(DIGEST, OPTIONS), *(cache_key(*other) for other in others)}) == 3


@pytest.mark.parametrize(
    ("base", "digest", "options", "error"),
    [
        ("docker.io/a/b\nRUN evil", DIGEST, OPTIONS, BadReferenceError),
        (BASE, DIGEST, BuildOptions(sdk_version="1.58.0", server_image="a b"), BadReferenceError),
        (BASE, "", OPTIONS, InjectionError),
        (BASE, DIGEST, BuildOptions(sdk_version="1\nRUN evil"), InjectionError),
        (BASE, DIGEST, BuildOptions(sdk_version=""), InjectionError),
        (BASE, DIGEST, BuildOptions(sdk_version="1.58.0", target="base-image"), InjectionError),
    ],
)
def test_what_would_be_a_line_of_its_own_is_refused(
    base: str, digest: str, options: BuildOptions, error: type[Exception]
) -> None:
    with pytest.raises(error):
        containerfile(base, digest, options)
