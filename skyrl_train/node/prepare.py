"""Applies all rules of a node: the environment that a job needs on a GPU node and on a runtime node."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.node.allocator import SLEEPS_BY_DEFAULT, allocator_settings
from skyrl_train.node.caches import cache_settings
from skyrl_train.node.mig import Refusal, SliceId, mig_remap
from skyrl_train.node.podman_store import LOCAL_BASE, job_store, kernel_has_rootless_overlay, store_pointer
from skyrl_train.node.proxy import proxy_settings
from skyrl_train.node.python import interpreter_settings
from skyrl_train.node.ray import ray_settings
from skyrl_train.node.ray_tmp import socket_settings
from skyrl_train.node.rocr import rocr_settings
from skyrl_train.node.settings import Preparation
from skyrl_train.node.visible_devices import VARIABLE
from skyrl_train.node.vllm import vllm_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What the rules need to know about a node. Without `slices` and `gpus`, CUDA_VISIBLE_DEVICES is left as it is."""

    environ: Mapping[str, str]
    uid: int
    user: str
    home: str
    kernel: str = ""
    slices: Sequence[SliceId] | None = None
    gpus: Sequence[str] | None = None
    interpreter: str | None = None
    unfit: Collection[str] = ()
    runtime_hosts: Sequence[str] = ()
    sleeps: bool = SLEEPS_BY_DEFAULT
    mount_program: str | None = None
    image_stores: Sequence[str] = ()
    site_conf: Sequence[str] = ()
    auth_file: str | None = None
    store_base: str = LOCAL_BASE

    @property
    def job_id(self) -> str | None:
        return self.environ.get("SLURM_JOB_ID") or None


@dataclass(frozen=True, slots=True)
class Prepared:
    """The settings, and the reasons why some could not be made."""

    preparation: Preparation
    refusals: tuple[str, ...] = ()


def gpu_node(node: Node) -> Prepared:
    """The settings of a node that trains, for verl, vLLM, Ray and Triton."""
    environ, uid, job_id = node.environ, node.uid, node.job_id
    devices = _devices(node)
    rules = (
        devices if isinstance(devices, Preparation) else Preparation(),
        rocr_settings(environ),
        vllm_settings(environ),
        allocator_settings(environ, sleeps=node.sleeps),
        interpreter_settings(node.interpreter, environ) if node.interpreter else Preparation(),
        socket_settings(environ, uid=uid, job_id=job_id),
        ray_settings(environ, uid=uid, job_id=job_id),
        cache_settings(environ, home=node.home, user=node.user, uid=uid, job_id=job_id, unfit=node.unfit),
        proxy_settings(environ, node.runtime_hosts),
    )
    refusals = (f"GPU001: {devices.reason}",) if isinstance(devices, Refusal) else ()
    return Prepared(sum(rules, Preparation()), refusals)


def runtime_node(node: Node) -> Prepared:
    """The settings of a node with sandboxes, for Podman."""
    needs_helper = kernel_has_rootless_overlay(node.kernel) is False
    store = job_store(
        uid=node.uid,
        job_id=node.job_id,
        mount_program=node.mount_program if needs_helper else None,
        additional_image_stores=node.image_stores,
        site_conf=node.site_conf,
        auth_file=node.auth_file,
        base=node.store_base,
    )
    refusals = (
        "POD008: this kernel mounts no overlay for ordinary users, and fuse-overlayfs is not installed; install fuse-overlayfs",
    )
    return Prepared(
        store_pointer(uid=node.uid, job_id=node.job_id, base=node.store_base)
        + store
        + proxy_settings(node.environ, node.runtime_hosts),
        refusals if needs_helper and not node.mount_program else (),
    )


def _devices(node: Node) -> Preparation | Refusal:
    """The setting for MIG slices; empty if the variable is not set."""
    if node.slices is None or node.gpus is None or VARIABLE not in node.environ:
        return Preparation()
    return mig_remap(node.environ.get(VARIABLE), slices=node.slices, gpus=node.gpus)
