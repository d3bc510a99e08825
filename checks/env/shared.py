"""What several checks of the environment share: the names of compiled modules."""

COMPILED = (
    r"(?:[\w.]{0,80}(?:\b_\w{0,30}C(?:_\w{1,40})?|\w_(?:cuda|C|cpp|ext|cuda_lib))|transformer_engine_(?:torch|jax)|grouped_gemm_backend"
    r"|sgl_kernel\.\w{0,40}ops|tensorrt_llm\.bindings|(?:[\w.]{1,40}\.)?_turbomind|megatron\.core\.datasets\.helpers|vllm\.cumem_allocator|flashinfer\._\w{1,30})'"
)
"""A module that a build makes, up to the quote behind its name: where it is missing, its package was not built for this Python."""
