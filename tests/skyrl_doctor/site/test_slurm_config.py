"""`scontrol show config` of 20.11 to 25.11, in the shapes that sites have published, with values of our own."""

import pytest

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


def test_the_scripts_of_a_release_that_has_one_of_each() -> None:
    config = parse(OLD)
    assert config is not None
    assert (config.text("SLURM_VERSION"), config.words("JobSubmitPlugins")) == ("20.11.6", ("throttle", "lua"))
    assert config.paths("TaskProlog") == ("/etc/slurm/skyrl/taskprolog.sh",)
    assert find_scripts(config, lambda _: False) == {
        "TaskProlog": "/etc/slurm/skyrl/taskprolog.sh",
        "Epilog": "/etc/slurm/skyrl/epilog.sh",
    }


def test_the_scripts_of_a_release_that_numbers_them() -> None:
    config = parse(NEW)
    assert config is not None
    ours = {"TaskProlog": "/etc/slurm/skyrl/taskprolog.sh", "Epilog": "/etc/slurm/skyrl/epilog.sh"}
    assert find_scripts(config, lambda _: True) == {**ours, "Prolog": "/etc/slurm/prolog.d/prolog.sh"}
    assert find_scripts(config, lambda _: False) == ours


@pytest.mark.parametrize(
    "text", ["", "slurm_load_ctl_conf error: Unable to contact slurm controller", HEAD, OLD.replace("SLURM_CONF", "X")]
)
def test_what_is_no_configuration_is_not_read_as_an_empty_one(text: str) -> None:
    assert parse(text) is None
