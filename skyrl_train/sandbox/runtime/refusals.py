"""Why a request is refused: a status, and a sentence with what was found and what was wanted."""

from skyrl_train.contracts.errors import TrainError
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.slots import Slots
from skyrl_train.sandbox.start_request import StartRequest


class RefusedError(TrainError):
    """An answer to a client. `retry_after_s` where asking again later may help."""

    def __init__(self, status: int, why: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.retry_after_s = retry_after_s


def gone(name: str) -> RefusedError:
    return RefusedError(404, f"no session or runtime {name!r:.140}")


def draining() -> RefusedError:
    return RefusedError(503, "this runtime is shutting down: its job ends; nothing is started any more")


def too_big(units: int, total: int) -> RefusedError:
    return RefusedError(422, f"resource_factor {units} takes {units} worker slots; this runtime has {total}")


def full(slots: Slots, retry_after_s: int) -> RefusedError:
    return RefusedError(
        503,
        f"No available worker slots: {slots.used} of {slots.total} in use, {slots.waiting} sessions wait for one",
        retry_after_s=retry_after_s,
    )


def conflict(known: Record, request: StartRequest) -> RefusedError:
    return RefusedError(409, f"session {known.session_id} runs {known.request.image}; asked for was {request.image}")


def not_ready(record: Record) -> RefusedError:
    return RefusedError(409, f"{record.runtime_id} is {record.state}; only a ready sandbox can be paused")


def not_paused(record: Record) -> RefusedError:
    return RefusedError(409, f"{record.runtime_id} is {record.state}; only a paused sandbox can be resumed")
