"""The overrides of verl in a configuration of ours. They come last on verl's command line and win."""

from collections.abc import Mapping

from skyrl_doctor.plan.model import Plan, Value

OVERRIDES = "trainer.verl_overrides"


def verl_overrides(plan: Plan) -> Mapping[str, Value]:
    """Their values by verl's keys; empty where the plan is not ours or has none."""
    words, place = plan.texts(OVERRIDES), plan.place(OVERRIDES)
    if not words or place is None:
        return {}
    from skyrl_doctor.plan.dialects.verl.compose import Composition, Given  # which most runs need not wait for
    from skyrl_doctor.plan.dialects.verl.defaults import shipped

    defaults = shipped("dp")
    composed = Composition.of(defaults.values, defaults.source)
    for word in words:
        composed.apply(Given(word, place))
    return {key: value for key, value in composed.resolved({}).items() if value.written}
