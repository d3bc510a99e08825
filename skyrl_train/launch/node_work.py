"""One node's part of a trainer job with several: Ray, on the head the trainer too, and an orderly end on every way out."""

import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import TrainError
from skyrl_train.launch import leftovers, node_files, node_settings
from skyrl_train.launch.marks import MARK, ROLE_MARK, end_marked
from skyrl_train.launch.node_files import ENDED, ENDING, UP, NodeState
from skyrl_train.launch.node_watch import BEAT_S
from skyrl_train.launch.role import Role
from skyrl_train.launch.signals import Signals
from skyrl_train.launch.work import say
from skyrl_train.node import ray_cluster
from skyrl_train.node.ray_cluster import Head
from skyrl_train.process import Child, started

NODE_MARK = "SKYRL_JOB_NODE"
"""What this part starts has it in its environment; what the supervisor starts beside it on the same node has not."""
PAYLOAD_GRACE_S, RAY_GRACE_S = 12.0, 8.0
"""Together less than the 30 s that Slurm leaves between its two signals."""
JOIN_LIMIT_S = 300.0
STEP_S = 0.2
READY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "rl", "ray_ready.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWork:
    """One node at work. `payload` runs on the head alone; `node_script` makes this node's settings."""

    job_dir: str
    node_script: str
    config: RunConfig
    payload: tuple[str, ...]
    environ: Mapping[str, str]
    signals: Signals

    @property
    def node(self) -> str:
        return self.environ.get("SLURMD_NODENAME") or socket.gethostname()

    @property
    def is_head(self) -> bool:
        return self.environ.get("SLURM_NODEID") == "0"

    @property
    def python(self) -> str:
        return self.config.python.interpreter or sys.executable

    @property
    def share(self) -> ray_cluster.Share:
        return ray_cluster.Share(cpus=self.config.slurm.trainer_cpus, gpus=self.config.slurm.gpus_per_node)


@dataclass(frozen=True, slots=True)
class End:
    """How this node's part ended. `signal` where it was told to: then its reason explains nothing."""

    status: int = 0
    reason: str = ""
    signal: bool = False


class Teller:
    """Keeps this node's file fresh, so that the supervisor sees that it lives."""

    def __init__(self, work: NodeWork) -> None:
        self._job_dir, self._state, self._next = work.job_dir, NodeState(node=work.node), 0.0

    def tell(self, state: str, end: End | None = None) -> None:
        end = end or End()
        said = {"state": state, "status": end.status, "reason": end.reason, "signal": end.signal}
        self._state = replace(self._state, beat=self._state.beat + 1, at=time.time(), **said)  # type: ignore[arg-type]  # by name
        node_files.tell(self._job_dir, self._state)
        self._next = time.monotonic() + BEAT_S

    def beat(self) -> None:
        if time.monotonic() >= self._next:
            self.tell(self._state.state)


def run(work: NodeWork) -> int:
    """The exit status of this node's task."""
    teller, end = Teller(work), End(1, "its part failed")
    try:
        if node_settings.take(work.node_script, work.signals.told_to_end):
            work = replace(work, environ={**os.environ, **work.config.env, NODE_MARK: work.node})
            end = _head(work, teller) if work.is_head else _worker(work, teller)
        else:
            end = _told(work)
    except (TrainError, OSError) as error:
        end = End(1, str(error))
    finally:
        _close(work, teller, end)
    return end.status


