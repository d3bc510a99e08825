# ruff: noqa: TID253, T201 -- a program of its own: the environment comes before the imports, the answer is printed
"""vllm_adapter.py ADAPTER: gives vLLM (CPU) an adapter's tensors the way verl's worker extension does, and samples.

Prints {"added": …, "changed": …}, or {"died": the function that raised} where vLLM's worker dies of a bare StopIteration.
"""

import json
import os
import sys
import traceback

os.environ.update(
    VLLM_ENABLE_V1_MULTIPROCESSING="0",
    VLLM_CPU_KVCACHE_SPACE="1",
    TORCHDYNAMO_DISABLE="1",
    HF_HUB_OFFLINE="1",
    VLLM_NO_USAGE_STATS="1",
    DO_NOT_TRACK="1",
)

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM
from verl.utils.vllm.utils import TensorLoRARequest, VLLMHijack
from vllm import LLM, SamplingParams

SAMPLING = SamplingParams(temperature=0, max_tokens=4, logprobs=1, detokenize=False)
PEFT = {"r": 8, "lora_alpha": 16, "bias": "none", "peft_type": "LORA"}
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def engine() -> LLM:
    """The shape of verl_actor.py's model."""
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
    Qwen2ForCausalLM(Qwen2Config(**shape, num_key_value_heads=1, vocab_size=512)).bfloat16().save_pretrained("model")
    return LLM(
        "model",
        enable_lora=True,
        max_lora_rank=8,
        enforce_eager=True,
        max_model_len=64,
        max_num_seqs=2,
        max_num_batched_tokens=128,
        skip_tokenizer_init=True,
        dtype="bfloat16",
    )


def logprobs(llm: LLM, adapter: TensorLoRARequest | None) -> list[float]:
    (out,) = llm.generate({"prompt_token_ids": [5, 6, 7]}, SAMPLING, lora_request=adapter)
    return [next(iter(one.values())).logprob for one in out.outputs[0].logprobs]


def main(path: str) -> dict[str, object]:
    VLLMHijack.hijack()
    llm = engine()
    tensors = torch.load(path, weights_only=True)
    request = TensorLoRARequest(
        lora_name="123",
        lora_int_id=123,
        lora_path="none",
        peft_config={**PEFT, "target_modules": TARGETS},
        lora_tensors=tensors,
    )
    plain = logprobs(llm, None)
    try:
        added = llm.llm_engine.model_executor.driver_worker.worker.add_lora(request)
    except StopIteration as error:
        return {"died": traceback.extract_tb(error.__traceback__)[-1].name}
    return {"added": bool(added), "changed": logprobs(llm, request) != plain}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
