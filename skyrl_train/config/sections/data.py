"""[data]"""

from pydantic import Field

from skyrl_train.config.sections.base import Section


class DataSection(Section):
    """The training and validation tasks, and their length limits."""

    train_files: tuple[str, ...] = ()
    """Parquet or JSON-lines files of training tasks."""
    val_files: tuple[str, ...] = ()
    """Parquet or JSON-lines files of validation tasks."""
    prompt_key: str = "prompt"
    """The column that holds the prompt."""
    train_batch_size: int = Field(default=1, ge=1)
    """Prompts in one training step."""
    max_prompt_tokens: int = Field(default=2048, ge=1)
    """Longest prompt, in tokens; longer ones are dropped."""
    max_response_tokens: int = Field(default=2048, ge=1)
    """Longest response of a rollout, in tokens: all turns and all tool results together."""
    shuffle: bool = True
    """Use the tasks in random order."""
    seed: int = 42
    """Seed of the random order."""
    loader_workers: int = Field(default=2, ge=0)
    """Processes that load tasks."""
