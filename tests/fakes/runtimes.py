"""A running runtime's facts made by hand, and the plans of the recorded launch."""

from dataclasses import replace

from fakes.images import DATA
from skyrl_doctor.facts.runtime import Canary, RuntimeAnswers, RuntimePlace
from skyrl_doctor.machine.http_query import Fetched
from skyrl_doctor.machine.queries import Stat
from skyrl_doctor.plan.model import Plan
from support import plan_of

JOB = "/home/trainer/run/.skyrl_jobs/20261121_010000_launch"
URL = "http://cpu-node-03:8000"
SESSION = f"{URL}/sessions/doctor-probe"
OURS: Plan = plan_of(data__train_files=[DATA], sandbox__inject="mount", agent__max_parallel=4)
OTHERS: Plan = plan_of(data__train_files=[DATA], agent__max_parallel=4)
KEY_FILE = Stat(kind="file", mode=0o600, uid=1000, gid=1000, size=44, mtime=0.0, device=1, inode=1)
PLACE = RuntimePlace(
    url=URL, source=f"{JOB}/runtime_url.txt", key_from=f"file {JOB}/runtime_api_key.txt", key_file=KEY_FILE
)
CANARY = Canary(asked=4, worked=4, start_s=(0.4, 0.6), has_key=True, server_version="1.58.0", wrong_key_refused=True)


def answers(
    with_key: int | None = 404, wrong: int | None = 401, *, why: str = "Connection refused", place: RuntimePlace = PLACE
) -> RuntimeAnswers:
    """None is no answer."""

    def fetched(status: int | None) -> Fetched:
        return Fetched(url=SESSION, status=status, why="" if status else why)

    return RuntimeAnswers(
        place=place,
        health=replace(fetched(with_key), url=f"{URL}/health"),
        with_key=fetched(with_key),
        with_wrong_key=fetched(wrong),
    )
