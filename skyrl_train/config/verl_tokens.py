"""The token limits of verl's dynamic batches against one sequence, by release (CFG012).

verl/utils/seqlen_balancing.py rearrange_micro_batches refuses a limit below the longest sequence of a batch. Before 0.8 the
batch is padded, so that every sequence has the length of prompt and response; since 0.8 each has its own.
"""

from collections.abc import Callable, Iterator

from skyrl_train.config.refusals import Own, Refusal, Rule
from skyrl_train.config.releases import Span
from skyrl_train.config.verl_choices import ALGORITHM, A, R, has_critic, is_fsdp

REF, C = "actor_rollout_ref.ref", "critic"
LENGTHS = ("data.max_prompt_length", "data.max_response_length")
LEGACY = ".".join(("trainer", "use_legacy_worker_impl"))  # of verl 0.5 to 0.7
PADDED, PACKED, V1 = Span("", "0.8.0"), Span("0.8.0", "0.9.0"), Span("0.9.0")


def _uses_actor(own: Own) -> bool:
    return own(f"{A}.use_dynamic_bsz") is True


def _uses_rollout(own: Own) -> bool:
    is_skipped = own(f"{ALGORITHM}.rollout_correction.bypass_mode") is True
    return own(f"{R}.log_prob_use_dynamic_bsz") is True and not is_skipped


def _uses_reference(own: Own) -> bool:
    has_reference = own(f"{A}.use_kl_loss") is True or own(f"{ALGORITHM}.use_kl_in_reward") is True
    return has_reference and own(f"{REF}.log_prob_use_dynamic_bsz") is True


def _uses_critic(own: Own) -> bool:
    return has_critic(own) and own(f"{C}.use_dynamic_bsz") is True


def _uses_critic_of_v1(own: Own) -> bool:
    """Since 0.9 the trainer is V1 unless `trainer.use_v1` is off; its critic is trained with the limit of inference."""
    return _uses_critic(own) and own("trainer.use_v1") is not False


def _uses_critic_of_v0(own: Own) -> bool:
    return _uses_critic(own) and own("trainer.use_v1") is False


_Limit = tuple[str, str, Callable[[Own], bool]]
_LIMITS: tuple[_Limit, ...] = (
    (f"{A}.ppo_max_token_len_per_gpu", A, _uses_actor),
    (f"{R}.log_prob_max_token_len_per_gpu", A, _uses_rollout),
    (f"{REF}.log_prob_max_token_len_per_gpu", REF, _uses_reference),
    (f"{C}.ppo_max_token_len_per_gpu", C, _uses_critic),
)
"""Each limit, the table of the model that it is for, and whether the run uses it."""
_ACTOR = _LIMITS[0][0]
_TAKEN_OVER = frozenset(key for key, _, _ in _LIMITS[1:3])
"""The limits whose default is the actor's."""
_SINCE_V1: tuple[_Limit, ...] = (
    *_LIMITS[:-1],
    (f"{C}.ppo_infer_max_token_len_per_gpu", C, _uses_critic_of_v1),
    (f"{C}.ppo_max_token_len_per_gpu", C, _uses_critic_of_v0),
)


def _parallel(own: Own, model: str) -> int | None:
    """The GPUs that share a sequence, and multiply the limit; None if that is not known."""
    if is_fsdp(own):
        names = [f"{model}.ulysses_sequence_parallel_size", f"{model}.fsdp_config.ulysses_sequence_parallel_size"]
        names += [f"{model}.model.fsdp_config.ulysses_sequence_parallel_size", f"{A}.ulysses_sequence_parallel_size"]
    elif own(f"{A}.strategy") == "megatron":
        names = [f"{model}.megatron.context_parallel_size", f"{A}.megatron.context_parallel_size"]
    else:
        return None
    sizes: list[int] = [size for name in names if _is_count(size := own(name))]
    return max(1, *sizes) if sizes else 1


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_too_small(own: Own, key: str, model: str) -> bool:
    """Whether a limit is known to be below the longest sequence."""
    limit, prompt, response, parallel = own(key), *(own(name) for name in LENGTHS), _parallel(own, model)
    if not (_is_count(limit) and _is_count(prompt) and _is_count(response)) or parallel is None:
        return False
    return bool(limit >= 1 and limit * parallel < prompt + response)


def _judge(
    key: str, model: str, is_used: Callable[[Own], bool], *, is_padded: bool
) -> Callable[[Own], Iterator[Refusal]]:
    def judge(own: Own) -> Iterator[Refusal]:
        if not _is_too_small(own, key, model) or not is_used(own) or own(LEGACY) == "disable":
            return
        limit, prompt, response, parallel = own(key), *(own(name) for name in LENGTHS), _parallel(own, model) or 1
        if key in _TAKEN_OVER and limit == own(_ACTOR) and _uses_actor(own) and _is_too_small(own, _ACTOR, A):
            return  # the actor's limit is the one to change
        least = -(-(prompt + response) // parallel)
        room = f"{limit} tokens" if parallel == 1 else f"{limit} tokens x {parallel} GPUs of a sequence"
        when = "every step" if is_padded else f"the first sequence of more than {limit * parallel} tokens"
        yield Refusal(
            key=key,
            message=f"{key} has room for {room}, but prompt {prompt} + response {response} = {prompt + response} tokens; "
            f"{when} stops the run; use at least {least}",
            settings={key: str(least)},
        )

    return judge


def _rules() -> Iterator[Rule]:  # FIX(CFG012)
    for span, limits in ((PADDED, _LIMITS), (PACKED, _LIMITS), (V1, _SINCE_V1)):
        padded = span is PADDED
        for key, model, is_used in limits:
            yield Rule((key, *LENGTHS), _judge(key, model, is_used, is_padded=padded), span, is_certain=padded)


TOKEN_RULES = tuple(_rules())
