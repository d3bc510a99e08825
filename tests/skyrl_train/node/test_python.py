"""Which interpreter trains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.python import candidates, commands, interpreter_settings
from skyrl_train.node.settings import Preparation, Setting


def named(configured: str | None = None, **environ: str) -> list[tuple[str, str, bool]]:
    found = candidates(configured, environ, cwd="/run", own="/own")
    return [(candidate.text, candidate.source, candidate.explicit) for candidate in found]


def test_the_order() -> None:
    assert named("/a", UV_PYTHON="/b", VIRTUAL_ENV="/v") == [
        ("/a", "python.interpreter", True),
        ("/b", "UV_PYTHON", True),
        ("/v/bin/python", "VIRTUAL_ENV", True),
        ("/run/.venv/bin/python", "the project's .venv", False),
        ("/own", "the doctor's own interpreter", True),
    ]


def test_empty_is_unset() -> None:
    assert named(" ", UV_PYTHON="", VIRTUAL_ENV="\t") == named()


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("3.12", ("python3.12",)),
        ("3.12.4", ("python3.12",)),
        ("312", ("python3.12",)),
        ("3", ("python3",)),
        ("3.13t", ("python3.13t",)),
        ("cpython@3.12", ("python3.12",)),
        ("cpython3.12", ("python3.12",)),
        ("cp312", ("python3.12",)),
        ("python3.12", ("python3.12",)),
        ("cpython-3.12.3-linux-x86_64-gnu", ("python3.12",)),
        ("mypython", ("mypython",)),
        (">=3.12,<3.13", ()),
        ("pypy@3.10", ()),
        ("pypy3", ()),
        ("-c", ()),
    ],
)
def test_requests(request_: str, wanted: tuple[str, ...]) -> None:
    assert commands(request_) == wanted


@given(st.text())
def test_no_request_names_an_option_or_a_path(text: str) -> None:
    assert all("/" not in name and not name.startswith("-") for name in commands(text))


def test_uv_python_is_set_to_a_full_path_only() -> None:
    why = "every worker compiles with this interpreter's headers"
    assert interpreter_settings("/opt/train/bin/python", {}) == Preparation(
        settings=(Setting(name="UV_PYTHON", value="/opt/train/bin/python", cures="ENV001", why=why),)
    )
    assert interpreter_settings("/opt/train/bin/python", {"UV_PYTHON": "/opt/train/bin/python"}) == Preparation()
    assert interpreter_settings("3.12", {}) == Preparation()
