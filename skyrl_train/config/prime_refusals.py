"""Written settings that prime-rl's validators refuse together (CFG012).

Defaults differ between versions and may lie in another file, so a rule needs that each of its settings is written.
"""

from collections.abc import Callable, Iterator
from functools import partial

from skyrl_train.config.dialect import PRIME_NODE_GPUS
from skyrl_train.config.refusals import Own, Refusal, Rule, whole
from skyrl_train.config.skyrl_refusals import USUAL_ROLLOUTS

LONE_IS_ZERO = ("grpo", "max_rl")
"""The algorithms that learn from nothing but the difference to the mean."""
RUNTIMES = ("subprocess", "docker", "podman", "apptainer", "prime", "modal", "e2b")
"""The runtimes of verifiers 0.4, which prime-rl's environments take."""


def _prime_tensor(own: Own) -> Iterator[Refusal]:
    key = "inference.vllm.tensor_parallel_size"
    size, gpus = whole(own(key)), whole(own("deployment.num_infer_gpus"))
    if size and gpus and gpus % size and own("deployment.type") in (None, "single_node"):
        yield Refusal(
            key=key, message=f"{key} is {size}, which does not divide the {gpus} GPUs of deployment.num_infer_gpus"
        )


def _prime_gpus(own: Own) -> Iterator[Refusal]:
    """prime-rl adds the GPUs before it looks at the node: `deployment.gpus_per_node` is 8 where it is not written. Only the
    user knows the node, so no number is written there."""
    key, written = "deployment.gpus_per_node", own("deployment.gpus_per_node")
    infer_key = "deployment.num_infer_gpus"
    train, infer = (whole(own(name)) for name in ("deployment.num_train_gpus", infer_key))
    if train is None or infer is None or written is not None or own("deployment.type") not in (None, "single_node"):
        return
    if train + infer > PRIME_NODE_GPUS:
        fits = PRIME_NODE_GPUS - train
        fewer = f"use {infer_key} = {fits}, or " if fits > 0 else ""
        yield Refusal(
            key=infer_key,
            message=f"deployment.num_train_gpus {train} + {infer_key} {infer} = {train + infer} GPUs, more than the {PRIME_NODE_GPUS} of a node that prime-rl expects; {fewer}set {key} if your nodes have more",
        )


def _prime_lone(own: Own, *, agents: Callable[[int], bool]) -> Iterator[Refusal]:
    """The advantage is the reward minus the mean of the prompt's rollouts, which is 0 for a single one.

    A rollout of several agents that learn has several rewards. An environment may have agents that its table does not name.
    """
    for table, source in _sources(own):
        key = f"{table}.group_size" if "group_size" in source else "orchestrator.group_size"
        algorithm = _type(source.get("algo")) or _type(own("orchestrator.algo")) or "grpo"
        if own(key) == 1 and algorithm in LONE_IS_ZERO and agents(_agents(source.get("env"))):
            size = _group_size(own("orchestrator.batch_size"))
            yield Refusal(
                key=key,
                message=f"{key} = 1, and {algorithm} subtracts the mean reward of a prompt's rollouts: with one rollout every advantage is 0, so nothing is learned; use 2 or more, such as {size}",
                settings={key: str(size)},
            )
            return


def _type(table: object) -> object:
    return table.get("type") if isinstance(table, dict) else None


def _agents(environment: object) -> int:
    """The agents that the table of an environment names: tables with a harness or a runtime."""
    tables = environment.values() if isinstance(environment, dict) else ()
    return sum(isinstance(table, dict) and bool({"harness", "runtime"} & set(table)) for table in tables)


def _group_size(batch: object) -> int:
    """The usual number of rollouts of a prompt, or a smaller one that divides the batch of rollouts."""
    divides = [size for size in (8, 4, 2) if (whole(batch) or 0) % size == 0]
    return divides[0] if divides else USUAL_ROLLOUTS


def _prime_nodes(own: Own) -> Iterator[Refusal]:
    key = "deployment.type"
    if own(key) == "multi_node" and own("slurm") is None:
        yield Refusal(
            key=key,
            message=f"{key} is multi_node, but there is no [slurm]; prime-rl starts several nodes through Slurm only",
            remedy=f"add a [slurm] table, or set {key} = single_node",
        )


