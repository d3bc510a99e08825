"""RunConfig: everything that a launch needs, in one frozen value. Its dotted names are the Plan's canonical keys."""

import re

from pydantic import Field, field_validator

from skyrl_train.config.sections.actor import ActorSection, CriticSection
from skyrl_train.config.sections.agent import AgentSection
from skyrl_train.config.sections.algorithm import AlgorithmSection
from skyrl_train.config.sections.base import Section
from skyrl_train.config.sections.data import DataSection
from skyrl_train.config.sections.model import ModelSection
from skyrl_train.config.sections.python import PythonSection
from skyrl_train.config.sections.rollout import RolloutSection
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.config.sections.slurm import SlurmSection
from skyrl_train.config.sections.trainer import TrainerSection
from skyrl_train.config.sections.watch import WatchSection

ENV_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"


class RunConfig(Section):
    """One run: two Slurm jobs, a sandbox runtime, an agent, and PPO or GRPO through verl."""

    model: ModelSection
    """The model."""
    data: DataSection = DataSection()
    """The tasks."""
    rollout: RolloutSection = RolloutSection()
    """The model server and its sampling."""
    actor: ActorSection = ActorSection()
    """The policy's update."""
    critic: CriticSection = CriticSection()
    """The value model."""
    algorithm: AlgorithmSection = AlgorithmSection()
    """Advantages."""
    agent: AgentSection = AgentSection()
    """The agent loop."""
    sandbox: SandboxSection = SandboxSection()
    """The runtime and its sandboxes."""
    slurm: SlurmSection = SlurmSection()
    """The jobs."""
    trainer: TrainerSection = TrainerSection()
    """Steps, checkpoints, logging."""
    watch: WatchSection = WatchSection()
    """The doctor beside the job."""
    python: PythonSection = PythonSection()
    """The interpreter."""
    env: dict[str, str] = Field(default_factory=dict)
    """Variables for every worker. No secrets: this table is printed and kept with the job."""

    @field_validator("env")
    @classmethod
    def _names(cls, value: dict[str, str]) -> dict[str, str]:
        wrong = [name for name in value if not re.match(ENV_NAME, name)]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no name of a variable")
        return value

    @property
    def devices(self) -> int:
        """GPUs, or MIG slices, of the whole trainer job."""
        return self.slurm.nodes * self.slurm.gpus_per_node

    @property
    def needs_critic(self) -> bool:
        """Whether a value model is trained too."""
        return self.algorithm.advantage == "gae"
