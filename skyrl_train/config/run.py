"""RunConfig: all settings of a launch in one frozen value. Its dotted names are the canonical keys of a Plan."""

import re

from pydantic import Field, field_validator

from skyrl_train.config.rollout_gpus import Split, split_of
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
    """The training and validation tasks."""
    rollout: RolloutSection = RolloutSection()
    """The model server and its sampling."""
    actor: ActorSection = ActorSection()
    """The policy's update."""
    critic: CriticSection = CriticSection()
    """The value model."""
    algorithm: AlgorithmSection = AlgorithmSection()
    """How advantages are computed."""
    agent: AgentSection = AgentSection()
    """The agent loop."""
    sandbox: SandboxSection = SandboxSection()
    """The runtime and its sandboxes."""
    slurm: SlurmSection = SlurmSection()
    """The two Slurm jobs."""
    trainer: TrainerSection = TrainerSection()
    """Steps, checkpoints and logging."""
    watch: WatchSection = WatchSection()
    """The doctor's watch during the job."""
    python: PythonSection = PythonSection()
    """The Python that trains."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables for every worker. No secrets: this table is printed and stored with the job."""

    @field_validator("env")
    @classmethod
    def _names(cls, value: dict[str, str]) -> dict[str, str]:
        wrong = [name for name in value if not re.match(ENV_NAME, name)]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is not a valid variable name")
        return value

    @property
    def devices(self) -> int:
        """The number of GPUs or MIG slices of the trainer job."""
        return self.slurm.nodes * self.slurm.gpus_per_node

    @property
    def split(self) -> Split | None:
        """The GPUs that train and those of the rollouts; None if they share all GPUs."""
        return split_of(
            mode=self.trainer.mode,
            nodes=self.slurm.nodes,
            gpus_per_node=self.slurm.gpus_per_node,
            rollout_gpus=self.trainer.rollout_gpus,
        )

    @property
    def trainer_devices(self) -> int:
        """The number of GPUs or MIG slices that train."""
        return self.devices if self.split is None else self.split.trainer_devices

    @property
    def needs_critic(self) -> bool:
        """Whether a value model is trained."""
        return self.algorithm.advantage == "gae"
