"""Rules of Megatron's TransformerConfig on the keys that verl hands to it (CFG012).

megatron/core/transformer/transformer_config.py __post_init__ raises for layers that are computed again without a method or
without a number of layers, and verl's tree sets neither (trainer/config/engine/megatron.yaml).
"""

from collections.abc import Callable, Iterator

from skyrl_train.config.refusals import Own, Refusal, Rule
from skyrl_train.config.verl_choices import A, has_critic
from skyrl_train.contracts.megatron_recompute import FULL_RECOMPUTE, GRANULARITY, LAYERS, METHOD, transformer_table

_CRITIC = "critic"


def _judge_recompute(section: str) -> Callable[[Own], Iterator[Refusal]]:
    table = transformer_table(section)
    granularity, layers = f"{table}.{GRANULARITY}", f"{table}.{LAYERS}"

    def judge(own: Own) -> Iterator[Refusal]:
        if own(f"{section}.strategy") != "megatron" or (section == _CRITIC and not has_critic(own)):
            return
        word = own(granularity)
        if word == "full":
            missing = {f"{table}.{name}": FULL_RECOMPUTE[name] for name in (METHOD, LAYERS)}
            missing = {key: value for key, value in missing.items() if own(key) is None}
            if missing:
                names = " and ".join(key.rpartition(".")[2] for key in missing)
                verb = "is" if len(missing) == 1 else "are"
                uses = " and ".join(f"{key.rpartition('.')[2]} = {value}" for key, value in missing.items())
                yield Refusal(
                    key=granularity,
                    message=f"{granularity} = full, but {names} {verb} not set, and Megatron stops without; use {uses}",
                    settings=missing,
                )
        elif word == "selective" and own(layers) is not None:
            yield Refusal(
                key=layers,
                message=f"{layers} = {own(layers)}, but {GRANULARITY} is selective; expected null",
                settings={layers: "null"},
            )

    return judge


def _reads(section: str) -> tuple[str, ...]:
    table = transformer_table(section)
    return (f"{section}.strategy", *(f"{table}.{name}" for name in FULL_RECOMPUTE))


MEGATRON_RULES = (  # FIX(CFG012)
    Rule(_reads(A), _judge_recompute(A)),
    Rule(("critic.enable", "algorithm.adv_estimator", *_reads(_CRITIC)), _judge_recompute(_CRITIC)),
)
