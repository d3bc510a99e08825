"""/proc/self/limits and the counts of ps."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.host import host
from skyrl_doctor.facts.limits import Limit, Limits, limits, parse_limits, parse_threads
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from support import recorded

TEXT = """Limit                     Soft Limit           Hard Limit           Units
Max processes             4096                 unlimited            processes
Max open files            1024                 524288               files
Max nice priority         0                    0
"""


def test_reads_both_limits() -> None:
    assert parse_limits(TEXT, threads=7) == Limits(
        processes=Limit(4096, None), open_files=Limit(1024, 524288), threads=7
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Max processes 1 1 processes",
        TEXT.replace("4096", "lots"),
        TEXT.replace("4096", "-1"),
        TEXT.replace("4096", "٤٠٩٦"),
        TEXT.replace("4096                 unlimited", "4096"),
        TEXT + "Max processes             1                    1                    processes \n",
    ],
)
def test_what_reads_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Max"):
        parse_limits(text)


@given(st.text() | st.text(alphabet="Max procesopnfil 0123\n\t").map(lambda text: TEXT + text))
def test_no_garbage_reads_as_healthy(text: str) -> None:
    try:
        found = parse_limits(text)
    except ValueError:
        return
    assert found == Limits(processes=Limit(4096, None), open_files=Limit(1024, 524288))


def test_adds_up_threads() -> None:
    assert parse_threads("   1\n  12\n") == 13


@pytest.mark.parametrize("text", ["", "\n", "NLWP\n1\n", "1.5", "-1", "²"])
def test_what_is_no_list_of_counts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no list"):
        parse_threads(text)


@given(st.text())
def test_no_count_is_negative(text: str) -> None:
    try:
        assert parse_threads(text) >= 0
    except ValueError:
        return


CLEAN = recorded("clean_gpu_node")
PS = "run ps -U 1000 -o nlwp="


def look(machine: Machine) -> Limits:
    found = limits.look(machine, host.look(machine))
    assert isinstance(found, Limits)
    return found


def test_reads_limits_and_threads() -> None:
    wide = Limit(1029418, 1029418)
    assert look(CLEAN) == Limits(processes=wide, open_files=Limit(1048576, 1048576), threads=6)


@pytest.mark.parametrize(
    "answer", [{"found": False}, {"timed_out": True}, {"rc": 1}, {"rc": 0, "out": ["error: unknown option"]}]
)
def test_without_ps_the_limits_stand(answer: dict[str, object]) -> None:
    assert look(CLEAN.but({PS: answer})).threads is None


@pytest.mark.parametrize("text", [[""], ["Max processes is high"]])
def test_garbage_is_not_looked(text: list[str]) -> None:
    with pytest.raises(CouldNotLook, match=r"^/proc/self/limits: "):
        look(CLEAN.but({"read /proc/self/limits": text}))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_reads_the_real_ones() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert look(LocalMachine()).open_files == Limit(soft, hard)
