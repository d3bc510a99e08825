"""The report formats by name. A format's module is imported when it is used."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skyrl_doctor.report.model import Batch, Report

FORMATS = ("auto", "text", "json", "junit", "sarif", "github", "prometheus")


def render(report: "Report", format_name: str) -> str:
    """The report in this format; `auto` means plain text."""
    name = "text" if format_name == "auto" else format_name
    return str(importlib.import_module(f"skyrl_doctor.report.{name}").render(report))


def render_batch(batch: "Batch", format_name: str) -> str:
    """The reports of several runs in this format; `auto` means plain text."""
    name = "text" if format_name == "auto" else format_name
    return str(importlib.import_module(f"skyrl_doctor.report.{name}").render_batch(batch))
