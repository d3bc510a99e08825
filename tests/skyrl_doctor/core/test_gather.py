"""Which facts depend on another one, and what starts while checks are judged."""

import threading

from skyrl_doctor.core.check import Need, Probe
from skyrl_doctor.core.gather import Gathering, needing

TRIES = 3000


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


def test_a_probe_starts_as_soon_as_what_it_needs_is_there_though_nobody_takes_answers() -> None:
    started = threading.Event()

    def model(_gpu: Gpu) -> Model:
        started.set()
        return Model()

    probes: dict[type, Probe] = {
        Gpu: Probe(Gpu, "gpu", Gpu, ()),
        Model: Probe(Model, "model", model, (Need(Gpu),)),
    }
    gathering = Gathering(probes, {}, deadline_s=60.0)
    facts = gathering.gather([Need(Model)])
    next(facts)
    for _ in range(TRIES):  # a slow check is judged meanwhile
        gathering.advance()
        if started.wait(0.01):
            break
    assert started.is_set()
    for _ in facts:
        pass
    assert set(gathering.results) == {Gpu, Model}
