"""The job's containers.conf: the site's settings, with locks of its own."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.containers_conf import job_containers_conf

OWN = {"cgroup_manager": "cgroupfs", "events_logger": "file", "lock_type": "file"}
TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=12)
VALUES = st.recursive(
    st.one_of(TEXTS, st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS.filter(bool), inner, max_size=3)),
    max_leaves=6,
)


def test_without_a_site_it_says_what_a_slurm_job_needs() -> None:
    assert job_containers_conf() == (
        '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nlock_type = "file"\n'
    )


def test_the_site_s_settings_stay_but_those_that_lead_out_of_the_store() -> None:
    first = '[containers]\ndefault_ulimits = ["nofile=1:1"]\n[engine]\nlock_type = "shm"\nstatic_dir = "/s"\n'
    limits = '[containers]\ndefault_ulimits = ["nproc=2:2", {append = true}]\n'
    engine = '[engine]\nruntime = "runc"\ncgroup_manager = "systemd"\n[engine.runtimes]\nrunc = ["/opt/runc"]\n'
    site = (first, limits + engine)
    assert tomllib.loads(job_containers_conf(site)) == {
        "containers": {"default_ulimits": ["nofile=1:1", "nproc=2:2"]},
        "engine": {**OWN, "cgroup_manager": "systemd", "runtime": "runc", "runtimes": {"runc": ["/opt/runc"]}},
    }


def test_a_file_that_is_no_toml_is_named_and_left_out() -> None:
    text = job_containers_conf(("[engine", '[engine]\nruntime = "runc"\n'))
    assert text.startswith("# left out: file 1 of the site is not valid TOML: ")
    assert tomllib.loads(text) == {"engine": {**OWN, "runtime": "runc"}}


@given(st.dictionaries(TEXTS.filter(bool), VALUES, max_size=4))
def test_whatever_the_site_says_is_said_again(table: dict[str, Any]) -> None:
    table.pop("engine", None)
    once = tomllib.loads(job_containers_conf((_toml(table),)))
    assert once == {**table, "engine": OWN}


def _toml(table: dict[str, Any]) -> str:
    """Another writer of TOML, of inline tables only."""
    return "".join(f"{_inline(name)} = {_inline(value)}\n" for name, value in table.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_inline(name)} = {_inline(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
    return repr(value)
