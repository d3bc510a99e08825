"""What a configuration of ours says in verl's own words. They come last on verl's command line, and win."""

from collections.abc import Mapping

from skyrl_doctor.plan.model import Plan, Value

OVERRIDES = "trainer.verl_overrides"


def verl_words(plan: Plan) -> Mapping[str, Value]:
    """By verl's keys; none where the plan is not ours, or has none."""
    words, place = plan.texts(OVERRIDES), plan.place(OVERRIDES)
    if not words or place is None:
        return {}
    from skyrl_doctor.plan.dialects.verl.compose import Composition, Given  # which most runs need not wait for
    from skyrl_doctor.plan.dialects.verl.defaults import shipped

    composed = Composition.of(shipped("dp"))
    for word in words:
        composed.apply(Given(word, place))
    return {key: value for key, value in composed.resolved({}).items() if value.written}
