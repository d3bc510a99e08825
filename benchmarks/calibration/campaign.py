"""The runs of the calibration: each varies what one component of the model depends on."""

from benchmarks.calibration.cases import A, Case, Knobs, Value, case

OFFLOAD: dict[str, Value] = {
    f"{A}.actor.fsdp_config.param_offload": True,
    f"{A}.actor.fsdp_config.optimizer_offload": True,
}
KL: dict[str, Value] = {f"{A}.actor.use_kl_loss": True}
ENTROPY: dict[str, Value] = {f"{A}.actor.entropy_coeff": 0.01}
GAE: dict[str, Value] = {"algorithm.adv_estimator": "gae"}
PACKED: dict[str, Value] = {f"{A}.model.use_remove_padding": True}
FUSED: dict[str, Value] = {
    f"{A}.model.use_fused_kernels": True,
    f"{A}.model.fused_kernel_options.impl_backend": "torch",
}
CHUNKED: dict[str, Value] = {
    f"{A}.actor.fsdp_config.entropy_from_logits_with_chunking": True,
    f"{A}.ref.fsdp_config.entropy_from_logits_with_chunking": True,
}
BF16: dict[str, Value] = {f"{A}.actor.fsdp_config.model_dtype": "bfloat16"}
FSDP2: dict[str, Value] = {f"{A}.actor.strategy": "fsdp2", f"{A}.ref.strategy": "fsdp2", "critic.strategy": "fsdp2"}
CRITIC_OFFLOAD: dict[str, Value] = {"critic.fsdp.param_offload": True, "critic.fsdp.optimizer_offload": True}


WARM: dict[str, Value] = {f"{A}.rollout.temperature": 0.8}
ENTROPY_AGAIN: dict[str, Value] = {
    f"{A}.actor.fsdp_config.entropy_checkpointing": True,
    f"{A}.ref.fsdp_config.entropy_checkpointing": True,
}


def lora(rank: int) -> dict[str, Value]:
    """Adapters on every linear layer."""
    return {f"{A}.model.lora_rank": rank, f"{A}.model.lora_alpha": 2 * rank, f"{A}.model.target_modules": "all-linear"}


def dynamic(tokens: int) -> dict[str, Value]:
    """Micro-batches cut by tokens and not by samples."""
    return {
        f"{A}.actor.use_dynamic_bsz": True,
        f"{A}.actor.ppo_max_token_len_per_gpu": tokens,
        f"{A}.rollout.log_prob_use_dynamic_bsz": True,
        f"{A}.rollout.log_prob_max_token_len_per_gpu": tokens,
    }


def minibatches(train: int, mini: int, n: int) -> dict[str, Value]:
    """Several updates in a step."""
    return {"data.train_batch_size": train, f"{A}.actor.ppo_mini_batch_size": mini, f"{A}.rollout.n": n}


RAGGED = (1.0, 0.5, 0.25, 0.75)

SHORT = (
    case("short", "tiny", Knobs(prompt=32, response=16, micro=2), checkpoint=True),
    case("short-lora", "tiny", Knobs(prompt=32, response=16, micro=2, checkpointing=False, extra=lora(8))),
)
"""Two tiny runs that show that the program works on your machine; also without a GPU."""

