"""`scontrol show config` of 20.11 to 25.11, in the shapes that sites have published, with values of our own."""

import posixpath
from typing import cast

import pytest

from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Absent, Machine, T
from skyrl_doctor.site.files import find_scripts
from skyrl_doctor.site.slurm_config import parse

HEAD = "Configuration data as of 2026-01-02T10:07:02\n"
OLD = f"""{HEAD}AccountingStorageBackupHost = (null)
Epilog                  = /etc/slurm/skyrl/epilog.sh
HealthCheckProgram      = (null)
JobSubmitPlugins        = throttle,lua
PluginDir               = /usr/lib64/slurm
Prolog                  = (null)
PriorityFlags           = \n\
SLURM_CONF              = /etc/slurm/slurm.conf
SLURM_VERSION           = 20.11.6
TaskProlog              = /etc/slurm/skyrl/taskprolog.sh

Cgroup Support Configuration:
AllowedDevicesFile      = (null)
TaskProlog              = /of/another/table

Slurmctld(primary) at ctl1 is UP
"""
NEW = f"""{HEAD}Epilog[0]               = /etc/slurm/epilog.d/*
Epilog[1]               = /etc/slurm/skyrl/epilog.sh
JobSubmitPlugins        = lua
NamespaceType           = (null)
PluginDir               = /usr/lib64/slurm
Prolog[0]               = /etc/slurm/prolog.d/*.sh
SLURM_CONF              = /var/spool/slurmd/conf-cache/slurm.conf
SLURM_VERSION           = 25.11.4
TaskProlog              = /etc/slurm/skyrl/taskprolog.sh
Slurmctld(primary) at ctl1 is UP
"""


class Disk(Machine):
    """A disk with these texts by path."""

    def __init__(self, **texts: str) -> None:
        self.texts = {f"/etc/slurm/prolog.d/{name}.sh": text for name, text in texts.items()}

    def answer(self, query: q.Query[T]) -> T:
        if isinstance(query, q.ListDir):
            return cast("T", tuple(posixpath.basename(path) for path in self.texts))
        if isinstance(query, q.Read) and query.path in self.texts:
            return cast("T", self.texts[query.path].encode())
        raise Absent(str(query))


def test_the_scripts_of_a_release_that_has_one_of_each() -> None:
    config = parse(OLD)
    assert config is not None
    assert (config.text("SLURM_VERSION"), config.words("JobSubmitPlugins")) == ("20.11.6", ("throttle", "lua"))
    assert config.paths("TaskProlog") == ("/etc/slurm/skyrl/taskprolog.sh",)
    assert find_scripts(Disk(), config) == {
        "TaskProlog": "/etc/slurm/skyrl/taskprolog.sh",
        "Epilog": "/etc/slurm/skyrl/epilog.sh",
    }


def test_the_scripts_of_a_release_that_numbers_them() -> None:
    config = parse(NEW)
    assert config is not None
    ours = {"TaskProlog": "/etc/slurm/skyrl/taskprolog.sh", "Epilog": "/etc/slurm/skyrl/epilog.sh"}
    assert find_scripts(Disk(prolog=""), config) == {
        **ours,
        "Prolog": "/etc/slurm/prolog.d/prolog.sh",
    }
    calls = find_scripts(Disk(own="", ours="#!/bin/sh\nexec /etc/slurm/skyrl/prolog.sh\n"), config)
    assert calls == {**ours, "Prolog": "/etc/slurm/skyrl/prolog.sh"}
    assert find_scripts(Disk(), config) == ours


@pytest.mark.parametrize(
    "text", ["", "slurm_load_ctl_conf error: Unable to contact slurm controller", HEAD, OLD.replace("SLURM_CONF", "X")]
)
def test_what_is_no_configuration_is_not_read_as_an_empty_one(text: str) -> None:
    assert parse(text) is None
