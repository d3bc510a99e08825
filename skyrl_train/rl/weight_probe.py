"""Asks the trainer and each model server for the log-probabilities of the same text, around each sync of weights."""

import time
import uuid
from collections.abc import Sequence
from typing import Any

import ray
import torch
from verl.utils import tensordict_utils

from skyrl_train.contracts.run_log import say
from skyrl_train.contracts.weight_limits import DIFFERENCE
from skyrl_train.rl.weight_proof import MOST_TOKENS, TEXT, Proof, WeightsError

LIMIT_S = 60.0
"""Of one server's answer; it takes well under a second."""


class WeightProbe:
    """`before` and `after` each sync."""

    def __init__(self, tokenizer: Any, *, most_tokens: int, workers: int) -> None:
        """`workers` is the number of trainer GPUs: verl gives each of them the same number of rows."""
        self._ids = list(tokenizer.encode(TEXT, add_special_tokens=False))[: min(MOST_TOKENS, most_tokens)]
        self._workers = workers
        self._trainer: list[float] = []
        self._proofs: list[Proof] = []
        self._before_s = 0.0

    def before(self, actor: Any) -> None:
        """The trainer's figures. Before the sync, since a server that is awake takes the memory that this needs."""
        began = time.monotonic()
        self._trainer = of_trainer(actor, self._ids, self._workers)
        self._before_s = time.monotonic() - began

    def after(self, step: int, servers: Sequence[Any]) -> dict[str, float]:
        """The servers' figures, judged: metrics for the log, or WeightsError."""
        began = time.monotonic()
        self._proofs = self._proofs or [Proof(number) for number in range(len(servers))]
        answers = of_servers(servers, self._ids)
        differences = [
            proof.judge(step, self._trainer, answer) for proof, answer in zip(self._proofs, answers, strict=True)
        ]
        seconds = self._before_s + time.monotonic() - began
        say(
            f"weights of step {step} proven on {len(servers)} model servers: difference {max(differences):.4f}, {seconds:.2f} s"
        )
        return {DIFFERENCE: max(differences), "weights/probe_s": seconds}


def of_trainer(actor: Any, ids: Sequence[int], workers: int) -> list[float]:
    """The log-probabilities of each token but the first, with the weights that the trainer has now."""
    row = torch.tensor(ids, dtype=torch.int64)
    columns = {"input_ids": row, "position_ids": torch.arange(len(ids)), "loss_mask": torch.ones_like(row)}
    data = tensordict_utils.get_tensordict(
        {name: torch.nested.as_nested_tensor([each] * workers, layout=torch.jagged) for name, each in columns.items()},
        {
            "calculate_entropy": False,
            "compute_loss": False,
            "temperature": 1.0,
            "use_dynamic_bsz": False,
            "micro_batch_size_per_gpu": 1,
        },
    )
    output = actor.compute_log_prob(data)
    return [float(value) for value in output["log_probs"].unbind()[0][: len(ids) - 1]]


def of_servers(servers: Sequence[Any], ids: Sequence[int]) -> list[list[float]]:
    """The same of each server: it scores the prompt, and the token that it must generate is dropped."""
    sampling = {"max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 0}
    asked = [
        server.generate.remote(prompt_ids=list(ids), sampling_params=dict(sampling), request_id=uuid.uuid4().hex)
        for server in servers
    ]
    try:
        answers = ray.get(asked, timeout=LIMIT_S)
    except ray.exceptions.GetTimeoutError as error:
        raise WeightsError(
            f"TRN021: a model server did not score a text of {len(ids)} tokens in {LIMIT_S:g} s"
        ) from error
    return [scored(number, answer, len(ids)) for number, answer in enumerate(answers)]


def scored(number: int, answer: Any, tokens: int) -> list[float]:
    found = answer.extra_fields.get("prompt_logprobs")
    if not found:
        raise WeightsError(
            f"TRN021: model server {number} gave no log-probabilities for the probe ({answer.stop_reason})"
        )
    return [float(one[0]) for one in found[: tokens - 1]]
