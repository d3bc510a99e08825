"""One node's part of a trainer job with several nodes: Ray, on the head also the trainer, and the cleanup."""

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
from skyrl_train.launch.node_files import ENDED, ENDING, UP, NodeReport
from skyrl_train.launch.node_watch import BEAT_S
from skyrl_train.launch.role import Role
from skyrl_train.launch.signals import Signals
from skyrl_train.launch.work import say
from skyrl_train.node import ray_cluster
from skyrl_train.node.ray_cluster import Head
from skyrl_train.process import Child, started

NODE_MARK = "SKYRL_JOB_NODE"
"""Set for every process of this part, to distinguish them from the supervisor's processes on the same node."""
PAYLOAD_GRACE_S, RAY_GRACE_S = 12.0, 8.0
"""Together less than the 30 s between Slurm's SIGTERM and SIGKILL."""
JOIN_LIMIT_S = 300.0
STEP_S = 0.2
READY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "rl", "ray_ready.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWork:
    """The part of one node. `payload` runs only on the head; `node_script` makes this node's settings."""

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
        return ray_cluster.share_of(cpus=self.config.slurm.trainer_cpus, gpus=self.config.slurm.gpus_per_node)


@dataclass(frozen=True, slots=True)
class End:
    """How this node's part ended. `signal` means that a signal ended it, so its reason is not the cause."""

    status: int = 0
    reason: str = ""
    signal: bool = False


class Reporter:
    """Rewrites this node's report regularly, so that the supervisor sees that it lives."""

    def __init__(self, work: NodeWork) -> None:
        self._job_dir, self._state, self._next = work.job_dir, NodeReport(node=work.node), 0.0

    def report(self, state: str, end: End | None = None) -> None:
        end = end or End()
        fields = {"state": state, "status": end.status, "reason": end.reason, "signal": end.signal}
        self._state = replace(self._state, beat=self._state.beat + 1, at=time.time(), **fields)  # type: ignore[arg-type]  # fields of the record by name
        node_files.write_report(self._job_dir, self._state)
        self._next = time.monotonic() + BEAT_S

    def beat(self) -> None:
        if time.monotonic() >= self._next:
            self.report(self._state.state)


def run(work: NodeWork) -> int:
    """Runs this node's part; its exit status."""
    reporter, end = Reporter(work), End(1, "this part of the job failed")
    try:
        if node_settings.apply(work.node_script, work.signals.stop_requested):
            work = replace(work, environ={**os.environ, **work.config.env, NODE_MARK: work.node})
            end = _head(work, reporter) if work.is_head else _worker(work, reporter)
        else:
            end = _stopped(work)
    except (TrainError, OSError) as error:
        end = End(1, str(error))
    finally:
        _close(work, reporter, end)
    return end.status


def _head(work: NodeWork, reporter: Reporter) -> End:
    """Starts the Ray cluster, waits until all nodes have joined, runs the trainer."""
    reporter.report(node_files.STARTING)
    environ = ray_cluster.cluster_environ(work.environ, node_files.token_path(work.job_dir))
    head, client_port = _free_ports(work.environ)
    with started(
        ray_cluster.head_words(work.python, head, client_port, work.share), env=environ, grace_s=RAY_GRACE_S
    ) as ray:
        node_files.write_head(work.job_dir, head)
        reporter.report(UP)
        environ = ray_cluster.driver_environ(environ, head)
        missing = node_files.missing_path(work.job_dir)
        slurm = work.config.slurm
        arguments = (
            head.address,
            str(slurm.nodes),
            str(slurm.nodes * slurm.gpus_per_node),
            f"{JOIN_LIMIT_S:g}",
            missing,
        )
        with started((work.python, READY, *arguments), env=environ, grace_s=STEP_S) as waiting:
            end = _follow(work, reporter, ray, waiting)
        if end.status == 0:
            with started(work.payload, env=environ, grace_s=PAYLOAD_GRACE_S) as trainer:
                end = _follow(work, reporter, ray, trainer)
        else:
            end = replace(end, reason=node_files.read_missing(work.job_dir) or end.reason)
        node_files.write_head_end(
            work.job_dir, end.status
        )  # before Ray ends, so that the workers do not report its end as a failure
    return end


def _worker(work: NodeWork, reporter: Reporter) -> End:
    reporter.report(node_files.STARTING)
    end_at = time.monotonic() + JOIN_LIMIT_S
    while (head := node_files.read_head(work.job_dir)) is None:
        if work.signals.stop:
            return _stopped(work)
        if time.monotonic() > end_at:
            return End(1, f"the head node did not report its address within {JOIN_LIMIT_S:g} s")
        reporter.beat()
        time.sleep(STEP_S)
    environ = ray_cluster.cluster_environ(work.environ, node_files.token_path(work.job_dir))
    with started(ray_cluster.worker_words(work.python, head, work.share), env=environ, grace_s=RAY_GRACE_S) as ray:
        reporter.report(UP)
        return _follow(work, reporter, ray, None)


def _follow(work: NodeWork, reporter: Reporter, ray: Child, child: Child | None) -> End:
    """Waits until the child or Ray ends or a stop is requested; on a worker also until the head has ended."""
    end: End | None = None
    while end is None:
        time.sleep(STEP_S)
        reporter.beat()
        end = _end_now(work, ray, child)
    if end.status:
        reporter.report(ENDING, end)  # before the grace periods, in which this process may be killed
    return end


def _end_now(work: NodeWork, ray: Child, child: Child | None) -> End | None:
    signals = work.signals
    if signals.stop:
        return _stopped(work)
    if child is not None:
        if not signals.passed_on and node_files.is_warned(work.job_dir):
            signals.pass_on(child.pid)
        if child.poll() is not None:
            status = child.status if child.status >= 0 else 128 - child.status
            return End(status, f"the trainer exited with status {status}" if status else "")
    elif node_files.head_has_ended(work.job_dir):
        return End()
    if ray.poll() is not None:
        if child is None and node_files.head_has_ended(work.job_dir, surely=True):
            return End()
        return End(1, f"Ray exited with status {ray.status}; its messages are above in this log")
    return None


def _stopped(work: NodeWork) -> End:
    return End(128 + work.signals.stop, f"stopped by signal {work.signals.stop}", signal=True)


def _free_ports(environ: Mapping[str, str]) -> tuple[Head, int]:
    """The first pair of free ports, and this node's address, at which the other nodes reach srun."""
    host = environ.get(ray_cluster.LAUNCH_ADDRESS, "")
    if not host:
        raise TrainError(f"srun did not set {ray_cluster.LAUNCH_ADDRESS}, so the other nodes have no address to join")
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


def _close(work: NodeWork, reporter: Reporter, end: End) -> None:
    """Ends the remaining processes of this node's part and removes what it made on the node."""
    end_marked({MARK: work.job_dir, ROLE_MARK: Role.TRAINER, NODE_MARK: work.node}, RAY_GRACE_S / 4)
    for trouble in leftovers.of_this_job(work.environ):
        say(f"{work.node}: {trouble}")
    try:
        reporter.report(ENDED, end)
    except TrainError as error:
        say(f"{work.node}: {error}")