SMALL = (
    case("0.5b", "qwen2.5-0.5b", Knobs()),
    case("0.5b-mb2", "qwen2.5-0.5b", Knobs(micro=2)),
    case("0.5b-mb4", "qwen2.5-0.5b", Knobs(micro=4)),
    case("0.5b-nockpt", "qwen2.5-0.5b", Knobs(checkpointing=False)),
    case("0.5b-p512-r512-mb4-nockpt", "qwen2.5-0.5b", Knobs(512, 512, 4, checkpointing=False)),
    case("0.5b-p4096-r4096", "qwen2.5-0.5b", Knobs(4096, 4096)),
    case("0.5b-entropy", "qwen2.5-0.5b", Knobs(extra=ENTROPY)),
    case("0.5b-kl", "qwen2.5-0.5b", Knobs(extra=KL)),
    case("0.5b-offload", "qwen2.5-0.5b", Knobs(extra=OFFLOAD)),
    case("0.5b-gae", "qwen2.5-0.5b", Knobs(extra=GAE)),
    case("0.5b-lora16-kl", "qwen2.5-0.5b", Knobs(extra=lora(16) | KL)),
    case("0.5b-ragged-mb2", "qwen2.5-0.5b", Knobs(micro=2), fill=RAGGED),
    case("0.5b-fsdp2", "qwen2.5-0.5b", Knobs(extra=FSDP2)),
    case("0.5b-minibatches", "qwen2.5-0.5b", Knobs(1024, 1024, extra=minibatches(4, 2, 2))),
    case("0.5b-packed-mb2", "qwen2.5-0.5b", Knobs(micro=2, extra=PACKED), fill=RAGGED, flash_attn=True),
    case("0.5b-packed-mb4-nockpt", "qwen2.5-0.5b", Knobs(micro=4, checkpointing=False, extra=PACKED), flash_attn=True),
    case("0.5b-packed-entropy", "qwen2.5-0.5b", Knobs(extra=PACKED | ENTROPY), flash_attn=True),
    case("0.5b-packed-entropy-chunked", "qwen2.5-0.5b", Knobs(extra=PACKED | ENTROPY | CHUNKED), flash_attn=True),
    case("0.5b-packed-fused", "qwen2.5-0.5b", Knobs(micro=2, extra=PACKED | FUSED), flash_attn=True),
    case("0.5b-temperature", "qwen2.5-0.5b", Knobs(extra=WARM)),
    case("0.5b-packed-temperature", "qwen2.5-0.5b", Knobs(extra=PACKED | WARM), flash_attn=True),
    case("0.5b-packed-entropy-again", "qwen2.5-0.5b", Knobs(extra=PACKED | ENTROPY | ENTROPY_AGAIN), flash_attn=True),
    case("0.5b-fused", "qwen2.5-0.5b", Knobs(micro=2, extra=FUSED)),
)
OTHER = (
    case("qwen3-0.6b", "qwen3-0.6b", Knobs()),
    case("qwen3-0.6b-mb2-nockpt", "qwen3-0.6b", Knobs(micro=2, checkpointing=False)),
    case("llama-1b", "llama3.2-1b", Knobs()),
    case("llama-1b-p3072-nockpt-kl", "llama3.2-1b", Knobs(3072, 1024, checkpointing=False, extra=KL)),
)
MIDDLE = (
    case("1.5b", "qwen2.5-1.5b", Knobs()),
    case("1.5b-mb2-nockpt", "qwen2.5-1.5b", Knobs(micro=2, checkpointing=False)),
    case("1.5b-offload-kl", "qwen2.5-1.5b", Knobs(extra=OFFLOAD | KL)),
    case("1.5b-packed-p4096-r4096", "qwen2.5-1.5b", Knobs(4096, 4096, extra=PACKED), flash_attn=True),
    case(
        "1.5b-packed-dynamic8192",
        "qwen2.5-1.5b",
        Knobs(extra=PACKED | dynamic(8192) | minibatches(8, 8, 1)),
        fill=RAGGED,
        flash_attn=True,
    ),
    case("1.5b-packed-nockpt", "qwen2.5-1.5b", Knobs(checkpointing=False, extra=PACKED), flash_attn=True),
    case("1.5b-lora32", "qwen2.5-1.5b", Knobs(micro=2, extra=lora(32))),
    case("1.5b-gae-offload", "qwen2.5-1.5b", Knobs(extra=GAE | OFFLOAD | CRITIC_OFFLOAD)),
    case("1.5b-bf16", "qwen2.5-1.5b", Knobs(extra=BF16)),
)
LARGE = (
    case("3b", "qwen2.5-3b", Knobs()),
    case("3b-offload-nockpt", "qwen2.5-3b", Knobs(1024, 1024, 2, checkpointing=False, extra=OFFLOAD)),
    case("3b-lora32-nockpt", "qwen2.5-3b", Knobs(checkpointing=False, extra=lora(32))),
    case("7b-lora16", "qwen2.5-7b", Knobs(extra=lora(16))),
    case("7b-bf16", "qwen2.5-7b", Knobs(extra=BF16)),
    case("7b-p512-r512", "qwen2.5-7b", Knobs(512, 512)),
)

SAVED = (
    case("0.5b-saved", "qwen2.5-0.5b", Knobs(512, 512), checkpoint=True),
    case("0.5b-offload-saved", "qwen2.5-0.5b", Knobs(512, 512, extra=OFFLOAD), checkpoint=True),
    case("0.5b-fsdp2-saved", "qwen2.5-0.5b", Knobs(512, 512, extra=FSDP2), checkpoint=True),
    case("0.5b-lora16-saved", "qwen2.5-0.5b", Knobs(512, 512, extra=lora(16)), checkpoint=True),
    case("llama-1b-saved", "llama3.2-1b", Knobs(512, 512), checkpoint=True),
)

TRITON = FUSED | {f"{A}.model.fused_kernel_options.impl_backend": "triton"}
MIXED = (
    case("llama-1b-packed-mb2-entropy", "llama3.2-1b", Knobs(micro=2, extra=PACKED | ENTROPY), flash_attn=True),
    case("qwen3-0.6b-packed-mb4-kl", "qwen3-0.6b", Knobs(1024, 1024, 4, extra=PACKED | KL), flash_attn=True),
    case("0.5b-packed-fused-triton", "qwen2.5-0.5b", Knobs(micro=2, extra=PACKED | TRITON), flash_attn=True),
    case("0.5b-gae-mb2-nockpt", "qwen2.5-0.5b", Knobs(1024, 1024, 2, checkpointing=False, extra=GAE)),
    case("0.5b-n4-minibatches", "qwen2.5-0.5b", Knobs(1024, 3072, extra=minibatches(2, 1, 4))),
    case("1.5b-entropy-nockpt", "qwen2.5-1.5b", Knobs(1024, 1024, checkpointing=False, extra=ENTROPY)),
    case("1.5b-fsdp2-offload", "qwen2.5-1.5b", Knobs(extra=FSDP2 | OFFLOAD)),
    case(
        "1.5b-packed-dynamic16384-entropy-nockpt",
        "qwen2.5-1.5b",
        Knobs(checkpointing=False, extra=PACKED | ENTROPY | dynamic(16384) | minibatches(8, 8, 1)),
        fill=RAGGED,
        flash_attn=True,
    ),
    case("3b-packed-lora16-p6144", "qwen2.5-3b", Knobs(6144, 2048, extra=PACKED | lora(16)), flash_attn=True),
    case("7b-lora64-kl-offload", "qwen2.5-7b", Knobs(1024, 1024, extra=lora(64) | KL | OFFLOAD)),
)
"""Several things at once: held against a model that was made from the runs above."""

ENGINE: tuple[Case, ...] = SMALL + OTHER + MIDDLE + LARGE + SAVED + MIXED
