"""[python]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class PythonSection(Section):
    """The interpreter that trains."""

    interpreter: str | None = Field(default=None, min_length=1)
    """Its path; none takes $UV_PYTHON, else the virtual environment's, else the launcher's own."""
    launcher: Literal["python", "uv run"] = "python"
    """How the driver is started. `uv run` makes Ray build the environment anew for each worker."""
    modules: tuple[str, ...] = ()
    """Environment modules to load first (`module load …`)."""
