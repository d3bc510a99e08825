"""vLLM's parsers of tool calls (versions 0.24 to 0.33; CFG006)."""

KNOWN = frozenset(
    {
        "auto",
        "deepseek_v3",
        "deepseek_v31",
        "ernie45",
        "gigachat3",
        "glm45",
        "glm47",
        "granite",
        "granite-20b-fc",
        "hermes",
        "hunyuan_a13b",
        "internlm",
        "jamba",
        "kimi_k2",
        "llama3_json",
        "llama4_json",
        "llama4_pythonic",
        "longcat",
        "minimax",
        "minimax_m2",
        "mistral",
        "olmo3",
        "openai",
        "phi4_mini_json",
        "pythonic",
        "qwen3_coder",
        "qwen3_xml",
        "seed_oss",
        "step3",
        "xlam",
    }
)
"""`auto` exists only in prime-rl, which chooses by the model."""


def nearest(name: str) -> str:  # FIX(CFG006)
    """The parser with the most similar name; hermes if none is similar."""
    import difflib  # only a wrong name needs it

    return next(iter(difflib.get_close_matches(name, sorted(KNOWN), n=1, cutoff=0.6)), "hermes")
