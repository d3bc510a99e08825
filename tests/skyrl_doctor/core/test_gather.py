"""Which facts depend on another one."""

from skyrl_doctor.core.check import Need, Probe
from skyrl_doctor.core.gather import needing


class Plan: ...


class Gpu: ...


class Model: ...


class Fit: ...


def test_finds_what_needs_a_fact_directly_or_through_others() -> None:
    def nothing() -> None: ...

    probes = {
        Fit: Probe(Fit, "fit", nothing, (Need(Model), Need(Gpu))),
        Model: Probe(Model, "model", nothing, (Need(Plan, optional=True),)),
        Gpu: Probe(Gpu, "gpu", nothing, ()),
    }
    assert needing(Plan, probes) == {Plan, Model, Fit}
    assert needing(Gpu, probes) == {Gpu, Fit}
