"""Settings that the memory model does not describe: each refusal ends with what to do."""

import pytest

from skyrl_train.memory import UnsupportedJobError, job_from_verl

R, A, M = (f"actor_rollout_ref.{part}" for part in ("rollout", "actor", "model"))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {f"{M}.use_liger": True},
            f"{M}.use_liger is set, which the memory model does not support; set it to false for a rough figure",
        ),
        (
            {f"{R}.engine_kwargs.vllm.speculative_config": "x"},
            f"{R}.engine_kwargs.vllm.speculative_config is 'x', which the memory model does not support; leave it out for a rough figure",
        ),
        (
            {f"{A}.optim.optimizer": "Adam8bit"},
            f"{A}.optim.optimizer is 'Adam8bit'; only AdamW is supported: set it to AdamW for a rough figure",
        ),
        (
            {f"{M}.lora_adapter_path": "/a"},
            f"{M}.lora_adapter_path is '/a'; set {M}.lora_rank to the rank of that adapter",
        ),
        (
            {f"{M}.lora_rank": 8, f"{M}.exclude_modules": "lm_head"},
            f"{M}.exclude_modules is 'lm_head'; only modules of a vision tower can be left out; use target_modules",
        ),
        (
            {"reward.reward_model.enable": True},
            (
                "reward.reward_model.enable is set; a reward model on the same GPUs is not supported; set it to false to leave "
                "out its memory"
            ),
        ),
        (
            {"distillation.enabled": True, "distillation.distillation_loss.loss_mode": "topk"},
            (
                "distillation.distillation_loss.loss_mode is 'topk', which holds the logits a second time; set it to k1 for a "
                "rough figure"
            ),
        ),
        (
            {"algorithm.adv_estimator": "gae", f"{M}.path": "me/one", "critic.model.path": "me/other"},
            (
                "critic.model.path is 'me/other'; only a critic with the actor's shape is supported: set it to the actor's "
                "model for a rough figure"
            ),
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_refusal_names_the_key_and_the_way_out(values: dict[str, object], text: str) -> None:
    with pytest.raises(UnsupportedJobError) as caught:
        job_from_verl({"algorithm.adv_estimator": "grpo", **values})
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "values",
    [
        {f"{M}.lora_adapter_path": "/a", f"{M}.lora_rank": 8},
        {f"{M}.lora_rank": 8, f"{M}.exclude_modules": ".*visual.*"},
        {"reward.reward_model.enable": True, "reward.reward_model.enable_resource_pool": True},
        {"distillation.enabled": True, "distillation.distillation_loss.loss_mode": "k3"},
        {"algorithm.adv_estimator": "gae", f"{M}.path": "/a/Qwen3-8B", "critic.model.path": "Qwen/Qwen3-8B"},
    ],
    ids=lambda value: next(iter(value)),
)
def test_what_has_another_place_or_no_memory_is_not_refused(values: dict[str, object]) -> None:
    assert job_from_verl({"algorithm.adv_estimator": "grpo", **values}).longest == 1024
