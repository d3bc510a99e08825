"""The environment that the doctor was started in: the one that the job inherits."""

from collections.abc import Iterator, Mapping

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine


@record
class Environ(Mapping[str, str]):
    """Variables by name. Unset and empty differ: `get` gives None for one and "" for the other."""

    variables: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def in_slurm_job(self) -> bool:
        return bool(self.variables.get("SLURM_JOB_ID"))


@probe(limit_s=1.0)
def environ(machine: Machine) -> Environ:
    """Reads the environment."""
    return Environ(machine.environ())
