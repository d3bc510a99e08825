"""[python]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class PythonSection(Section):
    """The Python that trains."""

    interpreter: str | None = Field(default=None, min_length=1)
    """Path of the Python (default: $UV_PYTHON, else the active virtual environment's, else the launcher's)."""
    launcher: Literal["python", "uv run"] = "python"
    """How the driver is started. With `uv run`, Ray builds the environment again for each worker."""
    modules: tuple[str, ...] = ()
    """Environment modules to load first (`module load …`)."""
