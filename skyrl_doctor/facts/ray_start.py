"""The arguments of ray.init() in the plan: verl passes on the table ray_kwargs.ray_init."""

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.model import Plan, Value

NUM_CPUS = "ray_kwargs.ray_init.num_cpus"
STORE = "ray_kwargs.ray_init.object_store_memory"


@record
class RayStart:
    """A value is None if the plan does not set it."""

    num_cpus: Value | None = None
    store: Value | None = None


def ray_start(plan: Plan) -> RayStart:
    return RayStart(_number(plan, NUM_CPUS), _number(plan, STORE))


def _number(plan: Plan, key: str) -> Value | None:
    found = plan.own.get(key)
    if found is None or found.value is None:
        return None
    if found.unknown or isinstance(found.value, bool) or not isinstance(found.value, int):
        raise CouldNotLook(f"{found.assignment}: {found.unknown or 'expected a whole number'}")
    return found