def _prime_resume(own: Own) -> Iterator[Refusal]:
    if own("resume.step") is not None and own("resume.dir") is not None:
        yield Refusal(
            key="resume.step",
            message="resume.step and resume.dir are both set; expected one of them",
            removes=("resume.step",),
        )


def _prime_cache(own: Own) -> Iterator[Refusal]:
    key = "inference.vllm.enable_prefix_caching"
    if own(key) is False and own("inference.kv_cache_offload") is not None:
        yield Refusal(
            key=key, message=f"{key} is false, but inference.kv_cache_offload needs it", settings={key: "true"}
        )


def _prime_offline(own: Own) -> Iterator[Refusal]:
    """The trainer and the orchestrator write one W&B run, which only the server can join. The key is as old as the rule."""
    key = "monitors.wandb.offline"
    if own(key) is True:
        yield Refusal(
            key=key,
            message=f"{key} is true, but the trainer and the orchestrator share one W&B run, which needs the server; remove it, and export WANDB_MODE=offline to log offline",
            removes=(key,),
        )


def _prime_old_offline(own: Own) -> Iterator[Refusal]:
    """The same setting under the name that it had until August 2026. Before 0.5 the two programs wrote two runs."""
    key = "wandb.offline"
    if own(key) is True and own("wandb.shared") is not False:
        yield Refusal(
            key=key,
            message=f"{key} is true; since prime-rl 0.5 the trainer and the orchestrator share one W&B run, which needs the server; remove it, and export WANDB_MODE=offline to log offline",
            removes=(key,),
        )


def _prime_no_inference(own: Own) -> Iterator[Refusal]:
    key = "deployment.num_infer_nodes"
    if own("deployment.type") == "multi_node" and whole(own(key)) == 0 and own("inference") is not None:
        yield Refusal(
            key=key,
            message=f"{key} is 0, but there is an [inference] table, for which prime-rl expects at least 1 node",
            settings={key: "1"},
        )


def _prime_runtime(own: Own, *, misspelt: bool) -> Iterator[Refusal]:
    """The classes of an environment are in another package, which may have more runtimes, but none with a name so similar."""
    for table, source in _sources(own):
        environment = source.get("env")
        for name, agent in environment.items() if isinstance(environment, dict) else ():
            runtime = agent.get("runtime") if isinstance(agent, dict) else None
            word = _type(runtime)
            if isinstance(word, str) and word not in RUNTIMES and _is_misspelt(word) is misspelt:
                key = f"{table}.env.{name}.runtime.type"
                yield Refusal(
                    key=key,
                    message=f"{key} = {word!r}: verifiers 0.4 has no such runtime; expected {', '.join(RUNTIMES)}",
                    words=RUNTIMES,
                )


def _is_misspelt(word: str) -> bool:
    import difflib  # imported late: only an unknown word needs it

    return bool(difflib.get_close_matches(word, RUNTIMES, n=1, cutoff=0.85))


def _sources(own: Own) -> Iterator[tuple[str, dict[str, object]]]:
    """The place and the table of each source of tasks."""
    found = own("orchestrator.train.source")
    for number, source in enumerate(found if isinstance(found, list | tuple) else ()):
        if isinstance(source, dict):
            yield f"orchestrator.train.source[{number}]", source


_LONE_READS = ("orchestrator.train.source", "orchestrator.group_size", "orchestrator.algo")
PRIME_RULES = (
    Rule(("deployment.type",), _prime_tensor),
    Rule(
        (
            "deployment.type",
            "deployment.gpus_per_node",
            "deployment.num_train_gpus",
            "deployment.num_infer_gpus",
        ),
        _prime_gpus,
    ),
    Rule(_LONE_READS, partial(_prime_lone, agents=lambda named: named == 1)),
    Rule(_LONE_READS, partial(_prime_lone, agents=lambda named: named == 0), is_certain=False),
    Rule(("deployment.type", "slurm"), _prime_nodes, is_certain=False),
    Rule((), _prime_resume),
    Rule((), _prime_cache),
    Rule((), _prime_offline),
    Rule(("wandb.shared",), _prime_old_offline, is_certain=False),
    Rule(("deployment.type",), _prime_no_inference),
    Rule((), partial(_prime_runtime, misspelt=True)),
    Rule((), partial(_prime_runtime, misspelt=False), is_certain=False),
)
