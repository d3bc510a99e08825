"""The formats by name; each module is loaded when it is asked for."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skyrl_doctor.report.model import Report

FORMATS = ("auto", "text", "json", "junit", "github", "prometheus")


def render(report: "Report", format_name: str) -> str:
    """The report in a format; `auto` is the plain text."""
    name = "text" if format_name == "auto" else format_name
    return str(importlib.import_module(f"skyrl_doctor.report.{name}").render(report))
