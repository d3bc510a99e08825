"""What every table of a RunConfig shares."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Frozen, closed to unknown keys, each field with a docstring that becomes its description."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True, allow_inf_nan=False
    )
