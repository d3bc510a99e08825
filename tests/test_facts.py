"""One subject, one place: the record, its parser and its probe."""

import importlib
import pkgutil

import checks
from skyrl_doctor.core.check import Probe
from skyrl_doctor.core.registry import discover


def places_beside(module: str) -> set[str]:
    """Where the probe of a record in this module may be: there, or in the file beside it that imports would not allow there."""
    return {module, f"{module}_probe", f"{module.rpartition('.')[0]}.probe"}


def test_a_probe_stands_beside_the_record_that_it_makes() -> None:
    ours = [probe for probe in discover().probes.values() if probe.look.__module__.startswith("skyrl_doctor.")]
    apart = {
        probe.name: (probe.look.__module__, probe.kind.__module__)
        for probe in ours
        if probe.look.__module__ not in places_beside(probe.kind.__module__)
    }
    assert (apart, len(ours) > 40) == ({}, True)


def test_a_check_imports_records_and_no_probe() -> None:
    walked = pkgutil.walk_packages(checks.__path__, prefix="checks.")
    modules = [importlib.import_module(found.name) for found in walked]
    wrong = [
        f"{one.__name__}.{name}" for one in modules for name, value in vars(one).items() if isinstance(value, Probe)
    ]
    assert wrong == []