def _head(work: NodeWork, teller: Teller) -> End:
    """Starts the cluster, waits until it is whole, runs the trainer."""
    teller.tell(node_files.STARTING)
    environ = ray_cluster.cluster_environ(work.environ, node_files.token_path(work.job_dir))
    head, client_port = _free_ports(work.environ)
    with started(
        ray_cluster.head_words(work.python, head, client_port, work.share), env=environ, grace_s=RAY_GRACE_S
    ) as ray:
        node_files.tell_head(work.job_dir, head)
        teller.tell(UP)
        environ = ray_cluster.driver_environ(environ, head)
        lacking = node_files.lacking_path(work.job_dir)
        slurm = work.config.slurm
        wanted = (head.address, str(slurm.nodes), str(slurm.nodes * slurm.gpus_per_node), f"{JOIN_LIMIT_S:g}", lacking)
        with started((work.python, READY, *wanted), env=environ, grace_s=STEP_S) as waiting:
            end = _follow(work, teller, ray, waiting)
        if end.status == 0:
            with started(work.payload, env=environ, grace_s=PAYLOAD_GRACE_S) as trainer:
                end = _follow(work, teller, ray, trainer)
        else:
            end = replace(end, reason=node_files.lacking(work.job_dir) or end.reason)
        node_files.tell_head_ended(
            work.job_dir, end.status
        )  # before Ray goes, so that the workers' Ray goes without a complaint
    return end


def _worker(work: NodeWork, teller: Teller) -> End:
    teller.tell(node_files.STARTING)
    end_at = time.monotonic() + JOIN_LIMIT_S
    while (head := node_files.head(work.job_dir)) is None:
        if work.signals.stop:
            return _told(work)
        if time.monotonic() > end_at:
            return End(1, f"the head did not tell its address within {JOIN_LIMIT_S:g} s")
        teller.beat()
        time.sleep(STEP_S)
    environ = ray_cluster.cluster_environ(work.environ, node_files.token_path(work.job_dir))
    with started(ray_cluster.worker_words(work.python, head, work.share), env=environ, grace_s=RAY_GRACE_S) as ray:
        teller.tell(UP)
        return _follow(work, teller, ray, None)


def _follow(work: NodeWork, teller: Teller, ray: Child, child: Child | None) -> End:
    """Until the child ends, or Ray, or the job is told to; on a worker also until the head has ended."""
    end: End | None = None
    while end is None:
        time.sleep(STEP_S)
        teller.beat()
        end = _now(work, ray, child)
    if end.status:
        teller.tell(ENDING, end)  # before the graces, which may take longer than this process is left
    return end


def _now(work: NodeWork, ray: Child, child: Child | None) -> End | None:
    signals = work.signals
    if signals.stop:
        return _told(work)
    if child is not None:
        if not signals.passed_on and node_files.is_warned(work.job_dir):
            signals.pass_on(child.pid)
        if child.poll() is not None:
            status = child.status if child.status >= 0 else 128 - child.status
            return End(status, f"the trainer ended with {status}" if status else "")
    elif node_files.head_has_ended(work.job_dir):
        return End()
    if ray.poll() is not None:
        if child is None and node_files.head_has_ended(work.job_dir, surely=True):
            return End()
        return End(1, f"Ray ended with {ray.status}; its own words stand above in the log")
    return None


def _told(work: NodeWork) -> End:
    return End(128 + work.signals.stop, f"stopped by signal {work.signals.stop}", signal=True)


def _free_ports(environ: Mapping[str, str]) -> tuple[Head, int]:
    """The first pair that nobody has. The address is the one at which the others reach srun, hence this node."""
    host = environ.get(ray_cluster.LAUNCH_ADDRESS, "")
    if not host:
        raise TrainError(f"srun told no {ray_cluster.LAUNCH_ADDRESS}: the other nodes have no address to join")
    tried = list(ray_cluster.ports(environ.get("SLURM_JOB_ID", "")))
    for pair in tried:
        if all(map(_is_free, pair)):
            return Head(host, pair[0]), pair[1]
    raise TrainError(f"no free port for Ray's head: {', '.join(str(pair[0]) for pair in tried)} are taken on this node")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET) as one:
        try:
            one.bind(("", port))
        except OSError:
            return False
    return True


def _close(work: NodeWork, teller: Teller, end: End) -> None:
    """Ends what is left of this node's part, and takes away what it made, where this task was told to make it."""
    end_marked({MARK: work.job_dir, ROLE_MARK: Role.TRAINER, NODE_MARK: work.node}, RAY_GRACE_S / 4)
    for trouble in leftovers.of_this_job(work.environ):
        say(f"{work.node}: {trouble}")
    try:
        teller.tell(ENDED, end)
    except TrainError as error:
        say(f"{work.node}: {error}")
