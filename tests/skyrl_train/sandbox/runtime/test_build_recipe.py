import pytest

from skyrl_train.sandbox.runtime.build_recipe import problems

HONEST = r"""# syntax=docker/dockerfile:1
FROM --platform=linux/amd64 localhost/box:1 AS base
ENV A=1 \
    # why
    B=2
RUN apt-get install -y git && \
    git clone "$URL"; cat <<< x; echo $((1<<2))
COPY --chown=1:1 ./code /openhands/code
COPY --from=base /a /b
ADD --chown=1:1 archive.tar /x
FROM base
COPY --from=0 ["/a", "/b"]
FROM docker.io/library/ubuntu:22.04
FROM scratch
"""


def test_an_honest_recipe_is_accepted() -> None:
    assert list(problems(HONEST.encode())) == []


@pytest.mark.parametrize(
    "line",
    [
        "RUN --mount=type=bind,from=x,target=/y true",
        "run\t--mount=type=cache,id=../../x,target=/y true",
        "RUN \\\n  --mount=type=secret,id=x true",
        "RUN --network=host true",
        "RUN --security=insecure true",
        "RUN <<EOF\nADD http://x /y\nEOF",
        "COPY <<EOF /x\ny\nEOF",
        "ADD http://127.0.0.1/x /y",
        "ADD HTTPS://x /y",
        'ADD ["http://x", "/y"]',
        'ADD "ht"tp://x /y',
        r"ADD ht\tp://x /y",
        "ADD \\\n# no\n http://x /y",
        "ENV U=http://x\nADD $U /y",
        "ENV U=http://x\nADD ${U} /y",
        "ADD git@github.com:x/y.git /z",
        "ADD github.com/x/y /z",
        "ADD --keep-git-dir=true x /y",
        "ARG B=x\nFROM $B",
        "ARG B=x\nFROM ${B:-y}",
        'FROM "docker-archive:/etc/x.tar"',
        "FROM docker-archive:/etc/x.tar",
        "FROM oci:/x",
        "FROM dir:x",
        "FROM docker://x",
        "FROM containers-storage:x",
        "FROM --unknown=1 box",
        "FROM",
        "COPY --from=docker-archive:/x /a /b",
        "COPY --from=localhost/other /a /b",
        "COPY --from=$X /a /b",
        "COPY --parents /a /b",
        "ONBUILD RUN true",
        "onbuild add http://x /y",
        "RUN true \u00a0\\\n",
        "# escape=`\nRUN true `\nADD x y",
        "RUN true \\\r\n\vADD http://x /y",
        "RUN echo \\ \nADD http://x /y",
        "LABEL a=b \\\nADD http://x /y",
        "LABEL a=b\x00",
        "\ufeffADD http://x /y",
        "RUN true\n" * 10_001,
    ],
)
def test_what_reaches_outside_is_refused(line: str) -> None:
    assert list(problems(f"FROM box\n{line}\n".encode()))


def test_bytes_that_are_no_text_are_refused() -> None:
    assert list(problems(b"FROM box\n\xff")) == ["it is not UTF-8"]
