"""The base class of all tables of a RunConfig."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A frozen table that rejects unknown keys. The docstring of each field becomes its description."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True, allow_inf_nan=False
    )
