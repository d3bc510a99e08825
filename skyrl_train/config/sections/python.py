"""[python]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class PythonSection(Section):
    """The Python that trains."""

    interpreter: str | None = Field(default=None, min_length=1)
    """Path of the Python that trains. By default `launch` uses the Python that runs it; the doctor checks $UV_PYTHON, else
    the active virtual environment, else the project's .venv, else its own."""
    launcher: Literal["python", "uv run"] = "python"
    """How the driver is started. With `uv run`, Ray builds the environment again for each worker."""
    modules: tuple[str, ...] = ()
    """Environment modules to load first (`module load …`)."""
