"""The configuration that a recording, a bundle or a job directory holds, where the command line names none."""

import os

from skyrl_doctor.bundle import targets_in
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.html.job import CONFIGS, SIGNS, configuration_of
from skyrl_doctor.html.subject import JOB, RECORDING
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.load import load


def configuration_in(directory: str) -> tuple[str, ...]:
    """The files of the configuration; none for any other directory."""
    is_recording = os.path.isfile(os.path.join(directory, RECORDING))
    folder = os.path.join(directory, JOB) if is_recording else directory
    try:
        if kept := targets_in(directory):
            return kept
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    if not SIGNS & {*names}:
        return ()
    return configuration_of([os.path.join(folder, name) for name in names if name.endswith(CONFIGS)])


def readable_configuration_in(directory: str) -> tuple[tuple[str, ...], str]:
    """The files of the configuration; none and the reason if one cannot be read."""
    found = configuration_in(directory)
    try:
        load(LocalMachine(), found)
    except UsageError as error:
        return (), str(error)
    return found, ""
