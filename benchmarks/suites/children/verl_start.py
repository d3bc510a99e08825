"""What verl itself says of a command's words when it starts. Reads one JSON list of words a line, writes a message a line.

The message is empty if verl takes the words. torch, ray and the others are not installed: modules that do nothing
stand for them, since verl's rules compare numbers and words.
"""

import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.metadata
import io
import json
import pathlib
import pickle
import sys
import types

OWN = ("verl", "hydra", "omegaconf", "yaml", "antlr4")


class Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing

    def __or__(cls, other):
        return cls

    def __neg__(cls):
        return cls

    __ror__ = __or__


class Nothing(metaclass=Anything):
    """A base class, a decorator and a value that does nothing."""

    def __new__(cls, *words, **named):
        return words[0] if len(words) == 1 and not named and callable(words[0]) else super().__new__(cls)

    def __init__(self, *words, **named):
        pass

    def __call__(self, *words, **named):
        return words[0] if len(words) == 1 and callable(words[0]) else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing


class Absent(types.ModuleType):
    __path__ = ()
    __version__ = "0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return None if name.partition(".")[0] in OWN else importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


def main():
    sys.meta_path.append(Finder())
    sys.modules["vllm.config.lora"] = None  # verl's own list of ranks, as without vLLM
    installed = importlib.metadata.version
    importlib.metadata.version = lambda name: "0.12.0" if name == "vllm" else installed(name)
    import verl
    import yaml
    from hydra import compose, initialize_config_dir
    from omegaconf import base, grammar_parser
    from verl.workers.config import HFModelConfig

    yaml.SafeLoader = yaml.CSafeLoader  # as benchmarks.suites.configurations
    base.parse = functools.cache(grammar_parser.parse)  # nothing writes into a parsed interpolation

    HFModelConfig.__post_init__ = lambda self: None  # reads the model's files, which no rule here needs
    tree = pathlib.Path(verl.__file__).parent / "trainer/config"
    whole = functools.cache(lambda words: pickle.dumps(compose("ppo_trainer", overrides=[*words])))
    with initialize_config_dir(config_dir=str(tree), version_base=None):
        for line in sys.stdin:
            with contextlib.redirect_stdout(io.StringIO()):
                refused = refusal(whole, json.loads(line))
            print(json.dumps(refused), flush=True)


def refusal(whole, words):
    """The message of Hydra, of validate_config, or of a dataclass of verl's.

    Words for a group compose a tree, which takes a second; the others are written into a copy of it.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import omega_conf_to_dataclass, validate_config

    try:
        config = pickle.loads(whole(tuple(word for word in words if "." not in word.partition("=")[0])))
        values = [word for word in words if "." in word.partition("=")[0]]
        for word in OverridesParser.create().parse_overrides(values):
            OmegaConf.update(config, word.key_or_group, word.value(), merge=True)
        critic = need_critic(config)
        validate_config(config, use_reference_policy=need_reference_policy(config), use_critic=critic)
        omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
        look_up(config)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def look_up(config):
    """Asks verl's own registries for the words of the configuration, as its workers and its first step do."""
    from verl.trainer.ppo.core_algos import (
        get_adv_estimator_fn,
        get_kl_controller,
        get_policy_loss_fn,
        kl_penalty_forward,
    )
    from verl.workers.rollout.base import get_rollout_class

    actor, rollout = config.actor_rollout_ref.actor, config.actor_rollout_ref.rollout
    get_adv_estimator_fn(config.algorithm.adv_estimator)
    get_policy_loss_fn(actor.policy_loss.loss_mode)
    words = []
    if config.algorithm.use_kl_in_reward:
        get_kl_controller(config.algorithm.kl_ctrl)
        words.append(config.algorithm.kl_penalty)
    if actor.use_kl_loss:
        words.append(actor.kl_loss_type)
    for word in words:
        with contextlib.suppress(TypeError, AttributeError):  # the word is known; the stand-ins are no tensors
            kl_penalty_forward(0.0, 0.0, word.removesuffix("+"))
    with contextlib.suppress(ImportError, AttributeError, KeyError):  # the word is known; its module is not here
        get_rollout_class(rollout.name, rollout.mode)


if __name__ == "__main__":
    main()
