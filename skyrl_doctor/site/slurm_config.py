"""Slurm's configuration, as `scontrol show config` prints it: 20.11 to 25.11."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.record import record

SHOW_CONFIG = ("scontrol", "show", "config")
HOOKS = {
    "TaskProlog": "taskprolog.sh",
    "Prolog": "prolog.sh",
    "Epilog": "epilog.sh",
    "HealthCheckProgram": "healthcheck.sh",
}
"""Our script of each setting."""
_ENTRY = re.compile(r"^(?P<key>[A-Za-z]\w*)(?:\[\d+\])?[ \t]*=[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)
_NOTHING = ("", "(null)", "(none)", "N/A")
_FILE_ENTRY = re.compile(r"^[ \t]*(?P<key>[A-Za-z]\w*)[ \t]*=[ \t]*(?P<value>[^\s#]+)", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*include[ \t]+\S", re.MULTILINE | re.IGNORECASE)
_END = re.compile(r"^[A-Za-z ]*(?:Configuration|Slurmctld\(|Cgroup|Control Group)\b.*$", re.MULTILINE)


@record
class SlurmConfig:
    """The settings of Slurm by their names in lower case.

    `is_of_file`: they are those of slurm.conf, without defaults. `has_includes`: it includes files, which are not read.
    """

    values: Mapping[str, tuple[str, ...]]
    is_of_file: bool = False
    has_includes: bool = False

    def paths(self, key: str) -> tuple[str, ...]:
        """The programs of a hook. Slurm 24.05 and later number them: `Prolog[0]`. Earlier ones print a comma or a glob."""
        return tuple(path for value in self.values.get(key.lower(), ()) for path in value.split(",") if path)

    def words(self, key: str) -> tuple[str, ...]:
        """A list such as JobSubmitPlugins, in lower case."""
        return tuple(word.strip().lower() for value in self.values.get(key.lower(), ()) for word in value.split(","))

    def text(self, key: str) -> str:
        return next(iter(self.values.get(key.lower(), ())), "")


def parse(text: str) -> SlurmConfig | None:
    """The configuration; None if this is no output of `scontrol show config`."""
    begin = text.find("Configuration data as of")
    if begin < 0:
        return None
    body = text[text.find("\n", begin) + 1 :]
    end = _END.search(body)
    found: dict[str, list[str]] = {}
    for entry in _ENTRY.finditer(body[: end.start()] if end else body):
        if entry["value"] not in _NOTHING:
            found.setdefault(entry["key"].lower(), []).append(entry["value"])
    if "slurm_conf" not in found:
        return None
    return SlurmConfig({key: tuple(values) for key, values in found.items()})


def parse_file(text: str, path: str) -> SlurmConfig:
    """The settings that a slurm.conf itself names: without defaults, and without the files that it includes."""
    found: dict[str, list[str]] = {"slurm_conf": [path]}
    for entry in _FILE_ENTRY.finditer(text):
        found.setdefault(entry["key"].lower(), []).append(entry["value"])
    includes = _INCLUDE.search(text) is not None
    values = {key: tuple(values) for key, values in found.items()}
    return SlurmConfig(values, is_of_file=True, has_includes=includes)
